// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Killed writers, read-only folders, readers beside a living writer, files that are given up.

#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "tests/trace/trace_testing.h"
#include "tests/trace/walk_trace.h"

namespace strata::trace {
namespace {

class Durability : public TraceTest {};

/// What a writer says through the pipe after each commit.
struct Acknowledged {
  std::int64_t events = 0, snapshots = 0;
};

std::vector<NodeRecord> graph_number(std::int64_t i) {
  std::vector<NodeRecord> nodes;
  for (NodeId id = 1; id <= 60; ++id) nodes.push_back(make_node(id, "aten.op" + std::to_string(id == i % 60 ? i : 0)));
  return nodes;
}

EventRecord event_number(std::int64_t i) {
  EventRecord event;
  event.run = 1;
  event.name = "kernel" + std::to_string(i % 17);
  event.start_ns = 10 * i;
  event.duration_ns = i;
  return event;
}

/// Forks a process that does `action` and exits with 0 if it returned true.
template <class F>
pid_t in_child(F&& action) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    _exit(action() ? 0 : 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    _exit(2);
  }
}

/// Writes until it is killed.
bool write_forever(const std::filesystem::path& path, int pipe) {
  Writer writer(path, {.batch_rows = 50, .keyframe_interval = 4});
  const Id compile = add_compile(writer);
  std::mt19937 random{std::random_device{}()};
  for (Acknowledged count;;) {
    for (unsigned n = random() % 40; n > 0; --n) writer.add(event_number(++count.events));
    if (random() % 3 == 0) {
      ++count.snapshots;
      writer.add(stage(compile, "s" + std::to_string(count.snapshots)), graph_number(count.snapshots));
    }
    writer.commit();
    if (write(pipe, &count, sizeof count) != sizeof count) return false;
  }
}

/// Forks a writer, kills it after `delay`, and returns the last count that it acknowledged.
Acknowledged write_and_kill(const std::filesystem::path& path, std::chrono::microseconds delay) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = in_child([&] {
    close(ends[0]);
    return write_forever(path, ends[1]);
  });
  close(ends[1]);
  Acknowledged last, next;
  // The time counts from the first acknowledgement; the pipe is drained meanwhile so that it never blocks the child.
  std::thread killer;
  while (read(ends[0], &next, sizeof next) == sizeof next) {
    last = next;
    if (!killer.joinable()) {
      killer = std::thread([&] {
        std::this_thread::sleep_for(delay);
        kill(child, SIGKILL);
      });
    }
  }
  if (killer.joinable()) killer.join();
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  return last;
}

void expect_holds(Reader& reader, const Acknowledged& acknowledged) {
  const auto events = reader.events(1);
  ASSERT_GE(static_cast<std::int64_t>(events.size()), acknowledged.events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EventRecord expected = event_number(static_cast<std::int64_t>(i) + 1);
    expected.id = events[i].id;
    ASSERT_EQ(events[i], expected);
  }
  const auto snapshots = reader.snapshots(1);
  ASSERT_GE(static_cast<std::int64_t>(snapshots.size()), acknowledged.snapshots);
  for (const auto& snapshot : snapshots) ASSERT_EQ(reader.nodes(snapshot.id), graph_number(snapshot.ordinal + 1));
}

TEST_F(Durability, TwentyKillsLoseNothingAcknowledged) {
  std::mt19937 random{std::random_device{}()};
  std::int64_t total = 0;
  for (int i = 0; i < 20; ++i) {
    const auto path = file("killed" + std::to_string(i) + ".strata");
    const auto acknowledged = write_and_kill(path, std::chrono::microseconds(random() % 60000));
    Reader reader(path);
    EXPECT_TRUE(reader.unfinished());
    expect_holds(reader, acknowledged);
    EXPECT_EQ(TraceWalker(reader).walk(), 0);
    total += acknowledged.events;
  }
  EXPECT_GT(total, 0);
}

TEST_F(Durability, KillsDuringCloseLoseNothing) {
  std::mt19937 random{std::random_device{}()};
  for (int i = 0; i < 20; ++i) {
    const auto path = file("closing" + std::to_string(i) + ".strata");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = in_child([&] {
      Writer writer(path);
      const Acknowledged count{2000, 0};
      for (int event = 1; event <= count.events; ++event) writer.add(event_number(event));
      writer.commit();
      if (write(ends[1], &count, sizeof count) != sizeof count) return false;
      writer.close();
      return true;
    });
    Acknowledged acknowledged;
    ASSERT_EQ(read(ends[0], &acknowledged, sizeof acknowledged), ssize_t{sizeof acknowledged});
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const int end : ends) close(end);
    Reader reader(path);
    expect_holds(reader, acknowledged);
  }
}

TEST_F(Durability, CloseLeavesOneFile) {
  Writer writer(file());
  add_compile(writer);
  writer.commit();
  EXPECT_EQ(files().size(), 3u) << "while it is written there are side files";
  writer.close();
  EXPECT_EQ(files(), std::vector<std::string>{"t.strata"});
  EXPECT_FALSE(Reader(file()).unfinished());
  EXPECT_EQ(files(), std::vector<std::string>{"t.strata"});
  EXPECT_EQ(error_of([&] { writer.set_property("a", "b"); }).kind(), ErrorKind::Internal);
  writer.close();
}

TEST_F(Durability, AnyFileNameWorks) {
  const auto path = file("ä b?c=1&d#e%20f'\".strata");
  {
    Writer writer(path);
    writer.add(event_number(1));
    writer.close();
  }
  EXPECT_EQ(files(), std::vector<std::string>{path.filename()});
  EXPECT_EQ(Reader(path).event_count(), 1);
  EXPECT_EQ(error_of([&] { Writer writer(""); }).kind(), ErrorKind::User);
  EXPECT_EQ(error_of([&] { Reader reader(""); }).kind(), ErrorKind::User);
}

TEST_F(Durability, FullDiskIsOneErrorAndKeepsWhatWasCommitted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = in_child([&] {
    // A limit on file size stands for the disk that is full.
    signal(SIGXFSZ, SIG_IGN);
    Writer writer(file());
    const rlimit limit{600'000, 600'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    Acknowledged count;
    ErrorKind kind = ErrorKind::Internal;
    try {
      while (count.events < 1'000'000) {
        for (int i = 1; i <= 100; ++i) writer.add(event_number(count.events + i));
        writer.commit();
        count.events += 100;
      }
    } catch (const Error& error) {
      kind = error.kind();
    }
    const Error again = error_of([&] { writer.add(event_number(1)); });
    return kind == ErrorKind::Runtime && again.kind() == ErrorKind::Runtime && count.events > 0 &&
           write(ends[1], &count, sizeof count) == sizeof count;
  });
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  Acknowledged acknowledged;
  ASSERT_EQ(read(ends[0], &acknowledged, sizeof acknowledged), ssize_t{sizeof acknowledged});
  for (const int end : ends) close(end);
  Reader reader(file());
  EXPECT_TRUE(reader.unfinished());
  EXPECT_GE(reader.event_count(), acknowledged.events);
}

TEST_F(Durability, DestructorCloses) {
  {
    add_compile(*std::make_unique<Writer>(file()));
  }
  EXPECT_EQ(files(), std::vector<std::string>{"t.strata"});
  EXPECT_EQ(Reader(file()).compiles().size(), 1u);
}

TEST_F(Durability, DiscardLeavesNothing) {
  Writer writer(file());
  add_compile(writer);
  writer.commit();
  writer.discard();
  EXPECT_TRUE(files().empty());
}

TEST_F(Durability, BatchesCommitThemselves) {
  Writer writer(file(), {.batch_rows = 10, .batch_ms = 1000000});
  for (int i = 1; i <= 25; ++i) writer.add(event_number(i));
  EXPECT_EQ(Reader(file()).event_count(), 20);
}

TEST_F(Durability, ReplacesTracesOnly) {
  {
    Writer first(file());
    first.add(event_number(1));
    first.close();
  }
  {
    Writer second(file());
    second.close();
  }
  EXPECT_EQ(Reader(file()).event_count(), 0);
  write_and_kill(file("dead.strata"), std::chrono::microseconds(100));
  Writer(file("dead.strata")).close();
  EXPECT_EQ(Reader(file("dead.strata")).event_count(), 0) << "nothing of the old log may come back";

  write_bytes(file("notes.txt"), "my notes");
  const Error foreign = error_of([&] { Writer writer(file("notes.txt")); });
  EXPECT_EQ(foreign.kind(), ErrorKind::User);
  EXPECT_NE(foreign.message().find("is not a strata trace"), std::string::npos) << foreign.what();
  EXPECT_EQ(read_bytes(file("notes.txt")), "my notes");
  EXPECT_EQ(error_of([&] { Writer writer(folder); }).kind(), ErrorKind::User);
  EXPECT_EQ(error_of([&] { Writer writer("/dev/null"); }).kind(), ErrorKind::User);
  EXPECT_EQ(error_of([&] { Writer writer(folder / "none" / "t.strata"); }).kind(), ErrorKind::User);
}

/// Runs `action` in a child without the rights of root; whether it returned true.
bool without_rights(const std::function<bool()>& action) {
  const pid_t child = in_child([&] { return (geteuid() != 0 || setuid(65534) == 0) && action(); });
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void make_read_only(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::permissions(entry.path(), std::filesystem::perms(0444));
  }
  std::filesystem::permissions(folder, std::filesystem::perms(0555));
}

TEST_F(Durability, ClosedTraceOpensInAReadOnlyFolder) {
  {
    Writer writer(file());
    writer.add(event_number(1));
    writer.close();
  }
  make_read_only(folder);
  const auto before = files();
  EXPECT_TRUE(without_rights([&] { return access(folder.c_str(), W_OK) != 0; })) << "the folder must be read-only";
  EXPECT_TRUE(without_rights([&] {
    Reader reader(file());
    return reader.event_count() == 1 && !reader.unfinished() && !reader.changed();
  }));
  EXPECT_EQ(files(), before);
  EXPECT_TRUE(without_rights([&] {
    const Error error = error_of([&] { Writer writer(file("new.strata")); });
    return error.kind() == ErrorKind::User;
  }));
}

TEST_F(Durability, KilledTraceOpensInAReadOnlyFolder) {
  const auto acknowledged = write_and_kill(file(), std::chrono::milliseconds(20));
  ASSERT_GT(std::filesystem::file_size(file("t.strata-wal")), 0u);
  // Without the index file too, as after a copy to a medium.
  std::filesystem::remove(file("t.strata-shm"));
  make_read_only(folder);
  EXPECT_TRUE(without_rights([&] {
    Reader reader(file());
    expect_holds(reader, acknowledged);
    return !testing::Test::HasFailure() && !reader.changed();
  }));
}

TEST_F(Durability, MainFileOfAKilledTraceAloneStillOpens) {
  write_and_kill(file(), std::chrono::milliseconds(20));
  for (const char* side : {"t.strata-wal", "t.strata-shm"}) std::filesystem::remove(file(side));
  make_read_only(folder);
  EXPECT_TRUE(without_rights([&] { return Reader(file()).unfinished(); }));
}

TEST_F(Durability, ReaderFollowsAWriterInAnotherProcess) {
  int go[2], ends[2];
  ASSERT_EQ(pipe(go) | pipe(ends), 0);
  const pid_t child = in_child([&] {
    char letter;
    Writer writer(file());
    std::int64_t count = 0;
    // One letter, one commit; `c` closes.
    while (write(ends[1], &count, sizeof count) > 0 && read(go[0], &letter, 1) == 1 && letter != 'c') {
      writer.add(event_number(++count));
      writer.commit();
    }
    writer.close();
    return true;
  });
  std::int64_t count = 0;
  const auto next = [&](char letter) {
    EXPECT_EQ(write(go[1], &letter, 1), 1);
    if (letter == 'c') return;
    EXPECT_EQ(read(ends[0], &count, sizeof count), 8);
  };
  ASSERT_EQ(read(ends[0], &count, sizeof count), 8);
  Reader reader(file());
  EXPECT_FALSE(reader.changed());
  for (int i = 1; i <= 5; ++i) {
    next('w');
    EXPECT_TRUE(reader.changed());
    EXPECT_FALSE(reader.changed());
    EXPECT_EQ(reader.events(1).size(), static_cast<std::size_t>(i));
    EXPECT_TRUE(reader.unfinished());
  }
  next('c');
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), std::vector<std::string>{"t.strata"}) << "one file although a reader was connected";
  EXPECT_TRUE(reader.changed());
  EXPECT_FALSE(reader.unfinished());
  EXPECT_EQ(reader.events(1).size(), 5u);
  EXPECT_FALSE(reader.changed());
  for (const int end : {go[0], go[1], ends[0], ends[1]}) close(end);
}

TEST_F(Durability, ThreadsWriteWhileOneReads) {
  constexpr int kThreads = 4, kEach = 300;
  auto writer = std::make_unique<Writer>(file(), WriterOptions{.batch_rows = 37});
  const Id compile = add_compile(*writer);
  writer->commit();
  std::atomic<bool> done = false;
  std::thread follower([&] {
    Reader reader(file());
    std::int64_t last = 0;
    while (!done) {
      reader.changed();
      const std::int64_t now = reader.event_count();
      EXPECT_GE(now, last);
      last = now;
      for (const auto& snapshot : reader.snapshots(compile)) EXPECT_EQ(reader.nodes(snapshot.id).size(), 60u);
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        writer->add(event_number(t * kEach + i));
        if (i % 100 == 0) writer->add(stage(compile, "s"), graph_number(i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  writer->commit();
  done = true;
  follower.join();
  writer->close();
  Reader reader(file());
  EXPECT_EQ(reader.event_count(), kThreads * kEach);
  EXPECT_EQ(reader.snapshots(compile).size(), 12u);
}

}  // namespace
}  // namespace strata::trace
