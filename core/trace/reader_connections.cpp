// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <thread>

#include "core/trace/interrupt.h"
#include "core/trace/reader_impl.h"

namespace strata::trace {

namespace {
/// Each costs a few megabytes of caches.
constexpr std::size_t kMostConnections = 6;
}  // namespace

struct Reader::Connections::State {
  struct Own {
    std::shared_ptr<Impl> connection;  ///< null: takes turns on the first
    int generation = 0;
  };
  std::shared_ptr<Impl> first;
  std::thread::id opener = std::this_thread::get_id();
  std::mutex mutex;  ///< of what follows
  std::map<std::thread::id, Own> others;
  int generation = 0;
  bool detached = false;
  std::string signature;

  void look() {
    detached = first->file.detached();
    signature = first->file.signature();
  }
};

Reader::Connections::Connections(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  state_->first = std::make_shared<Impl>(path);
  state_->look();
}

Reader::Connections::~Connections() = default;

Reader::Impl& Reader::Connections::first() const { return *state_->first; }

void Reader::Connections::renew() {
  std::lock_guard lock(state_->mutex);
  ++state_->generation;
  state_->look();
}

std::shared_ptr<Reader::Impl> Reader::Connections::operator->() const {
  State& state = *state_;
  const std::thread::id self = std::this_thread::get_id();
  if (self == state.opener) return state.first;
  std::string signature;
  int generation = 0;
  {
    std::lock_guard lock(state.mutex);
    const auto known = state.others.find(self);
    if (known != state.others.end()) {
      const State::Own& own = known->second;
      // Within a call the connection stays, also when it is out of date. Only this thread counts on it.
      if (own.generation == state.generation || (own.connection && own.connection->in_use > 0))
        return own.connection ? own.connection : state.first;
    }
    if (known == state.others.end() && state.others.size() + 1 >= kMostConnections) return state.first;
    signature = state.detached ? std::string() : state.signature;
    generation = state.generation;
  }
  // Of a file that is gone, or replaced by another, the first connection still has the content.
  std::shared_ptr<Impl> made;
  try {
    if (!signature.empty()) made = std::make_shared<Impl>(first().path);
    if (made && (made->file.detached() || made->file.signature() != signature)) made.reset();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {
    made.reset();
  }
  std::lock_guard lock(state.mutex);
  state.others[self] = {made, generation};
  return made ? made : state.first;
}

}  // namespace strata::trace
