// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The emitter behind `emit_kernel`, split over `loop_llvm.cpp` (the function and its rows), `loop_nest.cpp` (points
/// and nests), `loop_value.cpp` (instructions), `loop_access.cpp` (indices, loads, stores), `loop_reduce.cpp`
/// (reductions), `loop_check.cpp` (checks of data), `loop_turn.cpp` (tiles of transposes).
///
/// Each open loop has a *hoist block* that dominates its body; an instruction is placed at the end of the hoist block
/// of the level it depends on, or, at the innermost open level, where the builder stands. So invariant work leaves the
/// loops without any analysis of aliasing. A value that differs between lanes is a vector of `lanes_` (a plain scalar
/// where `lanes_` is 1); all others are scalars and are spread over the lanes where they meet a vector. Symbols of axes
/// map to the index of lane 0.

#include <llvm/IR/DIBuilder.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "codegen/llvm_math.h"
#include "codegen/loop_dependence.h"
#include "codegen/loop_llvm.h"

namespace strata::codegen {

class KernelEmitter {
 public:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;

  KernelEmitter(llvm::Module& module, const KernelPlan& plan, const Target& target);
  llvm::Function* emit(const std::string& name, bool lines);

 private:
  /// Where the lanes of an access are: one place, `base + lane * stride`, or anywhere.
  struct Address {
    enum class Kind : uint8_t { Uniform, Strided, Anywhere } kind = Kind::Uniform;
    Value* base = nullptr;        ///< element index of lane 0
    std::optional<int64_t> step;  ///< constant stride
    Value* stride = nullptr;      ///< stride if it is no constant
    Value* indices = nullptr;     ///< Anywhere: one index per lane
  };
  /// Accumulators of one reduction: one alloca per result.
  using Accumulator = std::vector<llvm::AllocaInst*>;
  using Results = std::vector<Value*>;
  /// Loads that are read row by row and transposed: a vector along the lanes for each row of a square.
  using Turned = std::vector<std::pair<loop::ScalarId, std::vector<Value*>>>;

  enum class Cache : uint8_t { First = 3, Second = 2 };  ///< numbers of LLVM's prefetch

  // Loops (loop_llvm.cpp).
  void open_function(const std::string& name);
  void attach_lines(const std::string& name);
  void load_arguments();
  void emit_rows();
  void finish_function();
  void emit_points(Value* low, Value* high);
  void emit_point_vectors(Value* low, Value* high);
  void emit_point();
  void emit_late_points(Value* low, Value* high);  // loop_late.cpp, with what follows
  void emit_early_nests();
  void emit_late_body(size_t copy);
  Value* late_is_aligned();
  std::vector<loop::ScalarId> needs_of_late() const;
  void emit_nests(size_t count);
  void emit_nest(size_t n);
  void emit_inner(size_t position);
  void emit_lane_loops();
  void only_before(Value* extent, Value* i);
  void fetch_ahead(size_t copy);
  Value* divide_by_one(const loop::Scalar& s);
  void allow_contraction();
  bool is_part_of_sum(const loop::Scalar& s) const;
  bool is_share(const loop::Scalar& s) const;
  void fetch_streams();
  bool begins_cache_line(size_t copy, uint64_t quarters, size_t bytes) const;
  void fetch_squares(Value* rows);
  std::vector<std::pair<loop::BufferId, Value*>> lines_of_next_tile(unsigned square);
  void prefetch(loop::BufferId buffer, Value* index, Cache into);
  void emit_tiles();
  void emit_squares(Value* low, Value* rows, Value* points);
  void emit_whole_tiles(Value* low, Value* rows, Value* first, unsigned squares);
  Value* tile_is_aligned();
  Value* bits_past_vector(loop::BufferId buffer, Value* index, Value* pitch = nullptr);
  Value* points_are_aligned(Value* low);
  void emit_part_tiles(Value* low, Value* rows, Value* points, Value* first);
  void emit_tile_in_runs(Value* rows, Value* points);  // loop_run.cpp, with what follows
  void make_runs(int64_t lines);
  Value* runs_are_aligned();
  Value* line_in_run(size_t store, Value* line);
  void put_in_run(const loop::Store& s);
  void store_run(size_t store, Value* from, Value* points);
  void store_whole_run(size_t store, Value* from, const std::function<void()>& then);
  void store_cache_line(loop::BufferId buffer, Value* from, Value* to, Value* at);
  void begin_pace();
  Value* paced(Value* index);
  void end_pace(Value* index);
  void fetch_next_tile(Value* line, Value* points, Value* turned);
  void emit_tile_in_strips(Value* rows, Value* points);  // loop_strip.cpp, with what follows
  void find_next_strip(Value* rows, Value* points);
  std::vector<std::pair<loop::BufferId, Value*>> lines_of_next_strip(Value* row, Value* lane);
  void begin_next_page();
  void fetch_next_page(int64_t part, int64_t parts);
  void store_and_fetch();
  void store_lines(Value* end);
  void store_line(Value* line, bool whole, const std::function<void()>& then);
  void at_lines(const std::function<void()>& code);
  Turned turned_square();
  void emit_turned_row(const Turned& turned, Value* first, unsigned r);
  std::vector<Value*> turned_rows(const loop::Scalar& s);
  void turn(std::vector<Value*>& square, size_t bytes);
  void emit_body(size_t copy);
  /// `emit` for each copy of a body, in copies that take their steps in turn if they `weave` (loop_weave.cpp).
  void side_by_side(int copies, bool weave, const std::function<void(int)>& emit);
  void emit_store_list();
  /// `for (i = low; i + step <= high; i += step)`, or with `partial` `i < high`; returns the first index not done.
  Value* loop(Value* low, Value* high, int64_t step, bool partial, int level, const char* name,
              const std::function<void(Value*)>& body);
  Value* end_of_steps(Value* low, Value* high, int64_t step);
  /// The same over the nest's axis `axis`, which may be gone through in blocks (`NestPlan::block`).
  Value* axis_loop(size_t axis, Value* low, Value* high, int64_t step, bool partial, int level, const char* name,
                   const std::function<void(Value*)>& body);
  void forget(int level);
  Block* block(const char* name);
  void go(Block* to) { b_.CreateBr(to); }
  void begin_hoist(int level, const char* name);
  void set_insert(int level);
  void set_line(uint64_t node);

  // Instructions.
  Value* emit_scalar(loop::ScalarId id);
  Value* compute(const loop::Scalar& s, bool vector);
  Value* get(loop::ScalarId id);
  Value* get(loop::ScalarId id, bool vector);
  bool vector(loop::ScalarId id) const { return lanes_ > 1 && dep_.varies(id); }

  // Indices and memory (loop_access.cpp).
  Value* constant(int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); }
  Value* expression(const SymInt& e);
  std::pair<int, Value*> term_value(const SymTerm& term);
  std::pair<int, Value*> factor_value(const SymAtomView& factor);
  int factor_level(const SymAtomView& factor) const;
  Value* call_value(const SymAtomView& factor, Value* a, Value* b);
  Value* scaled_value(const SymAtomView& factor, Value* size);
  Value* lane_expression(const SymInt& e, llvm::Type* element);
  Value* in_32_bits(loop::ScalarId id);
  Value* lane_factor(const SymAtomView& factor, llvm::Type* element);
  Value* symbol_value(size_t symbol);
  Value* lane_numbers(llvm::Type* element);
  bool fits_int32(const SymInt& e) const;
  Address address(const SymInt& e, loop::BufferId buffer);
  Value* pointer(loop::BufferId buffer, Value* index);
  Value* pointers(loop::BufferId buffer, const Address& a);
  Value* both(Value* mask_a, Value* mask_b);
  Value* lane_mask(loop::ScalarId mask);
  Value* emit_load(const loop::Scalar& s, bool vector);
  Value* load_uniform(const loop::Scalar& s, const Address& a, bool vector);
  Value* load_lanes(loop::BufferId buffer, const Address& a, Value* mask);
  Value* load_contiguous(loop::BufferId buffer, const Address& a, Value* mask, bool reversed,
                         Value* condition = nullptr);
  Value* load_masked(llvm::FixedVectorType* type, Value* place, llvm::Align align, Value* mask);
  Value* load_interleaved(loop::BufferId buffer, const Address& a, Value* mask);
  Value* spread(Value* mask, unsigned step, unsigned v);
  Value* gather(loop::BufferId buffer, Value* addresses, Value* mask);
  void emit_store(const loop::Store& s);
  void store_scalar(const loop::Store& s, const Address& a, Value* value);
  void store_lanes(const loop::Store& s, const Address& a, Value* value);
  void store_vector(loop::BufferId buffer, Value* v, Value* place);
  void store_rest(loop::BufferId buffer, Value* v, Value* place);
  void in_two_ways(Value* condition, const std::function<void(bool)>& emit);
  void store_each_lane(const loop::Store& s, Value* addresses, Value* value, Value* mask);
  void write_scalar(const loop::Store& s, Value* address, Value* value);
  Value* stored_form(const loop::Store& s, Value* value, Value* old);
  Value* reverse(Value* v);
  llvm::AllocaInst* at_entry(llvm::Type* type, const char* name, Value* count = nullptr);
  Value* zeros();
  Value* sink();
  llvm::Align align_of(loop::BufferId buffer) const { return llvm::Align(dtype_size(k_.buffers[buffer].dtype)); }

  // Reductions (loop_reduce.cpp).
  void open_reductions(size_t copies, bool rest_is_scalar);
  void reset_reductions();
  Accumulator make_accumulator(const loop::Reduction& r, unsigned lanes);
  Results identity(const loop::Reduction& r, unsigned lanes);
  void accumulate(size_t reduction, size_t copy);
  Results step(const loop::Reduction& r, const Results& acc, Value* value, Value* position);
  Results welford_step(const Results& acc, Value* value, llvm::AllocaInst* counter);
  bool counts_alike(const loop::Reduction& r) const;
  Results combine(const loop::Reduction& r, const Results& a, const Results& b);
  Results better(const loop::Reduction& r, const Results& a, const Results& b);
  Results later(const loop::Reduction& r, const Results& a, const Results& b);
  std::optional<SymInt> first_position(const loop::Reduction& r) const;
  Value* position_of(const loop::Reduction& r);
  Results merge_welford(const Results& a, const Results& b);
  Results sum_exp_step(const loop::Reduction& r, const Results& acc, Value* value);
  bool asks_for_numbers_only() const;
  Value* exponential(const loop::Reduction& r, Value* x);
  Results close_sum_exp(size_t reduction);
  Results load_accumulator(const Accumulator& acc);
  Results across_lanes(const loop::Reduction& r, Results results);
  std::pair<Value*, Value*> halves(Value* v);
  Value* extremum_across(Value* v, bool largest);
  Value* extremum_of_numbers(Value* v, bool largest);
  Value* larger(Value* a, Value* b);
  Results merged_copies(size_t reduction);
  Results merged_copies(size_t reduction, const std::function<Results(const Results&, const Results&)>& merge);
  void end_block(size_t reduction);
  void clear_copies(size_t reduction, size_t sum);
  void close_reductions();

  // Mean and variance of a line in one pass (loop_moments.cpp).
  void find_middles();
  Value* value_at(loop::ScalarId id, Value* index);
  Results moments_step(const Results& acc, Value* value, llvm::AllocaInst* place);
  Results moments(size_t reduction);
  Results moments_of_copies(size_t reduction);
  void end_block_of_moments(size_t reduction);
  void finish_moments();
  void finish_moments(size_t reduction);
  Value* sum_of_line(size_t reduction, Value* mean);

  // The largest of a line, guessed (loop_guess.cpp).
  const Shares* guess_of(size_t Shares::* nest) const;
  Value* guessed_largest();
  void guess_largest();
  void begin_sum();
  void look_for_larger(size_t copy);
  void take_largest();
  void emit_between(const Shares& shares);
  void where_rare(Value* condition, const std::function<void()>& emit);
  bool guesses_sum() const;
  void guess_sum();
  Results guessed_step(const Results& acc, Value* value);
  void finish_sum();
  void add_up_again(const Shares& shares);

  // Checks (loop_check.cpp).
  llvm::AllocaInst* violation_place(int64_t check, llvm::Type* type);
  Value* emit_check(const loop::Scalar& s, bool vector);
  void tell_violations();

  /// A number near the mean, known before the loop over the line, and what is known after it; or null.
  struct Moments {
    llvm::AllocaInst *middle = nullptr, *mean = nullptr, *distances = nullptr;
    std::array<llvm::AllocaInst*, 2> of_blocks{};  ///< sums of the blocks that have ended, or null
  };

  /// What is subtracted instead of the largest number of a line, and how much larger those of it are, per copy.
  struct Guess {
    llvm::AllocaInst* largest = nullptr;
    std::vector<llvm::AllocaInst*> larger;
  };

  /// Of a sum of exponentials: the guess, and what is known after the loop; or null.
  struct ExponentialSum {
    llvm::AllocaInst *guess = nullptr, *largest = nullptr, *sum = nullptr;
  };

  /// What a load reads in the next tile, row by row.
  struct NextPage {
    loop::BufferId buffer = 0;
    Value* to_next_row = nullptr;                       ///< elements, from behind a row's part
    Value* at = nullptr;                                ///< between two squares: the line whose turn it is
    llvm::AllocaInst *line = nullptr, *left = nullptr;  ///< the next cache line's last element; lines left of its row
  };

  /// Of a tile whose lines are stored strip by strip (loop_strip.cpp).
  struct Strip {
    Value* points = nullptr;             ///< of a line of the tile
    Value* whole = nullptr;              ///< each line is one run, and begins with a cache line
    Value* begin = nullptr;              ///< first line of the strip at work
    Value* to_scratch = nullptr;         ///< from a line's number to that among the lines in scratch
    Value* square = nullptr;             ///< that number of a square's first row, while its rows are put there
    unsigned row = 0;                    ///< the square's row at work
    llvm::AllocaInst* stored = nullptr;  ///< the first line of the tile that is not stored yet
    Value *next_line = nullptr, *next_lane = nullptr;  ///< without pages: where in the tile the next strip begins
    std::vector<NextPage> next;                        ///< of pages: for each load that is fetched ahead
  };

  /// The last nest's own view of the point before (loop_late.cpp).
  struct Late {
    size_t host = 0;                    ///< the nest that takes it along
    Value* point = nullptr;             ///< that point; null: there is none
    std::vector<loop::ScalarId> needs;  ///< instructions of other nests
    std::unordered_map<loop::ScalarId, Value*> values;
    std::map<std::tuple<size_t, size_t, size_t>, Value*> reduced;
    std::map<std::tuple<size_t, size_t, size_t>, llvm::AllocaInst*> kept;  ///< results of reductions
  };

  llvm::Module& module_;
  const KernelPlan& plan_;
  const loop::Kernel& k_;
  const Target& target_;
  Dependence dep_;
  llvm::IRBuilder<> b_;
  MathEmitter math_;
  llvm::Function* f_ = nullptr;
  llvm::DISubprogram* scope_ = nullptr;
  std::unordered_map<uint64_t, unsigned> line_of_;

  std::vector<Value*> buffers_;
  std::unordered_map<size_t, Value*> symbols_;
  std::unordered_map<loop::ScalarId, Value*> values_;
  std::map<std::tuple<size_t, size_t, size_t>, Value*> reduced_;
  std::vector<Block*> hoist_;
  Value* zeros_ = nullptr;
  std::vector<llvm::AllocaInst*> runs_;  ///< per store: lines that are put together
  bool puts_in_runs_ = false;            ///< stores go there
  llvm::AllocaInst* fetched_ = nullptr;  ///< 0, once what was to be fetched before is on its way
  Value* one_ = nullptr;                 ///< 1, of which the compiler knows nothing
  Strip strip_;
  Value* sink_ = nullptr;
  std::map<std::tuple<int64_t, unsigned, unsigned>, llvm::AllocaInst*> violations_;  ///< by check, bits and lanes

  Late late_;
  size_t nest_ = 0;
  int depth_ = 0;
  unsigned lanes_ = 1;
  std::optional<bool> aligned_;                           ///< of vectors that go past the caches; nothing: ask each
  Value* active_ = nullptr;                               ///< lanes that count; null: all
  Value* active_count_ = nullptr;                         ///< how many (i32): the first ones
  unsigned rest_ = 0;                                     ///< the same where a line's length tells, else 0
  std::vector<std::vector<Accumulator>> accumulators_;    ///< per copy, per reduction
  std::vector<std::vector<llvm::AllocaInst*>> counters_;  ///< the same: elements so far, where all lanes saw as many
  std::vector<llvm::AllocaInst*> totals_;                 ///< per reduction: sums of blocks, in float64; or null
  std::vector<Moments> moments_;                          ///< per reduction
  Guess guess_;
  ExponentialSum sum_;
  bool once_more_ = false;         ///< a line is gone through again: nothing else goes along
  size_t scalar_copy_ = SIZE_MAX;  ///< the copy that the scalar rest of a loop uses
  bool equal_counts_ = false;      ///< all partial results being merged are of equally many elements
  std::vector<char> accumulated_;
  size_t copy_ = 0;
};

}  // namespace strata::codegen
