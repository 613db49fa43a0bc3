// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/small_matrices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/ir/ops/common.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"
#include "core/support/vector_clones.h"

namespace strata::ops {
namespace {

using Shape = std::vector<int64_t>;

/// A matrix in memory.
template <class T>
struct View {
  T* data;
  int64_t rows, columns, row_step, column_step;
  T& operator()(int64_t i, int64_t j) const { return data[i * row_step + j * column_step]; }
  View transposed() const { return {data, columns, rows, column_step, row_step}; }
};

/// Row-major matrices over batch dimensions.
template <class T>
struct Batch {
  Tensor tensor;
  int64_t rows, columns;

  explicit Batch(Tensor t) : tensor(std::move(t)), rows(t_size(2)), columns(t_size(1)) {}
  View<T> operator[](int64_t b) const { return {tensor.ptr<T>() + b * rows * columns, rows, columns, columns, 1}; }

 private:
  int64_t t_size(size_t from_end) const { return tensor.shape[tensor.rank() - from_end]; }
};

int64_t count_of(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}
Shape batch_of(const Tensor& t, size_t inner = 2) {
  return {t.shape.begin(), t.shape.end() - static_cast<ptrdiff_t>(inner)};
}

/// `to` takes the elements of `from`, broadcast, which has its type.
void fill_from(const Tensor& from, const Tensor& to) {
  const Tensor view = expanded(from, to.shape);
  const size_t item = dtype_size(to.dtype);
  Shape at(to.rank(), 0);
  for (int64_t n = 0, total = to.numel(); n < total; ++n) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * view.strides[d];
    std::memcpy(to.data() + static_cast<size_t>(n) * item, view.data() + offset * static_cast<int64_t>(item), item);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < to.shape[d]) break;
      at[d] = 0;
    }
  }
}

/// A row-major copy, broadcast to a batch.
Tensor copied(const Tensor& t, Shape batch, size_t inner = 2) {
  batch.insert(batch.end(), t.shape.end() - static_cast<ptrdiff_t>(inner), t.shape.end());
  Tensor out = Tensor::empty(t.dtype, std::move(batch));
  fill_from(t, out);
  return out;
}

/// The result, or memory that nobody reads.
Tensor result(const MatrixCall& c, size_t k, DType dtype, const Shape& shape) {
  return k < c.results.size() && c.results[k].defined() ? c.results[k] : Tensor::empty(dtype, shape);
}

template <class F>
void for_matrices(int64_t batch, int64_t work, F&& f) {
  parallel_for(batch, std::max<int64_t>(1, 20'000 / std::max<int64_t>(work, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) f(b);
  });
}

Shape with(Shape batch, std::initializer_list<int64_t> inner) {
  batch.insert(batch.end(), inner);
  return batch;
}

// ------------------------------------------------------------------------------------------------------------
// triangles

/// X with A X = B, in place of B.
template <class T>
void solve_triangle(View<const T> a, View<T> b, bool upper, bool unit) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
      for (int64_t j = 0; j < b.columns; ++j) b(i, j) -= a(i, k) * b(k, j);
    if (unit) continue;
    for (int64_t j = 0; j < b.columns; ++j) b(i, j) /= a(i, i);
  }
}

template <class T>
View<const T> constant(View<T> v) {
  return {v.data, v.rows, v.columns, v.row_step, v.column_step};
}

template <class T>
void solve_triangular(const MatrixCall& c) {
  const bool upper = c.call.boolean(2), left = c.call.boolean(3), unit = c.call.boolean(4);
  const Tensor& out = c.results[0];
  fill_from(c.operands[1], out);
  const Batch<T> a(copied(c.operands[0], batch_of(out))), x(out);
  for_matrices(count_of(batch_of(out)), a.rows * a.rows * std::max(x.rows, x.columns), [&](int64_t b) {
    if (left)
      solve_triangle<T>(constant(a[b]), x[b], upper, unit);
    else
      solve_triangle<T>(constant(a[b].transposed()), x[b].transposed(), !upper, unit);
  });
}

/// The lower factor in place of the lower triangle; 0, or the order of the minor that is not positive.
template <class T>
int32_t factor_positive(View<T> a) {
  for (int64_t j = 0; j < a.rows; ++j) {
    T d = a(j, j);
    for (int64_t k = 0; k < j; ++k) d -= a(j, k) * a(j, k);
    a(j, j) = d;
    if (!(d > 0)) return static_cast<int32_t>(j + 1);
    d = a(j, j) = std::sqrt(d);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      T v = a(i, j);
      for (int64_t k = 0; k < j; ++k) v -= a(i, k) * a(j, k);
      a(i, j) = v / d;
    }
  }
  return 0;
}

template <class T>
void cholesky(const MatrixCall& c) {
  const bool upper = c.call.boolean(1);
  const Shape batch = batch_of(c.operands[0]);
  const Tensor factor = result(c, 0, c.operands[0].dtype, c.operands[0].shape), info = result(c, 1, DType::I32, batch);
  fill_from(c.operands[0], factor);
  const Batch<T> f(factor);
  for_matrices(count_of(batch), f.rows * f.rows * f.rows, [&](int64_t b) {
    const View<T> a = upper ? f[b].transposed() : f[b];
    info.ptr<int32_t>()[b] = factor_positive(a);
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = i + 1; j < a.rows; ++j) a(i, j) = 0;
  });
}

// -------------------------------------------------------------------------------------------------------------------
// LU

template <class T>
void swap_rows(View<T> a, int64_t i, int64_t k) {
  for (int64_t j = 0; i != k && j < a.columns; ++j) std::swap(a(i, j), a(k, j));
}

/// L and U in place of the matrix; 0, or the first pivot that is 0.
template <class T>
int32_t factor_lu(View<T> a, bool pivot, int32_t* pivots) {
  int32_t info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; pivot && i < a.rows; ++i)
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    pivots[k] = static_cast<int32_t>(best + 1);
    if (a(best, k) == 0) {
      if (info == 0) info = static_cast<int32_t>(k + 1);
      continue;
    }
    swap_rows(a, k, best);
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const T factor = a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return info;
}

template <class T>
void lu_factor(const MatrixCall& c) {
  const Tensor& matrix = c.operands[0];
  const Shape batch = batch_of(matrix);
  const int64_t rank = std::min(matrix.shape[matrix.rank() - 1], matrix.shape[matrix.rank() - 2]);
  const Tensor lu = result(c, 0, matrix.dtype, matrix.shape), info = result(c, 2, DType::I32, batch);
  const Tensor pivots = result(c, 1, DType::I32, with(batch, {rank}));
  fill_from(matrix, lu);
  const Batch<T> f(lu);
  for_matrices(count_of(batch), f.rows * f.columns * rank, [&](int64_t b) {
    info.ptr<int32_t>()[b] = factor_lu(f[b], c.call.boolean(1), pivots.ptr<int32_t>() + b * rank);
  });
}

/// Exchanges rows as the factorisation did; `back` undoes it.
template <class T>
void exchange(const Call& call, View<T> x, const int32_t* pivots, int64_t n, bool back) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t k = back ? n - 1 - step : step, with = pivots[k] - 1;
    if (with < 0 || with >= x.rows) reject(call, "a pivot is out of range: " + std::to_string(pivots[k]));
    swap_rows(x, k, with);
  }
}

template <class T>
void solve_factored(const Call& call, View<T> lu, const int32_t* pivots, View<T> x, bool adjoint) {
  if (!adjoint) exchange(call, x, pivots, lu.rows, false);
  const View<const T> a = adjoint ? constant(lu.transposed()) : constant(lu);
  solve_triangle<T>(a, x, false, !adjoint);  // transposed, U is the lower one
  solve_triangle<T>(a, x, true, adjoint);
  if (adjoint) exchange(call, x, pivots, lu.rows, true);
}

template <class T>
void lu_solve(const MatrixCall& c) {
  const bool left = c.call.boolean(3), adjoint = c.call.boolean(4);
  const Tensor& out = c.results[0];
  fill_from(c.operands[2], out);
  const Shape batch = batch_of(out);
  const Batch<T> lu(copied(c.operands[0], batch)), x(out);
  const Tensor pivots = copied(c.operands[1], batch, 1);
  for_matrices(count_of(batch), lu.rows * lu.rows * std::max(x.rows, x.columns), [&](int64_t b) {
    solve_factored(c.call, lu[b], pivots.ptr<int32_t>() + b * lu.rows, left ? x[b] : x[b].transposed(),
                   adjoint == left);
  });
}

/// P with A = P L U, from pivots.
template <class T>
void lu_permutation(const MatrixCall& c) {
  const Tensor& out = c.results[0];
  const Shape batch = batch_of(out);
  const Tensor pivots = copied(c.operands[1], batch, 1);
  const int64_t count = pivots.shape.back();
  std::memset(out.data(), 0, static_cast<size_t>(out.numel()) * sizeof(T));
  const Batch<T> p(out);
  for_matrices(count_of(batch), p.rows * p.rows, [&](int64_t b) {
    for (int64_t i = 0; i < p.rows; ++i) p[b](i, i) = 1;
    exchange(c.call, p[b], pivots.ptr<int32_t>() + b * count, count, true);
  });
}

// -------------------------------------------------------------------------------------------------------------------
// QR

/// x with H = 1 - tau v v' applied from the left; v has 1 at `at`, the rest below the diagonal of column `at` of `a`.
template <class T>
void reflect(View<const T> a, int64_t at, T tau, View<T> x, int64_t first_column) {
  for (int64_t j = first_column; j < x.columns; ++j) {
    T sum = x(at, j);
    for (int64_t i = at + 1; i < x.rows; ++i) sum += a(i, at) * x(i, j);
    sum *= tau;
    x(at, j) -= sum;
    for (int64_t i = at + 1; i < x.rows; ++i) x(i, j) -= sum * a(i, at);
  }
}

/// R above, the reflectors below the diagonal.
template <class T>
void factor_qr(View<T> a, T* tau) {
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    T scale = 0, rest = 0;
    for (int64_t i = k + 1; i < a.rows; ++i) scale = std::max(scale, std::abs(a(i, k)));
    for (int64_t i = k + 1; scale > 0 && i < a.rows; ++i) rest += (a(i, k) / scale) * (a(i, k) / scale);
    const T norm = scale * std::sqrt(rest), alpha = a(k, k);
    if (norm == 0) {
      tau[k] = 0;
      continue;
    }
    const T beta = -std::copysign(std::hypot(alpha, norm), alpha);
    tau[k] = (beta - alpha) / beta;
    for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= alpha - beta;
    a(k, k) = beta;
    reflect<T>(constant(a), k, tau[k], a, k + 1);
  }
}

template <class T>
void geqrf(const MatrixCall& c) {
  const Tensor& matrix = c.operands[0];
  const Shape batch = batch_of(matrix);
  const int64_t rank = std::min(matrix.shape[matrix.rank() - 1], matrix.shape[matrix.rank() - 2]);
  const Tensor out = result(c, 0, matrix.dtype, matrix.shape), tau = result(c, 1, matrix.dtype, with(batch, {rank}));
  fill_from(matrix, out);
  const Batch<T> f(out);
  for_matrices(count_of(batch), f.rows * f.columns * rank,
               [&](int64_t b) { factor_qr(f[b], tau.ptr<T>() + b * rank); });
}

/// How many reflectors there are: sizes that only a run knows may be more than the columns.
int64_t reflectors_of(const MatrixCall& c, const Tensor& tau, int64_t rows, int64_t columns) {
  const int64_t count = tau.shape.back(), most = std::min(rows, columns);
  if (count > most)
    reject(c.call, "tau: expected at most " + std::to_string(most) + " factors, found " + std::to_string(count));
  return count;
}

/// The first columns of the product of reflectors.
template <class T>
void householder_product(const MatrixCall& c) {
  const Tensor& out = c.results[0];
  const Shape batch = batch_of(out);
  const Batch<T> a(copied(c.operands[0], batch)), q(out);
  const Tensor tau = copied(c.operands[1], batch, 1);
  const int64_t count = reflectors_of(c, tau, a.rows, a.columns);
  std::memset(out.data(), 0, static_cast<size_t>(out.numel()) * sizeof(T));
  for_matrices(count_of(batch), a.rows * a.columns * count, [&](int64_t b) {
    for (int64_t i = 0; i < std::min(q.rows, q.columns); ++i) q[b](i, i) = 1;
    for (int64_t k = count; k-- > 0;) reflect<T>(constant(a[b]), k, tau.ptr<T>()[b * count + k], q[b], 0);
  });
}

/// Q C, Q' C, C Q or C Q' for the product Q of all reflectors.
template <class T>
void ormqr(const MatrixCall& c) {
  const bool left = c.call.boolean(3), transpose = c.call.boolean(4);
  const Tensor& out = c.results[0];
  fill_from(c.operands[2], out);
  const Shape batch = batch_of(out);
  const Batch<T> a(copied(c.operands[0], batch)), x(out);
  const Tensor tau = copied(c.operands[1], batch, 1);
  const int64_t count = reflectors_of(c, tau, a.rows, a.columns);
  for_matrices(count_of(batch), x.rows * x.columns * count, [&](int64_t b) {
    const View<T> view = left ? x[b] : x[b].transposed();
    const bool forward = transpose == left;  // C Q is (Q' C')'
    for (int64_t step = 0; step < count; ++step) {
      const int64_t k = forward ? step : count - 1 - step;
      reflect<T>(constant(a[b]), k, tau.ptr<T>()[b * count + k], view, 0);
    }
  });
}

/// to += x from, of rows of n elements.
STRATA_VECTOR_CLONES void add_scaled(double x, const double* from, int64_t n, double* to) {
  for (int64_t j = 0; j < n; ++j) to[j] += x * from[j];
}
/// out = a b, for row-major matrices of n rows and columns.
void multiply(const std::vector<double>& a, const std::vector<double>& b, int64_t n, std::vector<double>& out) {
  std::fill(out.begin(), out.end(), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      add_scaled(a[static_cast<size_t>(i * n + k)], b.data() + k * n, n, out.data() + i * n);
}

/// The power series of exp, of the matrix halved until its norm is at most a half, then squared as often (N. J. Higham,
/// Functions of Matrices, 10.3). In float64 whatever the type.
template <class T>
void matrix_exp(const MatrixCall& c) {
  const Tensor& out = c.results[0];
  const Shape batch = batch_of(out);
  const Batch<T> a(copied(c.operands[0], batch)), y(out);
  const int64_t n = y.rows;
  constexpr int kTerms = 14;  // 0.5^15 / 15! is below the last bit of 1
  for_matrices(count_of(batch), n * n * n * kTerms, [&](int64_t m) {
    std::vector<double> x(a[m].data, a[m].data + n * n), sum(x.size(), 0.0), product(x.size());
    double norm = 0;
    for (int64_t i = 0; i < n; ++i) {
      double row = 0;
      for (int64_t j = 0; j < n; ++j) row += std::fabs(x[static_cast<size_t>(i * n + j)]);
      norm = std::isnan(row) || row > norm ? row : norm;
      sum[static_cast<size_t>(i * n + i)] = 1;
    }
    if (!std::isfinite(norm)) return void(std::fill_n(y[m].data, n * n, std::numeric_limits<T>::quiet_NaN()));
    int halved = 0;
    for (double left = norm; left > 0.5; left /= 2) ++halved;
    for (double& v : x) v = std::ldexp(v, -halved);
    for (int k = kTerms; k > 0; --k) {  // 1 + x/1 (1 + x/2 (1 + ...))
      multiply(x, sum, n, product);
      for (double& v : product) v /= k;
      for (int64_t i = 0; i < n; ++i) product[static_cast<size_t>(i * n + i)] += 1;
      sum.swap(product);
    }
    for (int k = 0; k < halved; ++k) {
      multiply(sum, sum, n, product);
      sum.swap(product);
    }
    for (int64_t i = 0; i < n * n; ++i) y[m].data[i] = static_cast<T>(sum[static_cast<size_t>(i)]);
  });
}

STRATA_VECTOR_CLONES double dot(const double* a, const double* b, int64_t n) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}
STRATA_VECTOR_CLONES void rotate(double* a, double* b, int64_t n, double cosine, double sine) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}

/// The rotation after which the off-diagonal element of [p, q; q, r] is 0: cosine and sine of the lesser angle.
std::pair<double, double> rotation(double p, double q, double r) {
  const double zeta = (r - p) / (2 * q);
  const double t = std::copysign(1.0, zeta) / (std::fabs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1 / std::hypot(1.0, t);
  return {cosine, cosine * t};
}

constexpr int kMostSweeps = 60;

/// Lines of `count` times `length` numbers are made orthogonal to each other by rotations of two at a time, which the
/// lines of `turned` go through, too (G. H. Golub and C. F. Van Loan, Matrix Computations, 8.6.3).
void make_orthogonal(std::vector<double>& lines, int64_t count, int64_t length, std::vector<double>& turned) {
  bool moved = true;
  for (int sweep = 0; moved && sweep < kMostSweeps; ++sweep) {
    moved = false;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = i + 1; j < count; ++j) {
        double *a = lines.data() + i * length, *b = lines.data() + j * length;
        const double p = dot(a, a, length), q = dot(a, b, length), r = dot(b, b, length);
        if (!(std::fabs(q) > 1e-15 * std::sqrt(p) * std::sqrt(r))) continue;
        const auto [cosine, sine] = rotation(p, q, r);
        rotate(a, b, length, cosine, sine);
        rotate(turned.data() + i * count, turned.data() + j * count, count, cosine, sine);
        moved = true;
      }
  }
}

/// The largest size of an element; refuses what is not finite, as PyTorch does.
template <class T>
double largest(const MatrixCall& c, const View<T>& a) {
  double most = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) {
      const double size = std::fabs(static_cast<double>(a(i, j)));
      if (!std::isfinite(size))
        reject(c.call, "The algorithm failed to converge because the input matrix contained non-finite values.");
      most = std::max(most, size);
    }
  return most;
}

/// U, S and V' with A = U S V', of as many columns and rows as the lesser size, S in falling order. Where a value is 0
/// its column of U, or row of V' (of that with longer ones), is 0.
template <class T>
void thin_svd(const MatrixCall& c) {
  const Shape batch = batch_of(c.operands[0]);
  const Batch<T> a(copied(c.operands[0], batch));
  const int64_t k = std::min(a.rows, a.columns), length = std::max(a.rows, a.columns);
  const Batch<T> u(result(c, 0, c.operands[0].dtype, with(batch, {a.rows, k})));
  const Tensor s = result(c, 1, c.operands[0].dtype, with(batch, {k}));
  const Batch<T> v(result(c, 2, c.operands[0].dtype, with(batch, {k, a.columns})));
  for_matrices(count_of(batch), k * k * length * 20, [&](int64_t m) {
    const bool tall = a.rows >= a.columns;
    const View<T> given = tall ? a[m].transposed() : a[m];  // its k long lines
    const double most = largest(c, given), scale = most > 0 ? most : 1;
    std::vector<double> lines(static_cast<size_t>(k * length)), turned(static_cast<size_t>(k * k), 0.0);
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < length; ++j) lines[static_cast<size_t>(i * length + j)] = given(i, j) / scale;
      turned[static_cast<size_t>(i * k + i)] = 1;
    }
    make_orthogonal(lines, k, length, turned);
    std::vector<std::pair<double, int64_t>> values;
    for (int64_t i = 0; i < k; ++i) {
      const double* line = lines.data() + i * length;
      values.emplace_back(std::sqrt(dot(line, line, length)), i);
    }
    std::stable_sort(values.begin(), values.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    const View<T> longer = tall ? u[m].transposed() : v[m], shorter = tall ? v[m] : u[m].transposed();
    for (int64_t i = 0; i < k; ++i) {
      const auto [value, from] = values[static_cast<size_t>(i)];
      s.ptr<T>()[m * k + i] = static_cast<T>(value * scale);
      for (int64_t j = 0; j < length; ++j)
        longer(i, j) = static_cast<T>(value > 0 ? lines[static_cast<size_t>(from * length + j)] / value : 0);
      for (int64_t j = 0; j < k; ++j) shorter(i, j) = static_cast<T>(turned[static_cast<size_t>(from * k + j)]);
    }
  });
}

/// Eigenvalues of symmetric matrices, of which one triangle is read, in rising order (Jacobi's rotations, ibid. 8.5).
template <class T>
void symmetric_eigenvalues(const MatrixCall& c) {
  const Shape batch = batch_of(c.operands[0]);
  const Batch<T> a(copied(c.operands[0], batch));
  const Tensor& out = c.results[0];
  const int64_t n = a.rows;
  const bool upper = c.call.boolean(1);
  for_matrices(count_of(batch), n * n * n * 20, [&](int64_t m) {
    std::vector<double> numbers(static_cast<size_t>(n * n));
    const View<double> at{numbers.data(), n, n, n, 1};
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) at(i, j) = at(j, i) = static_cast<double>(upper ? a[m](j, i) : a[m](i, j));
    const double most = largest(c, at), scale = most > 0 ? most : 1;
    for (double& x : numbers) x /= scale;
    bool moved = true;
    for (int sweep = 0; moved && sweep < kMostSweeps; ++sweep) {
      moved = false;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) {
          if (!(std::fabs(at(i, j)) > 1e-17)) continue;
          const auto [cosine, sine] = rotation(at(i, i), at(i, j), at(j, j));
          rotate(&at(i, 0), &at(j, 0), n, cosine, sine);
          for (int64_t k = 0; k < n; ++k) rotate(&at(k, i), &at(k, j), 1, cosine, sine);
          at(i, j) = at(j, i) = 0;
          moved = true;
        }
    }
    T* const values = out.ptr<T>() + m * n;
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(at(i, i) * scale);
    std::sort(values, values + n);
  });
}

struct Routine {
  std::string_view name;
  void (*in_float)(const MatrixCall&);
  void (*in_double)(const MatrixCall&);
};

constexpr Routine kRoutines[] = {
    {"solve_triangular", solve_triangular<float>, solve_triangular<double>},
    {"cholesky", cholesky<float>, cholesky<double>},
    {"lu_factor", lu_factor<float>, lu_factor<double>},
    {"lu_solve", lu_solve<float>, lu_solve<double>},
    {"lu_permutation", lu_permutation<float>, lu_permutation<double>},
    {"geqrf", geqrf<float>, geqrf<double>},
    {"householder_product", householder_product<float>, householder_product<double>},
    {"ormqr", ormqr<float>, ormqr<double>},
    {"matrix_exp", matrix_exp<float>, matrix_exp<double>},
    {"thin_svd", thin_svd<float>, thin_svd<double>},
    {"symmetric_eigenvalues", symmetric_eigenvalues<float>, symmetric_eigenvalues<double>},
};

}  // namespace

void compute_matrices(std::string_view kernel, const MatrixCall& call) {
  for (const Routine& r : kRoutines)
    if (r.name == kernel) return call.operands[0].dtype == DType::F32 ? r.in_float(call) : r.in_double(call);
  throw_internal("there is no routine for matrices called '" + std::string(kernel) + "'");
}

}  // namespace strata::ops
