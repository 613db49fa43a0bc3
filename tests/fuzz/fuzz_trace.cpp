// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Opens any bytes as a trace and asks everything: only strata::Error may come out.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/support/error.h"
#include "core/trace/database.h"
#include "core/trace/reader.h"
#include "core/trace/writer.h"
#include "tests/trace/walk_trace.h"

using namespace strata;
using namespace strata::trace;

namespace {

/// A file in memory where there is such a place. SQLite resolves links, so a memfd cannot be given to it by name.
const std::string& scratch_path() {
  static const std::string path = [] {
    const char* folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    return std::string(folder) + "/strata-fuzz-" + std::to_string(getpid()) + ".strata";
  }();
  static const int at_exit = std::atexit([] { unlink(scratch_path().c_str()); });
  (void)at_exit;
  return path;
}

/// A closed trace, as the start from which the fuzzer's bytes differ.
std::string sample_trace() {
  const std::string path = scratch_path() + ".sample";
  {
    Writer writer(path);
    CompileRecord compile;
    compile.address = "0/0";
    const Id id = writer.add(compile);
    std::vector<NodeRecord> nodes(6);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].id = static_cast<NodeId>(i) + 1;
      nodes[i].target = "aten.sin";
      nodes[i].inputs = {{1}, {2, 3}};
      nodes[i].stack = writer.stack(std::vector<SourceLocation>{{"m.py", 3, "f", "x.sin()"}});
    }
    SnapshotRecord snapshot;
    snapshot.compile = id;
    snapshot.stage = "captured";
    writer.add(snapshot, nodes);
    nodes.pop_back();
    writer.add(snapshot, nodes);
    writer.add(OriginRecord{id, 2, 1, "replaced", "r", true});
    KernelRecord kernel;
    kernel.compile = id;
    kernel.nodes = {1, 2};
    const Id k = writer.add(kernel);
    writer.add(ArtifactRecord{kNone, {OwnerKind::Kernel, k, id}, "cpp", "k", 0, "int x;\n", {{1, 1, {2}}}});
    EventRecord event;
    event.run = writer.add(RunRecord{});
    event.kernel = k;
    writer.add(event);
    writer.close();
  }
  // Small pages make a small file, and that makes many runs.
  Database(path, Database::Mode::ReadWrite, path).execute("PRAGMA page_size = 512; VACUUM");
  std::string bytes;
  if (FILE* file = fopen(path.c_str(), "rb")) {
    char block[4096];
    for (std::size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) bytes.append(block, n);
    fclose(file);
  }
  unlink(path.c_str());
  return bytes;
}

/// Where the sample has something: most of its pages are nearly empty.
std::vector<std::size_t> used_offsets(const std::string& bytes) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) offsets.push_back(i);
  }
  return offsets;
}

/// The input is edits to a valid trace (place: 2 bytes, length: 1 byte, then the bytes), or, when it begins with the
/// magic of SQLite, a file of its own. Random bytes alone would hardly get past the first page.
std::string file_content(const std::uint8_t* data, std::size_t size) {
  static const std::string sample = sample_trace();
  static const std::vector<std::size_t> used = used_offsets(sample);
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (input.rfind("SQLite format 3", 0) == 0) return input;
  std::string bytes = sample;
  for (std::size_t at = 0; at + 3 <= size;) {
    std::size_t offset = used[static_cast<std::size_t>(data[at] | data[at + 1] << 8) % used.size()];
    std::size_t length = data[at + 2] % 16;
    for (at += 3; length > 0 && at < size && offset < bytes.size(); --length) bytes[offset++] = input[at++];
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = file_content(data, size);
  FILE* file = fopen(scratch_path().c_str(), "wb");
  if (!file) return 0;
  const bool written = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (fclose(file) != 0 || !written) return 0;
  try {
    Reader reader(scratch_path());
    TraceWalker(reader).walk();
  } catch (const Error&) {
  }
  return 0;
}
