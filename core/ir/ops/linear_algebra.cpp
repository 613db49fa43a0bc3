// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix factorisations and what is made of them: solving, inverting, determinants. Which singular vectors and
// eigenvectors are given is PyTorch's to choose, so that no row gives them; values, and what depends on these alone,
// are in singular_values.cpp.

#include <algorithm>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"
#include "core/ir/ops/small_matrices.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;

// ---------------------------------------------------------------------------------------------------------------
// shapes

DType number_type(const Call& c, size_t i = 0) {
  const DType d = tensor_type(c, i).dtype;
  if (d != DType::F32 && d != DType::F64) reject(c, "expected float32 or float64, found " + std::string(dtype_name(d)));
  return d;
}

/// The routines read all operands in the type of the first.
void check_number_type(const Call& c, size_t i) {
  number_type(c, i);
  require_same_dtype(c, i, 0);
}

/// Shape of a parameter that holds matrices.
const Index& matrices(const Call& c, size_t i) {
  check_number_type(c, i);
  const Index& shape = tensor_type(c, i).shape;
  if (shape.size() < 2) reject(c, "expected matrices, found " + std::to_string(shape.size()) + " dimensions");
  return shape;
}
const Index& squares(const Call& c, size_t i) {
  const Index& shape = matrices(c, i);
  require_equal(c, shape[shape.size() - 2], shape.back(), "rows and columns of square matrices");
  return shape;
}

Index batch_of(const Index& shape, size_t inner = 2) {
  return {shape.begin(), shape.end() - static_cast<ptrdiff_t>(inner)};
}
Index with(Index batch, std::initializer_list<SymInt> inner) {
  batch.insert(batch.end(), inner);
  return batch;
}
SymInt rank_of(const Index& shape) { return min(shape.back(), shape[shape.size() - 2]); }

/// The matrices of `b` solved for, their batch broadcast with that of the `a`s.
Index solution_shape(const Call& c, const Index& a, const Index& b, bool left) {
  require_equal(c, a.back(), left ? b[b.size() - 2] : b.back(),
                "size of the matrices and " + std::string(left ? "rows" : "columns") + " of the right side");
  return with(broadcast(batch_of(a), batch_of(b), c.node()), {b[b.size() - 2], b.back()});
}

void refuse_checks(const Call& c, size_t i) {
  if (c.boolean(i)) reject(c, "check_errors is not supported");
}

Type triangular_type(const Call& c) {
  const Index shape = solution_shape(c, squares(c, 0), matrices(c, 1), c.boolean(3));
  return result_like(c, number_type(c), shape);
}
Type cholesky_ex_type(const Call& c) {
  refuse_checks(c, 2);
  return tuple_like(c, {{number_type(c), squares(c, 0)}, {DType::I32, batch_of(squares(c, 0))}});
}
Type lu_factor_ex_type(const Call& c) {
  refuse_checks(c, 2);
  const Index& a = matrices(c, 0);
  return tuple_like(c, {{number_type(c), a}, {DType::I32, with(batch_of(a), {rank_of(a)})}, {DType::I32, batch_of(a)}});
}
/// Operand `i` has one line for each of the matrices with this shape.
const Index& lines_for(const Call& c, size_t i, const Index& matrix, const std::string& what) {
  const Index& shape = tensor_type(c, i).shape;
  if (shape.size() + 1 != matrix.size())
    reject(c, what + ": expected " + std::to_string(matrix.size() - 1) + " dimensions, found " +
                  std::to_string(shape.size()));
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    require_equal(c, shape[d], matrix[d], "dimension " + std::to_string(d) + " of " + what + " and of the matrices");
  return shape;
}
/// One pivot for each row and column that the matrices have both.
void check_pivots(const Call& c, size_t i, const Index& matrix) {
  const DType d = tensor_type(c, i).dtype;
  if (d != DType::I32) reject(c, "pivots must be int32, found " + std::string(dtype_name(d)));
  require_equal(c, lines_for(c, i, matrix, "pivots").back(), rank_of(matrix), "pivots and the least size of a matrix");
}
/// Reflectors are columns of matrices with this shape, each with its factor in operand `i`; no more than there are
/// columns.
void check_factors(const Call& c, size_t i, const Index& matrix) {
  check_number_type(c, i);
  const SymInt& count = lines_for(c, i, matrix, "tau").back();
  require_at_least(c, rank_of(matrix), count, "rank for the factors in tau");
}
Type lu_solve_type(const Call& c) {
  check_pivots(c, 1, squares(c, 0));
  return result_like(c, number_type(c), solution_shape(c, squares(c, 0), matrices(c, 2), c.boolean(3)));
}
Type permutation_type(const Call& c) {
  const Index& a = matrices(c, 0);
  check_pivots(c, 1, a);
  const SymInt& rows = a[a.size() - 2];
  return result_like(c, number_type(c), with(batch_of(a), {rows, rows}));
}
Type geqrf_type(const Call& c) {
  const Index& a = matrices(c, 0);
  return tuple_like(c, {{number_type(c), a}, {number_type(c), with(batch_of(a), {rank_of(a)})}});
}
Type product_type(const Call& c) {
  const Index& a = matrices(c, 0);
  require_at_least(c, a[a.size() - 2], a.back(), "rows for that many columns");
  check_factors(c, 1, a);
  return result_like(c, number_type(c), a);
}
Type ormqr_type(const Call& c) {
  const Index &a = matrices(c, 0), &x = matrices(c, 2);
  check_factors(c, 1, a);
  if (x.size() != a.size())
    reject(c, "expected a matrix for each batch of reflectors: " + std::to_string(a.size()) + " dimensions, found " +
                  std::to_string(x.size()));
  for (size_t d = 0; d + 2 < a.size(); ++d)
    require_equal(c, x[d], a[d], "dimension " + std::to_string(d) + " of the matrices and of the reflectors");
  require_equal(c, c.boolean(3) ? x[x.size() - 2] : x.back(), a[a.size() - 2],
                "size of the matrices and of the reflectors");
  return result_like(c, number_type(c), x);
}

Type thin_svd_type(const Call& c) {
  const Index& a = matrices(c, 0);
  const DType d = number_type(c);
  const Index batch = batch_of(a);
  return tuple_like(c, {{d, with(batch, {a[a.size() - 2], rank_of(a)})},
                        {d, with(batch, {rank_of(a)})},
                        {d, with(batch, {rank_of(a), a.back()})}});
}
Type eigenvalues_type(const Call& c) {
  return result_like(c, number_type(c), with(batch_of(squares(c, 0)), {squares(c, 0).back()}));
}

/// The routine that the row's kernel is, on the interpreter's values.
RefValue reference(const RefContext& c) {
  std::vector<Tensor> operands;
  const auto& params = c.call.op().schema.params;
  for (size_t i = 0; i < params.size(); ++i)
    operands.push_back(params[i].type == "Tensor" && !c.call.is_none(i) ? c.tensor(i) : Tensor());
  const size_t count = std::max<size_t>(1, c.call.node().type.parts.size());
  const bool tuple = c.call.node().type.kind == Type::Kind::Tuple;
  std::vector<Tensor> results;
  for (size_t k = 0; k < count; ++k) results.push_back(c.result(k));
  compute_matrices(std::get<KernelRule>(c.call.op().lowering).name, {c.call, operands, results});
  if (!tuple) return results[0];
  return std::vector<RefValue>(results.begin(), results.end());
}

// ------------------------------------------------------------------------------------------------------------ made of
// LU

struct Factors {
  Node *lu, *pivots, *info;
};
Factors factors_of(Builder& b, const Argument& a, bool pivot = true) {
  Node* made = b.call("aten.linalg_lu_factor_ex.default", {a}, {{"pivot", pivot}});
  return {b.getitem(made, 0), b.getitem(made, 1), b.getitem(made, 2)};
}
Node* diagonal(Builder& b, Node* x) { return b.call("aten.diagonal.default", {x, 0, -2, -1}); }

/// 1 or -1 by the number of exchanges.
Node* parity(Builder& b, Node* pivots, DType dtype) {
  const SymInt n = pivots->type.tensor.shape.back();
  Node* moved = b.call("aten.ne.Tensor", {pivots, b.call("aten.arange.start", {1, integer(n + 1)})});
  Node* odd = b.call("aten.remainder.Scalar", {b.sum(b.cast(moved, DType::I64), {-1}, false), 2});
  return b.cast(b.add(b.mul(odd, -2), 1), dtype);
}

/// Whether B holds vectors: one, or one per matrix.
bool solves_vectors(const Call& c, const Index& a) {
  const Index& b = tensor_type(c, 1).shape;
  return b.size() == 1 || (b.size() + 1 == a.size() && same_sizes(b, Index(a.begin(), a.end() - 1)));
}
/// Shape of the solution.
Index solved_shape(const Call& c, const Index& a) {
  check_number_type(c, 1);
  if (!solves_vectors(c, a)) return solution_shape(c, a, matrices(c, 1), c.boolean(2));
  if (!c.boolean(2)) reject(c, "vectors stand on the right of the matrices only");
  const Index& b = tensor_type(c, 1).shape;
  require_equal(c, a.back(), b.back(), "size of the matrices and of the vectors");
  return with(broadcast(batch_of(a), batch_of(b, 1), c.node()), {b.back()});
}

Type solve_ex_type(const Call& c) {
  refuse_checks(c, 3);
  const Index& a = squares(c, 0);
  const DType d = number_type(c);
  return tuple_like(
      c, {{d, solved_shape(c, a)}, {d, a}, {DType::I32, with(batch_of(a), {a.back()})}, {DType::I32, batch_of(a)}});
}
Nodes solve_ex(Builder& b, const Call& c) {
  const Factors f = factors_of(b, c.arg(0));
  const bool vectors = solves_vectors(c, c.type(0).shape);
  Node* right = vectors ? b.unsqueeze(c.tensor(1), -1) : c.tensor(1);
  Node* x = b.call("aten.linalg_lu_solve.default", {f.lu, f.pivots, right}, {{"left", c.boolean(2)}});
  if (vectors) x = b.reshape(x, solved_shape(c, c.type(0).shape));
  return {x, f.lu, f.pivots, f.info};
}

Type inverse_ex_type(const Call& c) {
  refuse_checks(c, 1);
  return tuple_like(c, {{number_type(c), squares(c, 0)}, {DType::I32, batch_of(squares(c, 0))}});
}
Nodes inverse_ex(Builder& b, const Call& c) {
  const Factors f = factors_of(b, c.arg(0));
  const Index& shape = c.type(0).shape;
  Node* one = b.call("aten.eye.default", {integer(shape.back())}, {{"dtype", c.type(0).dtype}});
  return {b.call("aten.linalg_lu_solve.default", {f.lu, f.pivots, b.expand(one, shape)}), f.info};
}

Type determinant_type(const Call& c) {
  const Index& a = squares(c, 0);
  return tuple_like(c,
                    {{number_type(c), batch_of(a)}, {number_type(c), a}, {DType::I32, with(batch_of(a), {a.back()})}});
}
/// PyTorch factorises the transpose of what lies row by row, which for its library is no copy.
Factors factors_for_determinant(Builder& b, const Call& c) {
  Node* a = c.tensor(0);
  return factors_of(b, a->type.tensor.is_contiguous() ? b.transpose(a, -2, -1) : a);
}
Nodes determinant(Builder& b, const Call& c) {
  const Factors f = factors_for_determinant(b, c);
  Node* product = b.call("aten.prod.dim_int", {diagonal(b, f.lu), -1});
  return {b.mul(product, parity(b, f.pivots, c.type(0).dtype)), f.lu, f.pivots};
}

Type log_determinant_type(const Call& c) {
  const Index& a = squares(c, 0);
  const DType d = number_type(c);
  return tuple_like(c, {{d, batch_of(a)}, {d, batch_of(a)}, {d, a}, {DType::I32, with(batch_of(a), {a.back()})}});
}
Nodes log_determinant(Builder& b, const Call& c) {
  const Factors f = factors_for_determinant(b, c);
  Node* on = diagonal(b, f.lu);
  Node* sign =
      b.mul(b.call("aten.prod.dim_int", {b.call("aten.sign.default", {on}), -1}), parity(b, f.pivots, c.type(0).dtype));
  Node* size = b.sum(b.call("aten.log.default", {b.call("aten.abs.default", {on})}), {-1}, false);
  return {sign, size, f.lu, f.pivots};
}

Node* slice_to(Builder& b, Node* x, int64_t dim, const SymInt& end) {
  return b.call("aten.slice.Tensor", {x, dim, 0, integer(end)});
}
Node* unit_lower(Builder& b, Node* lu) {
  const Index& shape = lu->type.tensor.shape;
  const SymInt &rows = shape[shape.size() - 2], rank = rank_of(shape);
  Node* one = b.call("aten.eye.m", {integer(rows), integer(rank)}, {{"dtype", lu->type.tensor.dtype}});
  return b.add(b.call("aten.tril.default", {slice_to(b, lu, -1, rank), -1}), one);
}
Node* upper_of(Builder& b, Node* lu) {
  return b.call("aten.triu.default", {slice_to(b, lu, -2, rank_of(lu->type.tensor.shape))});
}

Type lu_parts(const Call& c, const Index& a) {
  const SymInt &rows = a[a.size() - 2], &columns = a.back(), rank = rank_of(a);
  const DType d = number_type(c);
  return tuple_like(c, {{d, with(batch_of(a), {rows, rows})},
                        {d, with(batch_of(a), {rows, rank})},
                        {d, with(batch_of(a), {rank, columns})}});
}
Type lu_type(const Call& c) {
  if (!c.boolean(1)) reject(c, "without pivoting P is empty, which is not supported");
  return lu_parts(c, matrices(c, 0));
}
Nodes lu(Builder& b, const Call& c) {
  const Factors f = factors_of(b, c.arg(0));
  return {b.call("strata.lu_permutation.default", {f.lu, f.pivots}), unit_lower(b, f.lu), upper_of(b, f.lu)};
}
Type unpack_type(const Call& c) {
  check_pivots(c, 1, matrices(c, 0));
  if (!c.boolean(2) || !c.boolean(3)) reject(c, "leaving parts empty is not supported");
  return lu_parts(c, matrices(c, 0));
}
Nodes unpack(Builder& b, const Call& c) {
  Node* both = c.tensor(0);
  return {b.call("strata.lu_permutation.default", {both, c.arg(1)}), unit_lower(b, both), upper_of(b, both)};
}

// ------------------------------------------------------------------------------------------------- made of the others

Type qr_type(const Call& c) {
  const Index& a = matrices(c, 0);
  const std::string mode = c.string(1);
  if (mode != "reduced" && mode != "complete") reject(c, "mode must be reduced or complete, found '" + mode + "'");
  const SymInt &rows = a[a.size() - 2], rank = mode == "reduced" ? rank_of(a) : rows;
  return tuple_like(
      c, {{number_type(c), with(batch_of(a), {rows, rank})}, {number_type(c), with(batch_of(a), {rank, a.back()})}});
}
Nodes qr(Builder& b, const Call& c) {
  const Type type = qr_type(c);
  const Index &q = type.parts[0].tensor.shape, &a = c.type(0).shape;
  const SymInt &columns = q.back(), rank = rank_of(a);
  Node* made = b.call("aten.geqrf.default", {c.arg(0)});
  Node* factor = b.getitem(made, 0);
  Node* reflectors = slice_to(b, factor, -1, rank);
  if (!(columns == rank)) {  // complete: columns without a reflector
    Node* none = b.call("aten.full.default", {sizes(with(batch_of(a), {q[q.size() - 2], columns - rank})), 0.0},
                        {{"dtype", number_type(c)}});
    reflectors = b.call("aten.cat.default", {Argument::list({reflectors, none}), -1});
  }
  Node* product = b.call("aten.linalg_householder_product.default", {reflectors, b.getitem(made, 1)});
  return {product, b.call("aten.triu.default", {slice_to(b, factor, -2, columns)})};
}

Node* solve(Builder& b, Node* triangle, Node* x, bool upper) {
  return b.call("aten.linalg_solve_triangular.default", {triangle, x}, {{"upper", upper}});
}
/// L L' X = B, or U' U X = B.
Node* solve_positive(Builder& b, Node* factor, Node* x, bool upper) {
  Node* other = b.transpose(factor, -2, -1);
  return upper ? solve(b, factor, solve(b, other, x, false), true) : solve(b, other, solve(b, factor, x, false), true);
}
Type cholesky_solve_type(const Call& c) {
  return result_like(c, number_type(c), solution_shape(c, squares(c, 1), matrices(c, 0), true));
}
Nodes cholesky_solve(Builder& b, const Call& c) { return {solve_positive(b, c.tensor(1), c.tensor(0), c.boolean(2))}; }
Type same_squares(const Call& c) { return result_like(c, number_type(c), squares(c, 0)); }
Nodes cholesky_inverse(Builder& b, const Call& c) {
  const Index& shape = c.type(0).shape;
  Node* one = b.call("aten.eye.default", {integer(shape.back())}, {{"dtype", c.type(0).dtype}});
  return {solve_positive(b, c.tensor(0), b.expand(one, shape), c.boolean(1))};
}

OpDef computed(const char* schema, ShapeRule type, KernelRule kernel, const char* doc) {
  return OpDef(schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr, NoGradient::Pending, kernel, "",
               doc);
}
OpDef made(const char* schema, ShapeRule type, Decompose decompose, const char* doc) {
  return OpDef(schema, OpClass::Compound, 0, Promotion::None, type, nullptr, decompose, NoGradient::Pending,
               NoLowering{}, "", doc);
}

}  // namespace

Rows linear_algebra() {
  Rows r;
  r.push_back(
      computed("aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
               "unitriangular=False) -> Tensor",
               triangular_type, {"solve_triangular"}, "X with A X = B for triangular matrices"));
  r.push_back(computed(
      "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
      cholesky_ex_type, {"cholesky"}, "the Cholesky factor, and where it fails"));
  r.push_back(computed(
      "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
      "Tensor info)",
      lu_factor_ex_type, {"lu_factor"}, "L and U in one matrix, exchanged rows, and where it fails"));
  r.push_back(computed(
      "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
      lu_solve_type, {"lu_solve"}, "X with A X = B, from A's factors"));
  r.push_back(computed("strata::lu_permutation(Tensor lu, Tensor pivots) -> Tensor", permutation_type,
                       {"lu_permutation"}, "the permutation that pivots stand for"));
  r.push_back(
      computed("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)", geqrf_type, {"geqrf"}, "R, and Q as reflectors"));
  r.push_back(computed("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor", product_type,
                       {"householder_product"}, "the first columns of a product of reflectors"));
  r.push_back(
      computed("aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
               ormqr_type, {"ormqr"}, "a matrix times a product of reflectors"));
  for (const char* schema :
       {"aten::matrix_exp(Tensor self) -> Tensor", "aten::linalg_matrix_exp(Tensor self) -> Tensor"})
    r.push_back(computed(schema, same_squares, {"matrix_exp"}, "the power series of exp, of matrices"));
  r.push_back(computed("strata::thin_svd(Tensor A) -> (Tensor U, Tensor S, Tensor Vh)", thin_svd_type, {"thin_svd"},
                       "A = U S Vh, of as many columns and rows as the lesser size"));
  r.push_back(computed("strata::symmetric_eigenvalues(Tensor A, bool upper) -> Tensor", eigenvalues_type,
                       {"symmetric_eigenvalues"}, "eigenvalues of symmetric matrices, in rising order"));
  r.push_back(
      made("aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
           "Tensor LU, "
           "Tensor pivots, Tensor info)",
           solve_ex_type, solve_ex, "X with A X = B"));
  r.push_back(made("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
                   inverse_ex_type, inverse_ex, "the inverse, and where there is none"));
  r.push_back(made("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", determinant_type,
                   determinant, "the determinant, and the factors it comes from"));
  r.push_back(made("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
                   log_determinant_type, log_determinant, "sign and logarithm of the determinant"));
  r.push_back(made("aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", lu_type, lu,
                   "A = P L U"));
  r.push_back(made(
      "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, "
      "Tensor L, Tensor U)",
      unpack_type, unpack, "P, L and U of their compact form"));
  r.push_back(made("aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", qr_type, qr, "A = Q R"));
  r.push_back(made("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", cholesky_solve_type,
                   cholesky_solve, "X with A X = B, from A's Cholesky factor"));
  r.push_back(made("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", same_squares, cholesky_inverse,
                   "the inverse, from the Cholesky factor"));
  return r;
}

}  // namespace strata::ops
