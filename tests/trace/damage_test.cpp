// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Older, newer, foreign, truncated and corrupt files.

#include "core/trace/database.h"
#include "core/trace/migrate.h"
#include "core/trace/schema.h"
#include "tests/trace/trace_testing.h"
#include "tests/trace/walk_trace.h"

namespace strata::trace {
namespace {

class Damage : public TraceTest {
 protected:
  /// A closed trace with a bit of everything that has an encoding of its own.
  void write_trace() {
    Writer writer(file());
    const Id compile = add_compile(writer);
    const Id stack = writer.stack(std::vector<SourceLocation>{{"m.py", 3, "forward", "x.sin()"}});
    std::vector<NodeRecord> nodes;
    for (NodeId id = 1; id <= 40; ++id) nodes.push_back(make_node(id, "aten.op" + std::to_string(id % 7), {id}));
    nodes[3].stack = stack;
    writer.add(stage(compile, "captured"), nodes);
    nodes.erase(nodes.begin() + 5);
    writer.add(stage(compile, "simplified"), nodes);
    writer.add(OriginRecord{compile, 3, 2, "replaced", "rule", true});
    KernelRecord kernel;
    kernel.compile = compile;
    kernel.nodes = {1, 2, 3};
    kernel.id = writer.add(kernel);
    writer.add(
        ArtifactRecord{kNone, {OwnerKind::Kernel, kernel.id, compile}, "cpp", "k", 0, "int main() {}", {{1, 1, {2}}}});
    EventRecord event;
    event.run = writer.add(RunRecord{});
    event.kernel = kernel.id;
    event.args = "{}";
    event.correlation = 4;
    for (int i = 0; i < 50; ++i) writer.add(event);
    writer.close();
  }

  void expect_refused(const std::filesystem::path& path, const std::string& words) {
    const Error error = error_of([&] { Reader reader(path); });
    EXPECT_EQ(error.kind(), ErrorKind::User) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_NE(error.message().find(path.string()), std::string::npos) << "the message names the file: " << error.what();
  }
};

TEST_F(Damage, NewerVersionIsRefused) {
  write_trace();
  Database(file(), Database::Mode::ReadWrite, file()).execute("PRAGMA user_version = 7");
  expect_refused(file(), "has trace version 7; this program reads up to 2; open it with a newer strata");
}

/// What version 2 has beyond version 1, taken away again.
constexpr const char* kToVersion1 = R"(
DROP TABLE input; DROP TABLE program; DROP TABLE recompile; DROP TABLE diagnostic; DROP TABLE track; DROP TABLE flow;
ALTER TABLE snapshot DROP COLUMN program; ALTER TABLE snapshot DROP COLUMN extra; ALTER TABLE node DROP COLUMN extra;
ALTER TABLE guard DROP COLUMN path; ALTER TABLE guard DROP COLUMN detail;
ALTER TABLE graph_break DROP COLUMN kind; ALTER TABLE graph_break DROP COLUMN link;
ALTER TABLE graph_break DROP COLUMN cost_ns; ALTER TABLE graph_break DROP COLUMN detail;
ALTER TABLE kernel DROP COLUMN program; ALTER TABLE kernel DROP COLUMN language; ALTER TABLE kernel DROP COLUMN exact;
ALTER TABLE launch DROP COLUMN program; ALTER TABLE launch DROP COLUMN line;
ALTER TABLE event DROP COLUMN track; ALTER TABLE event DROP COLUMN compile; ALTER TABLE event DROP COLUMN program;
ALTER TABLE event DROP COLUMN match; ALTER TABLE event DROP COLUMN external; ALTER TABLE event DROP COLUMN sequence;
ALTER TABLE event DROP COLUMN phase; PRAGMA user_version = 1;
)";

TEST_F(Damage, OlderVersionIsMigratedWithoutTouchingTheFile) {
  write_trace();
  Database(file(), Database::Mode::ReadWrite, file())
      .execute(
          std::string(kToVersion1) +
          "ALTER TABLE event DROP COLUMN args; ALTER TABLE event DROP COLUMN correlation; PRAGMA user_version = 0");
  const std::string before = read_bytes(file());
  {
    Reader reader(file());
    EXPECT_EQ(reader.version(), 0);
    const auto events = reader.events(1);
    ASSERT_EQ(events.size(), 50u);
    EXPECT_EQ(events[0].args, "");
    EXPECT_EQ(events[0].correlation, 0);
    EXPECT_EQ(events[0].kernel, 1);
    EXPECT_FALSE(reader.changed());
    EXPECT_EQ(TraceWalker(reader).walk(), 0);
  }
  EXPECT_EQ(read_bytes(file()), before);
  EXPECT_EQ(files().size(), 1u);

  migrate_file(file());
  Reader reader(file());
  EXPECT_EQ(reader.version(), kSchemaVersion);
  EXPECT_EQ(reader.events(1).size(), 50u);
  migrate_file(file());
}

TEST_F(Damage, AMigrationThatDoesNotFitIsAClearError) {
  write_trace();
  Database(file(), Database::Mode::ReadWrite, file()).execute("PRAGMA user_version = 0");
  expect_refused(file(), "damaged");
}

TEST_F(Damage, NotATrace) {
  expect_refused(file("none.strata"), "there is no trace");
  expect_refused(folder, "is a folder");
  expect_refused("/dev/null", "is not a regular file");
  write_bytes(file("empty"), "");
  expect_refused(file("empty"), "is empty");
  write_bytes(file("text"), "hello, this is text and more than sixteen bytes");
  expect_refused(file("text"), "is not a strata trace");
  write_bytes(file("short"), "x");
  expect_refused(file("short"), "is not a strata trace");
  {
    Database(file("other.db"), Database::Mode::ReadWriteCreate, file()).execute("CREATE TABLE t (a)");
  }
  expect_refused(file("other.db"), "is not a strata trace");
  {
    Database(file("other.db"), Database::Mode::ReadWrite, file())
        .execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = 1", kApplicationId));
  }
  expect_refused(file("other.db"), "damaged");
}

TEST_F(Damage, EveryTruncationIsRefused) {
  write_trace();
  const std::string whole = read_bytes(file());
  for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 509) {
    write_bytes(file("cut.strata"), whole.substr(0, size));
    const Error error = error_of([&] { Reader reader(file("cut.strata")); });
    ASSERT_EQ(error.kind(), ErrorKind::User) << size << ": " << error.what();
  }
}

TEST_F(Damage, FlippedBytesOnlyThrowErrors) {
  write_trace();
  const std::string whole = read_bytes(file());
  std::mt19937_64 random{std::random_device{}()};
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 1 << (round % 8); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    write_bytes(file("bad.strata"), bytes);
    try {
      Reader reader(file("bad.strata"));
      refused += TraceWalker(reader).walk() > 0;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Damage, ValuesThatCannotBe) {
  const auto refuses = [&](const char* sql) {
    write_trace();
    Database(file(), Database::Mode::ReadWrite, file()).execute(sql);
    Reader reader(file());
    return TraceWalker(reader).walk() > 0;
  };
  EXPECT_FALSE(refuses(kToVersion1));
  EXPECT_TRUE(refuses("UPDATE kernel SET kind = 77"));
  EXPECT_TRUE(refuses("UPDATE kernel SET nodes = '[1,'"));
  EXPECT_TRUE(refuses("UPDATE node SET inputs = '7'"));
  EXPECT_TRUE(refuses("UPDATE node SET target = 999999"));
  EXPECT_TRUE(refuses("UPDATE snapshot SET base = id"));
  EXPECT_TRUE(refuses("UPDATE snapshot SET node_count = 9223372036854775807"));
  EXPECT_TRUE(refuses("UPDATE snapshot SET node_count = node_count - 1"));
  EXPECT_TRUE(refuses("UPDATE snapshot SET node_order = x'00ff00'"));
  EXPECT_TRUE(refuses("UPDATE artifact SET content = x'28b52ffd'"));
  EXPECT_TRUE(refuses("DELETE FROM node WHERE node = 9"));
  EXPECT_TRUE(refuses("DROP TABLE origin"));
}

}  // namespace
}  // namespace strata::trace
