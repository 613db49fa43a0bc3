// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "library_reference.h"

#include <cmath>
#include <limits>

namespace strata::library_test {
namespace {

int64_t count(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

std::vector<int64_t> unflatten(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

/// Element for an index aligned at the last dimension, sizes of 1 broadcast.
double at(const Values& v, const std::vector<int64_t>& index) {
  int64_t flat = 0;
  const size_t skip = index.size() - v.shape.size();
  for (size_t d = 0; d < v.shape.size(); ++d) flat = flat * v.shape[d] + (v.shape[d] == 1 ? 0 : index[d + skip]);
  return v.data[flat];
}

void matmul(const Case& c, const Values& a, const Values& b, Values& out) {
  const int64_t k = a.shape.back();
  for (int64_t i = 0; i < count(out.shape); ++i) {
    std::vector<int64_t> index = unflatten(i, out.shape), ia = index, ib = index;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      ia.back() = p;
      ib[ib.size() - 2] = p;
      sum += at(a, ia) * at(b, ib);
    }
    out.data[i] = c.call.alpha * sum;
    if (c.call.has_bias) out.data[i] += c.call.beta * at(c.values(2), index);
  }
}

/// Direct convolution, or its transpose by scattering; any number of spatial dimensions.
void convolution(const Case& c, const Values& in, const Values& w, Values& out) {
  const LibraryCall& call = c.call;
  const bool transposed = call.kind == "convolution_transpose";
  const int64_t groups = call.groups, channels = in.shape[1] / groups, outputs = out.shape[1] / groups;
  const std::vector<int64_t> taps(w.shape.begin() + 2, w.shape.end());
  const std::vector<int64_t>& from = transposed ? in.shape : out.shape;
  const std::vector<int64_t> space(from.begin() + 2, from.end());
  const std::vector<int64_t>& other = transposed ? out.shape : in.shape;
  for (int64_t n = 0; n < in.shape[0]; ++n)
    for (int64_t o = 0; o < out.shape[1]; ++o)
      for (int64_t ch = 0; ch < channels; ++ch)
        for (int64_t s = 0; s < count(space); ++s)
          for (int64_t t = 0; t < count(taps); ++t) {
            const std::vector<int64_t> pos = unflatten(s, space), tap = unflatten(t, taps);
            const int64_t g = o / outputs;
            std::vector<int64_t> here{n, transposed ? g * channels + ch : o},
                there{n, transposed ? o : g * channels + ch};
            std::vector<int64_t> weight =
                transposed ? std::vector<int64_t>{g * channels + ch, o % outputs} : std::vector<int64_t>{o, ch};
            bool inside = true;
            for (size_t d = 0; d < taps.size(); ++d) {
              here.push_back(pos[d]);
              there.push_back(pos[d] * call.stride[d] - call.padding[d] + tap[d] * call.dilation[d]);
              weight.push_back(tap[d]);
              inside = inside && there.back() >= 0 && there.back() < other[d + 2];
            }
            if (!inside) continue;
            const std::vector<int64_t>& oi = transposed ? there : here;
            int64_t flat = 0;
            for (size_t d = 0; d < oi.size(); ++d) flat = flat * out.shape[d] + oi[d];
            out.data[flat] += at(in, transposed ? here : there) * at(w, weight);
          }
  if (!call.has_bias) return;
  const Values bias = c.values(2);
  for (int64_t i = 0; i < count(out.shape); ++i) out.data[i] += bias.data[unflatten(i, out.shape)[1]];
}

void attention(const Case& c, const Values& q, const Values& k, Values& out) {
  const Values v = c.values(2), mask = c.call.has_mask ? c.values(3) : Values{};
  const bool is_bool = c.call.has_mask && c.tensors[3].dtype == DType::Bool;
  const size_t r = out.shape.size();
  const int64_t keys = k.shape[k.shape.size() - 2], e = q.shape.back();
  for (int64_t i = 0; i < count(out.shape); ++i) {
    const std::vector<int64_t> index = unflatten(i, out.shape);
    std::vector<double> s(keys);
    double top = -INFINITY, total = 0, sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      std::vector<int64_t> iq = index, ik = index, im = index;
      ik[r - 2] = im[r - 1] = j;
      for (int64_t p = 0; p < e; ++p) {
        iq[r - 1] = ik[r - 1] = p;
        s[j] += at(q, iq) * at(k, ik);
      }
      s[j] *= c.call.alpha;
      if (c.call.has_mask && !is_bool) s[j] += at(mask, im);
      if (is_bool && at(mask, im) == 0) s[j] = c.call.mask_fill + (c.call.mask_replaces ? 0 : s[j]);
      if (c.call.causal && j > index[r - 2]) s[j] = -INFINITY;
      top = std::max(top, s[j]);
    }
    for (int64_t j = 0; j < keys && top != -INFINITY; ++j) {
      std::vector<int64_t> iv = index;
      iv[r - 2] = j;
      const double p = std::exp(s[j] - top);
      total += p;
      sum += p * at(v, iv);
    }
    out.data[i] = total != 0 ? sum / total : c.call.empty_rows_nan && keys > 0 ? NAN : 0;
  }
}

}  // namespace

Tensor Case::random_tensor(DType dtype, const std::vector<int64_t>& shape, const std::vector<int>& order, int64_t gap) {
  Tensor t;
  t.dtype = dtype;
  t.shape = shape;
  t.strides.resize(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const size_t d = order.empty() ? i : static_cast<size_t>(order[i]);
    t.strides[d] = step;
    step *= std::max<int64_t>(1, shape[d]);
    if (i + 1 == shape.size()) step += gap;
  }
  t.storage = Tensor::empty(dtype, {step + 8}).storage;
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> small(-4, 4);
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (dtype == DType::Bool)
      t.set_int(i, small(random_) > 0);
    else if (is_floating(dtype))
      t.set(i, normal(random_));
    else
      t.set_int(i, small(random_));
  }
  return t;
}

LibraryOperand Case::add(Tensor tensor, bool constant) {
  LibraryOperand o;
  o.buffer = static_cast<int>(tensors.size());
  o.dtype = tensor.dtype;
  o.shape.assign(tensor.shape.begin(), tensor.shape.end());
  o.strides.assign(tensor.strides.begin(), tensor.strides.end());
  o.constant = constant;
  tensors.push_back(std::move(tensor));
  return o;
}

int Case::operand(DType dtype, std::vector<int64_t> shape, std::vector<int> order, bool constant, int64_t gap) {
  call.operands.push_back(add(random_tensor(dtype, shape, order, gap), constant));
  return static_cast<int>(call.operands.size()) - 1;
}

int Case::expanded(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> full) {
  Tensor t = random_tensor(dtype, shape, {}, 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1 && full[d] != 1) t.strides[d] = 0;
  }
  t.shape = full;
  call.operands.push_back(add(std::move(t), false));
  return static_cast<int>(call.operands.size()) - 1;
}

void Case::result(DType dtype, std::vector<int64_t> shape, std::vector<int> order) {
  Tensor t = random_tensor(dtype, shape, order, 0);
  call.result = add(std::move(t), false);
}

Values Case::values(int operand) const { return {tensors[operand].shape, tensors[operand].values()}; }

double reference(const PostOp& op, double x, double y) {
  switch (op.kind) {
    case PostOp::Kind::Relu:
      return std::max(x, 0.0);
    case PostOp::Kind::GeluErf:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case PostOp::Kind::GeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case PostOp::Kind::Tanh:
      return std::tanh(x);
    case PostOp::Kind::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case PostOp::Kind::Silu:
      return x / (1 + std::exp(-x));
    case PostOp::Kind::HardSwish:
      x *= std::clamp(x + 3, 0.0, 6.0);
      if (std::abs(x) > std::numeric_limits<float>::max()) x *= INFINITY;  // PyTorch's product overflows, too
      return x / 6;
    case PostOp::Kind::HardSigmoid:
      return std::clamp(x + 3, 0.0, 6.0) / 6;
    case PostOp::Kind::Elu:
      return x > 0 ? x : op.alpha * std::expm1(x);
    case PostOp::Kind::Clamp:
      return std::clamp(x, op.alpha, op.beta);
    case PostOp::Kind::Linear:
      return op.alpha * x + op.beta;
    case PostOp::Kind::Add:
      return x + y;
    case PostOp::Kind::Sub:
      return x - y;
    case PostOp::Kind::Mul:
      return x * y;
  }
  return x;
}

Values reference(const Case& c) {
  Values out{c.tensors.back().shape, {}};
  out.data.assign(static_cast<size_t>(count(out.shape)), 0.0);
  const Values a = c.values(0), b = c.values(1);
  if (c.call.kind == "matmul")
    matmul(c, a, b, out);
  else if (c.call.kind == "attention")
    attention(c, a, b, out);
  else
    convolution(c, a, b, out);
  for (const PostOp& op : c.call.post_ops) {
    const Values y = op.operand >= 0 ? c.values(op.operand) : Values{};
    for (int64_t i = 0; i < count(out.shape); ++i) {
      out.data[i] = reference(op, out.data[i], op.operand >= 0 ? at(y, unflatten(i, out.shape)) : 0);
    }
  }
  return out;
}

std::string Case::check(double tolerance, bool prepack, int threads) {
  const Values expected = reference(*this);
  const Tensor& result = tensors.back();
  std::vector<const Tensor*> constants(tensors.size(), nullptr);
  for (const LibraryOperand& o : call.operands) {
    if (o.constant) constants[o.buffer] = &tensors[o.buffer];
  }
  CompileOptions options;
  options.prepack = prepack;
  options.threads = threads;
  auto kernel = library::compile_library_call(call, constants, options, std::make_shared<library::Scratch>());
  std::vector<std::byte*> buffers;
  for (const Tensor& t : tensors) buffers.push_back(t.data());
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < result.numel(); ++i) result.set(i, is_floating(result.dtype) ? NAN : 77);
    kernel->run({buffers.data(), {}, threads});
    double scale = 1e-30, worst = 0;
    for (double x : expected.data) scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : scale;
    const std::vector<double> found = result.values();
    const auto error = [](double a, double b) -> double {
      if (std::isfinite(a) && std::isfinite(b)) return std::abs(a - b);
      return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : INFINITY;
    };
    for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, error(found[i], expected.data[i]));
    EXPECT_LE(worst, tolerance * scale) << call.kind << " into " << result.str() << " round " << round << "\n"
                                        << kernel->describe();
  }
  return kernel->describe();
}

}  // namespace strata::library_test
