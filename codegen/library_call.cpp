// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/library_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <list>
#include <optional>

#include "codegen/library_attention.h"
#include "codegen/library_copy.h"
#include "codegen/library_fallback.h"
#include "codegen/onednn.h"
#include "codegen/panel_convolution.h"
#include "codegen/panel_matmul.h"
#include "codegen/pointwise_convolution.h"
#include "codegen/small_matmul.h"
#include "codegen/transposed_convolution.h"
#include "codegen/winograd_convolution.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::library {
namespace {

constexpr size_t kInstances = 32;

class Kernel : public LibraryKernel {
 public:
  Kernel(const LibraryCall& call, std::span<const Tensor* const> constants, const CompileOptions& options,
         std::shared_ptr<Scratch> scratch, bool aliased, KnownBounds bounds, LibraryChoice choice)
      : call_(call),
        constants_(constants.begin(), constants.end()),
        prepack_(options.prepack),
        scratch_(std::move(scratch)),
        aliased_(aliased),
        bounds_(std::move(bounds)),
        choice_(choice) {
    check();
    collect_symbols();
    if (const std::optional<SymBindings> first = first_sizes())
      entry_for(*first, options.threads > 0 ? options.threads : thread_count());
  }

  void run(const LaunchArgs& args) override {
    Entry& entry = last_ && matches(*last_, args) ? *last_ : entry_for(args.symbols, args.threads);
    Instance& instance = choose(entry, args);
    instance.run({args.buffers, scratch_of(entry, instance, args), args.threads});
  }

  int64_t scratch_bytes(const SymBindings& symbols, int threads) override {
    Entry& entry = entry_for(symbols, threads);
    return entry.placed = entry.instance.scratch.bytes();
  }
  void expect_scratch() override { expects_scratch_ = true; }

  bool can_release(int buffer) const override {
    if (call_.operands.size() < 2 || call_.operands[1].buffer != buffer || converted_weight_.defined()) return false;
    for (size_t i = 0; i < call_.operands.size(); ++i)
      if (i != 1 && call_.operands[i].buffer == buffer) return false;
    return prepack_ && has_fixed_weight() && !entries_.empty() &&
           std::all_of(entries_.begin(), entries_.end(), [](const Entry& e) { return bool(e.instance.unpack); });
  }
  void release(int) override {
    unpack_ = entries_.front().instance.unpack;
    if (entries_.front().check) weight_magnitude_ = entries_.front().check->constant_magnitude(1);
  }

  std::vector<SymInt> strides_of(size_t buffer) const override {
    return call_.result.buffer == static_cast<int>(buffer) ? call_.result.strides : std::vector<SymInt>{};
  }

  std::string describe() const override {
    std::string text;
    if (!last_) return "sizes are not known before the first run\n";
    for (const auto& step : last_->instance.steps) text += step->describe();
    if (last_->instance.drops_nan) text += "  runs unfused where a NaN is possible\n";
    if (!last_->exact) return text.empty() ? "nothing to do\n" : text;
    text += "unfused:\n";
    for (const auto& step : last_->exact->steps) text += step->describe();
    return text.empty() ? "nothing to do\n" : text;
  }

 private:
  /// What was built for one binding of the size symbols.
  struct Entry {
    std::vector<int64_t> key;
    int threads;
    Instance instance;
    std::unique_ptr<BoundCheck> check;  // null: nothing to prove and nobody to tell
    std::unique_ptr<Instance> exact;    // for when the check fails; made when it first does
    int64_t placed = 0;                 // bytes of scratch that its runs are given
  };

  void check() const;
  void collect_symbols();
  bool has_fixed_weight() const;
  std::optional<SymBindings> first_sizes() const;
  bool matches(const Entry& e, const LaunchArgs& args) const {
    if (e.threads != args.threads) return false;
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (args.symbols[symbols_[i]] != e.key[i]) return false;
    }
    return true;
  }
  Entry& entry_for(const SymBindings& symbols, int threads);
  void make(Entry& entry, const SymBindings& symbols);
  bool is_released() const { return unpack_ && !unpacked_.defined(); }
  void unpack();
  Instance make_instance(const SymBindings& symbols, int threads, bool keep_nan);
  Instance make_instance(const ConcreteCall& call);
  Instance& choose(Entry& entry, const LaunchArgs& args);
  std::byte* scratch_of(const Entry& entry, const Instance& instance, const LaunchArgs& args);
  bool is_little(const View& weight) const;
  Slot constant_slot(size_t operand, int64_t offset) const;
  View view(const LibraryOperand& operand, const SymBindings& symbols) const;
  ConcreteCall concrete(const SymBindings& symbols, int threads, bool keep_nan = false);
  bool build_fast(const ConcreteCall& call, Instance& instance);
  void build(const ConcreteCall& call, Instance& instance);
  void build_aside(const ConcreteCall& call, Instance& instance);
  void convert_constant_weight(ConcreteCall& call);

  const LibraryCall call_;
  std::vector<const Tensor*> constants_;
  bool prepack_;
  std::shared_ptr<Scratch> scratch_;
  bool aliased_;
  KnownBounds bounds_;
  LibraryChoice choice_;
  std::vector<size_t> symbols_;
  const ShapeEnv* env_ = nullptr;  // of the symbols
  PackedConstants packed_;
  Tensor converted_weight_;
  std::function<void(std::byte*)> unpack_;  // of a weight that has lost its memory
  std::optional<double> weight_magnitude_;  // the largest in it
  Tensor unpacked_;                         // the memory it has got again
  bool expects_scratch_ = false;
  std::list<Entry> entries_;  // most recently used first
  Entry* last_ = nullptr;
};

void Kernel::check() const {
  const std::vector<std::string> kinds{"matmul", "convolution", "convolution_transpose", "attention"};
  if (std::find(kinds.begin(), kinds.end(), call_.kind) == kinds.end()) {
    throw_internal("library call " + call_.name + " is of unknown kind '" + call_.kind + "'; " +
                   suggest(call_.kind, kinds));
  }
  const size_t needed = (call_.kind == "attention" ? 3 + call_.has_mask : 2 + call_.has_bias);
  if (call_.operands.size() < needed) {
    throw_internal(
        fmt::format("{} {} needs {} operands, found {}", call_.kind, call_.name, needed, call_.operands.size()));
  }
  const bool convolution = call_.kind.starts_with("convolution");
  const size_t spatial = convolution && call_.result.shape.size() > 2 ? call_.result.shape.size() - 2 : 0;
  if (convolution && (spatial < 1 || spatial > 3 || call_.stride.size() != spatial || call_.padding.size() != spatial ||
                      call_.dilation.size() != spatial || call_.groups < 1)) {
    throw_internal("convolution " + call_.name +
                   " needs 1 to 3 spatial dimensions with a stride, padding and dilation each");
  }
  const auto check_buffer = [&](const LibraryOperand& o) {
    if (o.buffer < 0 || static_cast<size_t>(o.buffer) >= constants_.size())
      throw_internal("library call " + call_.name + " names a buffer it does not have");
    if (o.shape.size() != o.strides.size())
      throw_internal("library call " + call_.name + " has an operand whose shape and strides differ in rank");
  };
  for (const LibraryOperand& o : call_.operands) check_buffer(o);
  check_buffer(call_.result);
}

void Kernel::collect_symbols() {
  const auto add = [&](const SymInt& e) {
    for (size_t id : free_symbols(e)) symbols_.push_back(id);
    if (!e.is_const()) env_ = e.env();
  };
  const auto add_all = [&](const LibraryOperand& o) {
    for (const SymInt& e : o.shape) add(e);
    for (const SymInt& e : o.strides) add(e);
    add(o.offset);
  };
  for (const LibraryOperand& o : call_.operands) add_all(o);
  add_all(call_.result);
  std::sort(symbols_.begin(), symbols_.end());
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end()), symbols_.end());
}

/// Whether the second operand lies the same for all sizes.
bool Kernel::has_fixed_weight() const {
  const LibraryOperand& w = call_.operands[1];
  const auto fixed = [](const SymInt& e) { return e.is_const(); };
  return w.offset.is_const() && std::all_of(w.shape.begin(), w.shape.end(), fixed) &&
         std::all_of(w.strides.begin(), w.strides.end(), fixed);
}

/// Sizes to build for ahead of the first run, if any: all there are; or those of the example where a weight can be
/// packed, so that its own memory is not needed longer than that takes.
std::optional<SymBindings> Kernel::first_sizes() const {
  if (symbols_.empty()) return SymBindings{};
  const bool packs = prepack_ && call_.kind != "attention" && call_.operands[1].constant &&
                     constants_[call_.operands[1].buffer] != nullptr;
  if (!packs || !has_fixed_weight()) return std::nullopt;
  SymBindings sizes(symbols_.back() + 1);
  for (size_t id : symbols_) {
    sizes[id] = env_->info(id).hint;
    if (!sizes[id]) return std::nullopt;
  }
  return sizes;
}

View Kernel::view(const LibraryOperand& operand, const SymBindings& symbols) const {
  const auto value = [&](const SymInt& e) { return evaluate_size(e, symbols, call_.name); };
  View v;
  v.dtype = operand.dtype;
  for (const SymInt& e : operand.shape) v.shape.push_back(value(e));
  for (const SymInt& e : operand.strides) v.strides.push_back(value(e));
  // Where there is one element the stride says nothing; a contiguous one keeps layouts recognisable.
  const std::vector<int64_t> dense = contiguous_strides(std::span<const int64_t>(v.shape));
  for (size_t d = 0; d < v.rank(); ++d) {
    if (v.shape[d] == 1) v.strides[d] = dense[d];
  }
  v.slot = {Slot::Kind::Buffer, operand.buffer, value(operand.offset) * static_cast<int64_t>(dtype_size(v.dtype)),
            nullptr};
  return v;
}

ConcreteCall Kernel::concrete(const SymBindings& symbols, int threads, bool keep_nan) {
  ConcreteCall c;
  c.call = &call_;
  c.threads = threads;
  c.keep_nan = keep_nan;
  for (const LibraryOperand& o : call_.operands) {
    View v = view(o, symbols);
    const Tensor* constant = constants_[o.buffer];
    const bool fixed = prepack_ && o.constant && constant;
    if (fixed) v.slot = constant_slot(c.operands.size(), v.slot.offset);
    c.constant.push_back(fixed && !(c.operands.size() == 1 && is_little(v)));
    c.operands.push_back(std::move(v));
  }
  c.result = view(call_.result, symbols);
  if (c.constant.size() > 1 && c.constant[1]) c.packed_key = constants_[call_.operands[1].buffer];
  convert_constant_weight(c);
  return c;
}

/// A weight that the first-level cache holds is multiplied with as it lies: packed, it would be there twice to save a
/// twentieth of a call.
bool Kernel::is_little(const View& weight) const {
  constexpr int64_t kFirstLevel = 32 << 10;
  return call_.kind == "matmul" && weight.dtype == DType::F32 &&
         weight.numel() * static_cast<int64_t>(sizeof(float)) <= kFirstLevel;
}

/// Where a constant lies; no address while it is released.
Slot Kernel::constant_slot(size_t operand, int64_t offset) const {
  if (operand != 1 || !unpack_)
    return {Slot::Kind::Fixed, 0, offset, constants_[call_.operands[operand].buffer]->data()};
  if (is_released()) return {Slot::Kind::Fixed, 0, 0, nullptr};
  return {Slot::Kind::Fixed, 0, offset, unpacked_.data()};
}

/// Memory again for a released weight: what is built next reads it where it lies, or packs it in another way.
void Kernel::unpack() {
  const View v = view(call_.operands[1], {});
  int64_t extent = 1;
  for (size_t d = 0; d < v.rank(); ++d) extent += (v.shape[d] - 1) * v.strides[d];
  unpacked_ = Tensor::empty(DType::U8, {v.slot.offset + extent * static_cast<int64_t>(dtype_size(v.dtype))});
  unpack_(unpacked_.data() + v.slot.offset);
}

/// A constant weight in a type that is not computed in becomes float32 once, instead of in each run.
void Kernel::convert_constant_weight(ConcreteCall& call) {
  View& w = call.operands[1];
  if (call_.kind == "attention" || !call.constant[1] || accumulation_dtype(w.dtype) != DType::F32 ||
      w.dtype == DType::F32)
    return;
  const bool kept = onednn_dtype(w.dtype) && call.operands[0].dtype == w.dtype;
  if (kept) return;
  Tensor source;
  source.dtype = w.dtype;
  source.shape = w.shape;
  source.strides = w.strides;
  source.storage = std::make_shared<Storage>();
  source.storage->data = w.slot.resolve(nullptr, nullptr);
  if (!converted_weight_.defined()) converted_weight_ = source.to(DType::F32);
  w.dtype = DType::F32;
  w.strides = converted_weight_.strides;
  w.slot = {Slot::Kind::Fixed, 0, 0, converted_weight_.data()};
}

/// By the library, or by kernels of ours that are faster where they take the call; false where neither does.
bool Kernel::build_fast(const ConcreteCall& call, Instance& instance) {
  if (call_.kind == "matmul")
    return build_small_matmul(call, packed_, instance) || build_large_matmul(call, packed_, instance);
  return build_transposed_convolution(call, packed_, instance) ||
         build_pointwise_convolution(call, packed_, instance) || build_winograd_convolution(call, packed_, instance) ||
         build_panel_convolution(call, packed_, instance) || build_onednn_convolution(call, packed_, instance);
}

void Kernel::build(const ConcreteCall& call, Instance& instance) {
  if (call.result.numel() == 0) return;
  if (call_.kind == "attention") return build_attention(call, instance);
  try {
    if (choice_ == LibraryChoice::Library && build_fast(call, instance)) return;
  } catch (const dnnl::error&) {
    // Sizes or layouts that it refuses late: our own kernels take them.
  }
  if (call_.kind == "matmul") return build_fallback_matmul(call, instance);
  build_fallback_convolution(call, instance);
}

/// Into memory of its own, then copied: primitives may write parts of a result before they have read all of an operand.
void Kernel::build_aside(const ConcreteCall& call, Instance& instance) {
  if (call.result.numel() == 0) return;
  ConcreteCall aside = call;
  auto memory = std::make_shared<const Tensor>(Tensor::empty(call.result.dtype, call.result.shape));
  aside.result.slot = {Slot::Kind::Fixed, 0, 0, memory->data()};
  aside.result.strides = memory->strides;
  build(aside, instance);
  instance.steps.push_back(make_copy(aside.result, call.result));
  instance.owned.push_back(std::move(memory));
}

Instance Kernel::make_instance(const ConcreteCall& call) {
  Instance made;
  const OmpThreads omp(call.threads);  // oneDNN divides the work when the primitive is made
  if (aliased_) {
    build_aside(call, made);
  } else {
    build(call, made);
  }
  for (const auto& step : made.steps) step->share(scratch_->memories());
  return made;
}

/// Of a released weight the packed copy may do. It does not for few rows, which are multiplied with the weight as it
/// lies, nor where the library wants it packed in another way.
Instance Kernel::make_instance(const SymBindings& symbols, int threads, bool keep_nan) {
  if (is_released()) {
    try {
      Instance made = make_instance(concrete(symbols, threads, keep_nan));
      if (made.unpack || made.steps.empty()) return made;
    } catch (const NotPacked&) {
    }
    unpack();
  }
  return make_instance(concrete(symbols, threads, keep_nan));
}

void Kernel::make(Entry& entry, const SymBindings& symbols) {
  entry.instance = make_instance(symbols, entry.threads, false);
  const bool tells = bounds_.cell(call_.result.buffer) != nullptr;
  if (call_.kind == "attention" || !(entry.instance.drops_nan || tells)) return;
  if (is_released() && !weight_magnitude_) unpack();
  const ConcreteCall call = concrete(symbols, entry.threads);
  if (call.result.numel() == 0) return;
  entry.check = std::make_unique<BoundCheck>(call, bounds_, is_released() ? weight_magnitude_ : std::nullopt);
  if (!entry.instance.drops_nan || entry.check->possible()) return;
  entry.instance = make_instance(symbols, entry.threads, true);
  entry.check.reset();
}

/// The fused instance where it gives what the call says, else the exact one; tells others what the result is bounded
/// by.
Instance& Kernel::choose(Entry& entry, const LaunchArgs& args) {
  double* told = bounds_.cell(call_.result.buffer);
  if (told) *told = std::numeric_limits<double>::infinity();
  if (!entry.check) return entry.instance;
  if (!entry.instance.drops_nan) {
    if (told) *told = entry.check->known_result();
    return entry.instance;
  }
  if (entry.check->passes({args.buffers, nullptr, args.threads})) {
    if (told) *told = entry.check->result();
    return entry.instance;
  }
  if (!entry.exact) entry.exact = std::make_unique<Instance>(make_instance(args.symbols, entry.threads, true));
  return *entry.exact;
}

/// The place that the executor has for it; memory of our own for calls without executor, and for what was not known
/// when places were given.
std::byte* Kernel::scratch_of(const Entry& entry, const Instance& instance, const LaunchArgs& args) {
  const int64_t bytes = instance.scratch.bytes();
  if (expects_scratch_ && bytes <= entry.placed) return args.buffers[constants_.size()];
  scratch_->reserve(bytes);
  return scratch_->data();
}

Kernel::Entry& Kernel::entry_for(const SymBindings& symbols, int threads) {
  std::vector<int64_t> key;
  for (size_t id : symbols_) {
    if (id >= symbols.size() || !symbols[id]) throw_internal("a size of library call " + call_.name + " is not bound");
    key.push_back(*symbols[id]);
  }
  auto it = std::find_if(entries_.begin(), entries_.end(),
                         [&](const Entry& e) { return e.threads == threads && e.key == key; });
  if (it == entries_.end()) {
    Entry entry{std::move(key), threads, {}, {}, {}, 0};
    make(entry, symbols);
    if (entries_.size() >= kInstances) entries_.pop_back();
    entries_.push_front(std::move(entry));
  } else {
    entries_.splice(entries_.begin(), entries_, it);
  }
  last_ = &entries_.front();
  return *last_;
}

}  // namespace

std::unique_ptr<LibraryKernel> compile_library_call(const LibraryCall& call, std::span<const Tensor* const> constants,
                                                    const CompileOptions& options, std::shared_ptr<Scratch> scratch,
                                                    bool aliased, KnownBounds bounds, LibraryChoice choice) {
  return std::make_unique<Kernel>(call, constants, options, std::move(scratch), aliased, std::move(bounds), choice);
}

}  // namespace strata::library
