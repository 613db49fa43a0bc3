// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What depends on the values of a singular value decomposition alone, not on which vectors it has: values, ranks,
// condition numbers, pseudoinverses; eigenvalues of symmetric matrices; and systems of tensors.

#include <limits>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;

const Index& shape_of(const Node* x) { return x->tensor().shape; }

/// Refuses matrices where rotations of each two lines take much longer than what PyTorch does.
void require_small(const Call& c, const Index& a) {
  constexpr int64_t kMost = 64;
  const SymInt least = min(a.back(), a[a.size() - 2]);
  if (!least.is_const() || least.value() > kMost)
    reject(c, "matrices of more than " + std::to_string(kMost) + " lines are left to PyTorch");
}

Node* thin_svd(Builder& b, const Call& c, Node* a) {
  if (shape_of(a).size() < 2)
    reject(c, "expected matrices, found " + std::to_string(shape_of(a).size()) + " dimensions");
  require_small(c, shape_of(a));
  return b.call("strata.thin_svd.default", {a});
}
Node* singular_values(Builder& b, const Call& c, Node* a) { return b.getitem(thin_svd(b, c, a), 1); }
Node* along(Builder& b, const char* op, Node* x) { return b.call(op, {x, int_list({-1})}); }

/// The symmetric matrices whose lower triangles are those of `a`.
Node* symmetric(Builder& b, Node* a) {
  Node* below = b.call("aten.tril.default", {a, -1});
  return b.add(b.call("aten.tril.default", {a}), b.transpose(below, -2, -1));
}

/// The matrices of the call, where `hermitian` says that only their lower triangles count.
Node* matrices_of(Builder& b, const Call& c) {
  require_rank(c, 0, 2, 64);
  const std::optional<size_t> hermitian = param(c, "hermitian");
  return hermitian && c.boolean(*hermitian) ? symmetric(b, c.tensor(0)) : c.tensor(0);
}

double epsilon(DType dtype) {
  return dtype == DType::F64 ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Singular values up to which they count as 0: an absolute bound, and a share of the largest value. The share is that
/// of rounding errors where neither is given; where the absolute one is given, none.
Node* bound(Builder& b, const Call& c, Node* values) {
  const Index& a = shape_of(c.tensor(0));
  const DType d = values->tensor().dtype;
  const SymInt& longer = max(a.back(), a[a.size() - 2]);
  const auto given = [&](const char* name) -> std::optional<size_t> {
    const std::optional<size_t> at = param(c, name);
    return at && !c.is_none(*at) ? at : std::nullopt;
  };
  const auto number = [&](size_t at) {
    Node* n = is_tensor(c, at) ? b.cast(c.tensor(at), d)
                               : b.call("aten.full.default", {sizes({}), c.number(at)}, {{"dtype", d}});
    return b.unsqueeze(n, -1);  // one per batch
  };
  const auto constant = [&](double value) {
    return b.call("aten.full.default", {Argument::list({1}), value}, {{"dtype", d}});
  };
  const auto rounding = [&] {
    return b.mul(b.call("aten.full.default", {Argument::list({1}), integer(longer)}, {{"dtype", d}}), epsilon(d));
  };
  std::optional<size_t> least = given("atol"), share = given("rtol");
  if (const auto tol = given("tol")) least = tol;
  if (const auto rcond = given("rcond")) share = rcond;
  Node* absolute = least ? number(*least) : constant(0);
  Node* relative = nullptr;
  if (share)
    relative = number(*share);
  else if (!least)
    relative = rounding();
  else if (given("tol"))
    relative = constant(0);
  else
    relative = b.call("aten.where.self", {b.call("aten.gt.Scalar", {absolute, 0}), constant(0), rounding()});
  Node* largest = b.call("aten.amax.default", {values, int_list({-1}), true});
  return b.call("aten.maximum.default", {absolute, b.mul(relative, largest)});
}

Nodes svdvals(Builder& b, const Call& c) { return {singular_values(b, c, c.tensor(0))}; }

Node* empty_of(Builder& b, const Call& c) {
  return b.call("aten.empty.memory_format", {Argument::list({0})}, {{"dtype", tensor_type(c, 0).dtype}});
}

void values_only(const Call& c, bool vectors) {
  if (vectors) reject(c, "which vectors are given is PyTorch's choice: only values are supported");
}

Nodes svd(Builder& b, const Call& c) {
  values_only(c, c.boolean(2));
  return {empty_of(b, c), singular_values(b, c, c.tensor(0)), empty_of(b, c)};
}

Node* eigenvalues(Builder& b, const Call& c) {
  const std::string triangle = c.string(1);
  if (triangle != "L" && triangle != "U" && triangle != "l" && triangle != "u")
    reject(c, "expected UPLO argument to be 'L' or 'U', but got " + triangle);
  require_rank(c, 0, 2, 64);
  require_small(c, tensor_type(c, 0).shape);
  return b.call("strata.symmetric_eigenvalues.default", {c.tensor(0), triangle == "U" || triangle == "u"});
}
Nodes eigvalsh(Builder& b, const Call& c) { return {eigenvalues(b, c)}; }
Nodes eigh(Builder& b, const Call& c) {
  values_only(c, c.boolean(2));
  return {eigenvalues(b, c), empty_of(b, c)};
}

Nodes matrix_rank(Builder& b, const Call& c) {
  Node* values = singular_values(b, c, matrices_of(b, c));
  if (known_eq(shape_of(values).back(), 0)) return {b.sum(b.cast(values, DType::I64), {-1}, false)};
  Node* counts = b.call("aten.gt.Tensor", {values, bound(b, c, values)});
  return {b.sum(b.cast(counts, DType::I64), {-1}, false)};
}

Nodes pinv(Builder& b, const Call& c) {
  Node* a = matrices_of(b, c);
  if (has_zero(shape_of(a))) {
    Index turned = shape_of(a);
    std::swap(turned.back(), turned[turned.size() - 2]);
    return {b.call("aten.full.default", {sizes(turned), 0.0}, {{"dtype", a->tensor().dtype}})};
  }
  Node* made = thin_svd(b, c, a);
  Node *u = b.getitem(made, 0), *values = b.getitem(made, 1), *v = b.getitem(made, 2);
  Node* inverse = where_else(b, b.call("aten.gt.Tensor", {values, bound(b, c, values)}),
                             b.call("aten.reciprocal.default", {values}), 0);
  Node* scaled = b.mul(b.transpose(v, -2, -1), b.unsqueeze(inverse, -2));
  return {b.call("aten.matmul.default", {scaled, b.transpose(u, -2, -1)})};
}

/// The norm of a matrix times that of its inverse; of order 2 the largest singular value by the least.
Nodes cond(Builder& b, const Call& c) {
  require_rank(c, 0, 2, 64);
  const bool by_name = c.op().schema.params[1].type == "str", none = !by_name && c.is_none(1);
  const double order = by_name ? 0 : none ? 2 : c.number(1);
  Node* x = c.tensor(0);
  if (std::fabs(order) == 2) {
    Node* values = singular_values(b, c, x);
    Node *most = along(b, "aten.amax.default", values), *least = along(b, "aten.amin.default", values);
    return {order > 0 ? b.div(most, least) : b.div(least, most)};
  }
  const char* norm = by_name ? "aten.linalg_matrix_norm.str_ord" : "aten.linalg_matrix_norm.default";
  Node* made = b.call("aten.linalg_inv_ex.default", {x});
  Node* exists = b.call("aten.eq.Scalar", {b.getitem(made, 1), 0});
  Node* product = b.mul(b.call(norm, {x, c.arg(1)}), b.call(norm, {b.getitem(made, 0), c.arg(1)}));
  return {where_else(b, exists, product, std::numeric_limits<double>::infinity())};
}

/// Dimensions of a tensor that is a square matrix of dimensions in front and behind.
Nodes tensorinv(Builder& b, const Call& c) {
  const Index& a = tensor_type(c, 0).shape;
  const int64_t count = c.constant(1);
  if (count <= 0 || count > static_cast<int64_t>(a.size())) reject(c, "Expected a strictly positive integer for 'ind'");
  const Index front(a.begin(), a.begin() + count), behind(a.begin() + count, a.end());
  const SymInt rows = product(front);
  require_equal(c, rows, product(behind), "products of the sizes in front and behind");
  Index turned = behind;
  turned.insert(turned.end(), front.begin(), front.end());
  Node* matrix = b.reshape(c.tensor(0), {rows, rows});
  return {b.reshape(b.call("aten.linalg_inv.default", {matrix}), turned)};
}

Nodes tensorsolve(Builder& b, const Call& c) {
  Node* a = c.tensor(0);
  const Index& right = tensor_type(c, 1).shape;
  if (!c.is_none(2)) {  // these dimensions come last
    std::vector<int64_t> order;
    const std::vector<size_t> moved = distinct_dims(c, 2, shape_of(a).size());
    for (size_t d = 0; d < shape_of(a).size(); ++d)
      if (std::find(moved.begin(), moved.end(), d) == moved.end()) order.push_back(static_cast<int64_t>(d));
    for (const size_t d : moved) order.push_back(static_cast<int64_t>(d));
    a = b.permute(a, order);
  }
  if (shape_of(a).size() < right.size()) reject(c, "expected at least as many dimensions as 'other' has");
  const Index unknown(shape_of(a).begin() + static_cast<ptrdiff_t>(right.size()), shape_of(a).end());
  const SymInt rows = product(right);
  require_equal(c, rows, product(unknown), "elements of 'other' and of the solution");
  Node* x = b.call("aten.linalg_solve.default", {b.reshape(a, {rows, rows}), b.reshape(c.tensor(1), {rows})});
  return {b.reshape(x, unknown)};
}

Nodes lu_solve(Builder& b, const Call& c) {
  return {b.call("aten.linalg_lu_solve.default", {c.tensor(1), c.tensor(2), c.tensor(0)})};
}

}  // namespace

Rows singular_values() {
  Rows r;
  const auto add = [&r](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  add("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", svdvals, "singular values, in falling order");
  add("_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor "
      "S, Tensor Vh)",
      svd, "singular values, in falling order");
  add("linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", eigvalsh, "eigenvalues of symmetric matrices");
  add("_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)", eigh,
      "eigenvalues of symmetric matrices");
  const std::string hermitian = "bool hermitian=False) -> Tensor";
  const std::string tensors = ", *, Tensor? atol=None, Tensor? rtol=None, " + hermitian;
  const std::string floats = ", *, float? atol=None, float? rtol=None, " + hermitian;
  const char *rank = "how many singular values are not 0", *inverse = "pseudoinverses";
  add("linalg_matrix_rank(Tensor self, float tol, " + hermitian, matrix_rank, rank);
  add("linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, " + hermitian, matrix_rank, rank);
  add("linalg_matrix_rank.atol_rtol_tensor(Tensor input" + tensors, matrix_rank, rank);
  add("linalg_matrix_rank.atol_rtol_float(Tensor self" + floats, matrix_rank, rank);
  add("linalg_pinv(Tensor self, float rcond, " + hermitian, pinv, inverse);
  add("linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, " + hermitian, pinv, inverse);
  add("linalg_pinv.atol_rtol_tensor(Tensor self" + tensors, pinv, inverse);
  add("linalg_pinv.atol_rtol_float(Tensor self" + floats, pinv, inverse);
  add("pinverse(Tensor self, float rcond=1e-15) -> Tensor", pinv, inverse);
  const char* condition = "condition numbers";
  add("linalg_cond(Tensor self, Scalar? p=None) -> Tensor", cond, condition);
  add("linalg_cond.p_str(Tensor self, str p) -> Tensor", cond, condition);
  add("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensorinv, "inverses of matrices of several dimensions");
  add("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", tensorsolve,
      "x with tensordot(self, x) = other");
  add("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", lu_solve,
      "X with A X = B, from A's factors");
  return r;
}

}  // namespace strata::ops
