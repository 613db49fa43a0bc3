// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Asks a reader everything it can answer. Damage throws from one question or another; the rest is asked all the same.

#include <algorithm>
#include <string>
#include <vector>

#include "core/support/error.h"
#include "core/trace/reader.h"

namespace strata::trace {

class TraceWalker {
 public:
  explicit TraceWalker(Reader& reader) : reader_(reader) {}

  /// Returns how many questions were refused with an error.
  int walk() {
    ask([&] { reader_.changed(), reader_.unfinished(), reader_.properties(), reader_.processes(), reader_.frames(); });
    ask([&] { reader_.graph_breaks(), reader_.metrics(), reader_.event_count(); });
    ask([&] { artifacts(); });
    ask([&] {
      for (const auto& file : first(reader_.source_files())) ask([&] { reader_.source_file(file.path); });
    });
    ask([&] {
      for (const auto& raw : first(reader_.raw_records())) ask([&] { reader_.raw_record(raw.id); });
    });
    ask([&] {
      for (const auto& run : first(reader_.runs())) ask([&] { reader_.events(run.id); });
    });
    ask([&] {
      for (const auto& compile : first(reader_.compiles())) walk_compile(compile.id);
    });
    return errors_;
  }

 private:
  template <class F>
  void ask(F&& question) {
    try {
      question();
    } catch (const Error&) {
      ++errors_;
    }
  }

  // Damage can make lists long; a few of each are enough.
  template <class T>
  static std::vector<T> first(std::vector<T> list) {
    list.resize(std::min<std::size_t>(list.size(), 8));
    return list;
  }

  void artifacts() {
    for (const auto& artifact : first(reader_.artifacts())) {
      ask([&] { reader_.artifact(artifact.id); });
      ask([&] { reader_.artifacts(artifact.owner), reader_.metrics(artifact.owner); });
    }
  }

  void walk_compile(Id id) {
    ask([&] { reader_.compile(id), reader_.passes(id), reader_.guards(id), reader_.symbols(id); });
    ask([&] { reader_.assumptions(id), reader_.fusions(id), reader_.buffers(id), reader_.launches(id); });
    ask([&] { reader_.edges(id), reader_.removals(id), reader_.rewrites(id), reader_.artifacts_of_compile(id); });
    ask([&] {
      for (const auto& kernel : first(reader_.kernels(id))) ask([&] { reader_.events_of_kernel(kernel.id); });
    });
    ask([&] {
      Id before = kNone;
      for (const auto& snapshot : first(reader_.snapshots(id))) {
        walk_snapshot(id, snapshot);
        if (before) ask([&] { reader_.diff(before, snapshot.id); });
        before = snapshot.id;
      }
    });
  }

  void walk_snapshot(Id compile, const SnapshotRecord& snapshot) {
    ask([&] { reader_.find_snapshot(compile, snapshot.stage); });
    ask([&] {
      for (const auto& node : first(reader_.nodes(snapshot.id))) walk_node(compile, node);
    });
  }

  void walk_node(Id compile, const NodeRecord& node) {
    ask([&] {
      reader_.history(compile, node.id), reader_.origins(compile, node.id), reader_.results(compile, node.id);
    });
    ask([&] { reader_.kernels_of_node(compile, node.id), reader_.fusions_of_node(compile, node.id); });
    ask([&] { reader_.rewrites_of_node(compile, node.id), reader_.removal(compile, node.id); });
    ask([&] {
      for (const auto& place : first(reader_.stack(node.stack))) reader_.nodes_at(compile, place.file, place.line);
    });
  }

  Reader& reader_;
  int errors_ = 0;
};

}  // namespace strata::trace
