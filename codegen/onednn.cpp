// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/onednn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "codegen/library_bound.h"
#include "core/runtime/parallel.h"
#include "core/runtime/plan.h"
#include "core/support/error.h"

extern "C" {
// Of the OpenMP runtime that oneDNN brings; weak, because the build with std::thread has none of its own.
__attribute__((weak)) int omp_get_max_threads(void);
__attribute__((weak)) void omp_set_num_threads(int threads);
}

namespace strata::library {
namespace {

/// Streams are not to be shared by threads.
dnnl::stream& engine_stream() {
  thread_local dnnl::stream stream(onednn_engine());
  return stream;
}

/// Calls oneDNN's C interface: the C++ one builds a hash map per call.
class OnednnStep : public Step {
 public:
  OnednnStep(dnnl::primitive primitive, std::vector<OnednnArg> args, std::string text)
      : primitive_(std::move(primitive)), described_(std::move(args)), text_(std::move(text)) {}

  void share(OnednnMemories& memories) override {
    for (const OnednnArg& a : described_) {
      memories_.push_back(memories.get(a.desc, memories_));
      args_.push_back({a.id, memories_.back()->memory.get()});
      slots_.push_back(a.slot);
    }
    described_ = {};
  }

  void run(const StepArgs& args) override {
    for (size_t i = 0; i < args_.size(); ++i) {
      std::byte* p = args.at(slots_[i]);
      if (p == memories_[i]->address) continue;
      dnnl_memory_set_data_handle(args_[i].memory, p);
      memories_[i]->address = p;
    }
    const OmpThreads threads(args.threads);
    note_threads_used(args.threads);
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), engine_stream().get(), static_cast<int>(args_.size()), args_.data());
    if (status != dnnl_success)
      throw_runtime(fmt::format("oneDNN failed with status {} in {}", static_cast<int>(status), text_));
  }
  std::string describe() const override { return text_; }

 private:
  dnnl::primitive primitive_;
  std::vector<OnednnArg> described_;  // until they are shared
  std::vector<std::shared_ptr<OnednnMemories::Memory>> memories_;
  std::vector<dnnl_exec_arg_t> args_;
  std::vector<Slot> slots_;
  std::string text_;
};

std::string dims_text(const dnnl::memory::desc& desc) { return fmt::format("[{}]", fmt::join(desc.dims(), ", ")); }

struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha, beta;
};

/// One or two element-wise operations that make up the PostOp.
std::vector<Eltwise> eltwise_of(const ResultOp& op) {
  const auto a = static_cast<float>(op.alpha), b = static_cast<float>(op.beta);
  using A = dnnl::algorithm;
  switch (op.kind) {
    case PostOp::Kind::Relu:
      return {{A::eltwise_relu, 0, 0}};
    case PostOp::Kind::GeluErf:
      return {{A::eltwise_gelu_erf, 0, 0}};
    case PostOp::Kind::GeluTanh:
      return {{A::eltwise_gelu_tanh, 0, 0}};
    case PostOp::Kind::Tanh:
      return {{A::eltwise_tanh, 0, 0}};
    case PostOp::Kind::Sigmoid:
      return {{A::eltwise_logistic, 0, 0}};
    case PostOp::Kind::Silu:
      return {{A::eltwise_swish, 1, 0}};
    case PostOp::Kind::HardSwish:
      return {{A::eltwise_hardswish, 0, 0}};
    // This version has no hard sigmoid.
    case PostOp::Kind::HardSigmoid:
      return {{A::eltwise_linear, 1.0f / 6, 0.5f}, {A::eltwise_clip, 0, 1}};
    case PostOp::Kind::Elu:
      return {{A::eltwise_elu, a, 0}};
    case PostOp::Kind::Clamp:
      return {{A::eltwise_clip, a, b}};
    case PostOp::Kind::Linear:
      return {{A::eltwise_linear, a, b}};
    default:
      return {};
  }
}

/// The kernels of this version keep one set of parameters per algorithm: a second use with others would silently take
/// the first one's.
bool clashes(const Eltwise& e, const std::vector<Eltwise>& used) {
  return std::any_of(used.begin(), used.end(), [&](const Eltwise& u) {
    return u.algorithm == e.algorithm && (u.alpha != e.alpha || u.beta != e.beta);
  });
}

/// The operand as the fast kernels take it: the result's own layout, dense along the channel, or one element.
std::optional<View> binary_operand(const View& operand, const View& result, size_t channel) {
  if (!onednn_dtype(operand.dtype)) return std::nullopt;
  View v = operand;
  bool same = true, along_channel = true;
  for (size_t d = 0; d < v.rank(); ++d) {
    if (v.strides[d] == 0) v.shape[d] = 1;
    if (v.shape[d] != result.shape[d] || (v.shape[d] > 1 && v.strides[d] != result.strides[d])) same = false;
    if (v.shape[d] != 1 && (d != channel || v.strides[d] != 1)) along_channel = false;
  }
  if (same) {
    v.strides = result.strides;
    return v;
  }
  if (!along_channel) return std::nullopt;
  v.strides = contiguous_strides(std::span<const int64_t>(v.shape));
  return v;
}

}  // namespace

OmpThreads::OmpThreads(int threads) {
#ifdef STRATA_STD_THREADS
  threads = 1;
#endif
  if (!omp_get_max_threads || !omp_set_num_threads) return;
  before_ = omp_get_max_threads();
  changed_ = before_ != threads;
  if (changed_) omp_set_num_threads(threads);
}

OmpThreads::~OmpThreads() {
  if (changed_) omp_set_num_threads(before_);
}

/// Without being asked it tells VTune of every kernel that it makes, which takes as long as making a small one.
static void stop_jit_profiling() {
  if (!std::getenv("ONEDNN_JIT_PROFILE") && !std::getenv("DNNL_JIT_PROFILE"))
    static_cast<void>(dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE));
}

dnnl::engine& onednn_engine() {
  static dnnl::engine engine = [] {
    stop_jit_profiling();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

std::optional<dnnl::memory::data_type> onednn_dtype(DType dtype) {
  if (dtype == DType::F32) return dnnl::memory::data_type::f32;
  if (dtype == DType::BF16 && host_target().avx512) return dnnl::memory::data_type::bf16;
  return std::nullopt;
}

dnnl::memory::desc onednn_desc(const View& view) {
  return {dnnl::memory::dims(view.shape.begin(), view.shape.end()), *onednn_dtype(view.dtype),
          dnnl::memory::dims(view.strides.begin(), view.strides.end())};
}

std::shared_ptr<OnednnMemories::Memory> OnednnMemories::get(const dnnl::memory::desc& desc,
                                                            const std::vector<std::shared_ptr<Memory>>& taken) {
  std::lock_guard lock(mutex_);
  std::erase_if(memories_, [](const std::weak_ptr<Memory>& m) { return m.expired(); });
  const auto is_alike = [&](const Memory& m) {
    const dnnl_memory_desc_t* its = nullptr;
    return dnnl_memory_get_memory_desc(m.memory.get(), &its) == dnnl_success && dnnl_memory_desc_equal(its, &desc.data);
  };
  for (const std::weak_ptr<Memory>& known : memories_) {
    std::shared_ptr<Memory> m = known.lock();
    if (m && is_alike(*m) && std::find(taken.begin(), taken.end(), m) == taken.end()) return m;
  }
  auto made = std::make_shared<Memory>(Memory{dnnl::memory(desc, onednn_engine(), nullptr)});
  memories_.push_back(made);
  return made;
}

std::unique_ptr<Step> make_onednn_step(dnnl::primitive primitive, std::vector<OnednnArg> args, std::string text) {
  return std::make_unique<OnednnStep>(std::move(primitive), std::move(args), std::move(text));
}

std::unique_ptr<Step> make_onednn_reorder(const dnnl::memory::desc& from, Slot from_slot, const dnnl::memory::desc& to,
                                          Slot to_slot, ScratchPlan& scratch) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc pd(onednn_engine(), from, onednn_engine(), to, attr);
  std::vector<OnednnArg> args{{DNNL_ARG_FROM, from, from_slot}, {DNNL_ARG_TO, to, to_slot}};
  if (const auto size = pd.scratchpad_desc().get_size(); size > 0) {
    args.push_back({DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(), scratch.take(static_cast<int64_t>(size))});
  }
  return make_onednn_step(dnnl::reorder(pd), std::move(args),
                          fmt::format("reorder {} {}\n", pd.impl_info_str(), dims_text(to)));
}

bool add_onednn_eltwise(const ResultOp& op, const View& view, Instance& instance) {
  const std::vector<Eltwise> wanted = eltwise_of(op);
  int64_t reach = 1;
  for (size_t d = 0; d < view.rank(); ++d) reach += (view.shape[d] - 1) * view.strides[d];
  if (wanted.empty() || view.dtype != DType::F32 || reach != view.numel()) return false;
  const dnnl::memory::desc line({reach}, dnnl::memory::data_type::f32, dnnl::memory::dims{1});
  std::vector<std::unique_ptr<Step>> steps;
  for (const Eltwise& e : wanted) {
    const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, e.algorithm, line, e.alpha, e.beta);
    const dnnl::eltwise_forward::primitive_desc pd(desc, onednn_engine(), /*allow_empty=*/true);
    if (pd.get(true) == nullptr || !onednn_is_fast(pd.impl_info_str())) return false;
    steps.push_back(make_onednn_step(dnnl::eltwise_forward(pd),
                                     {{DNNL_ARG_SRC, line, view.slot}, {DNNL_ARG_DST, line, view.slot}},
                                     fmt::format("{} {}\n", to_string(op.kind), pd.impl_info_str())));
  }
  for (auto& step : steps) instance.steps.push_back(std::move(step));
  instance.drops_nan = instance.drops_nan || drops_nan(op.kind);
  return true;
}

OnednnAttr onednn_attr(const std::vector<ResultOp>& ops, const View& result, size_t channel, size_t most) {
  OnednnAttr made;
  dnnl::post_ops post;
  std::vector<Eltwise> used;
  for (const ResultOp& op : ops) {
    if (made.taken >= most || op.apart || post.len() + 2 > 32) break;
    if (!op.has_operand()) {
      const std::vector<Eltwise> wanted = eltwise_of(op);
      if (std::any_of(wanted.begin(), wanted.end(), [&](const Eltwise& e) { return clashes(e, used); })) break;
      for (const Eltwise& e : wanted) post.append_eltwise(1.0f, e.algorithm, e.alpha, e.beta);
      used.insert(used.end(), wanted.begin(), wanted.end());
      made.drops_nan = made.drops_nan || drops_nan(op.kind);
      ++made.taken;
      continue;
    }
    const std::optional<View> operand = binary_operand(op.operand, result, channel);
    if (!operand) break;
    const dnnl::memory::desc desc = onednn_desc(*operand);
    made.args.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(post.len()) | DNNL_ARG_SRC_1, desc, operand->slot});
    post.append_binary(op.kind == PostOp::Kind::Add   ? dnnl::algorithm::binary_add
                       : op.kind == PostOp::Kind::Sub ? dnnl::algorithm::binary_sub
                                                      : dnnl::algorithm::binary_mul,
                       desc);
    ++made.taken;
  }
  made.attr.set_post_ops(post);
  made.attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return made;
}

bool onednn_is_fast(const char* implementation) {
  return std::string_view(implementation).find("ref") == std::string_view::npos;
}

std::shared_ptr<dnnl::memory> PackedConstants::find(const void* key, const dnnl::memory::desc& as) const {
  for (const Entry& e : entries_)
    if (e.key == key && e.memory->get_desc() == as) return e.memory;
  return nullptr;
}

std::shared_ptr<dnnl::memory> PackedConstants::get(const void* key, const dnnl::memory::desc& from,
                                                   const dnnl::memory::desc& to, const Slot& source) {
  std::lock_guard lock(mutex_);
  if (auto known = find(key, to)) return known;
  if (!source.fixed) throw NotPacked{};
  auto packed = std::make_shared<dnnl::memory>(to, onednn_engine());
  dnnl::memory plain(from, onednn_engine(), source.resolve(nullptr, nullptr));
  dnnl::reorder(plain, *packed).execute(engine_stream(), plain, *packed);
  engine_stream().wait();
  entries_.push_back({key, packed});
  return packed;
}

std::shared_ptr<dnnl::memory> PackedConstants::make(const void* key, int64_t floats,
                                                    const std::function<void(float*)>& fill) {
  const dnnl::memory::desc as({floats}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  std::lock_guard lock(mutex_);
  if (auto known = find(key, as)) return known;
  auto made = std::make_shared<dnnl::memory>(as, onednn_engine());
  fill(static_cast<float*>(made->get_data_handle()));
  entries_.push_back({key, made});
  return made;
}

std::function<void(std::byte*)> onednn_unpack(std::shared_ptr<dnnl::memory> packed, const dnnl::memory::desc& plain) {
  const dnnl::memory::desc from = packed->get_desc();
  const dnnl::reorder::primitive_desc pd(onednn_engine(), from, onednn_engine(), plain, {}, /*allow_empty=*/true);
  if (pd.get(true) == nullptr) return {};
  return [packed = std::move(packed), plain](std::byte* to) {
    dnnl::memory result(plain, onednn_engine(), to);
    dnnl::reorder(*packed, result).execute(engine_stream(), *packed, result);
    engine_stream().wait();
  };
}

size_t PackedConstants::bytes() const {
  std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const Entry& e : entries_) total += e.memory->get_desc().get_size();
  return total;
}

}  // namespace strata::library
