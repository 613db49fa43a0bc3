// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The cache on disk by itself, and kernels that come from it.

#include "codegen/object_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "codegen/kernel_code.h"
#include "core/support/error.h"
#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

namespace fs = std::filesystem;
using codegen::ObjectCache;
using loop::Combine;
using loop::ScalarOp;

constexpr int64_t kLimit = 64 << 20;

/// A cache folder of its own, named by the environment until the end.
class CacheFolder {
 public:
  CacheFolder() {
    std::string name = (fs::temp_directory_path() / "strata-cache-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
    ::setenv("STRATA_CACHE_DIR", name.c_str(), 1);
    ::unsetenv("STRATA_CACHE");
  }
  ~CacheFolder() {
    ::unsetenv("STRATA_CACHE_DIR");
    ::unsetenv("STRATA_CACHE");
    ::unsetenv("STRATA_CACHE_SIZE");
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& e : fs::recursive_directory_iterator(path_))
      if (e.is_regular_file()) out.push_back(e.path());
    return out;
  }

 private:
  fs::path path_;
};

std::vector<std::byte> content(size_t size, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::byte> out(size);
  for (std::byte& b : out) b = static_cast<std::byte>(engine());
  return out;
}

Sha256Digest key(const std::string& name) { return sha256(name); }

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(Sha256, ExamplesOfTheStandard) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ObjectCache, GivesBackWhatWasStored) {
  CacheFolder folder;
  ObjectCache cache(folder.path(), kLimit);
  ASSERT_TRUE(cache.is_on()) << cache.why_off();
  for (size_t size : {0, 1, 63, 64, 5000, 200000}) {
    const auto stored = content(size, size);
    const auto k = key(std::to_string(size));
    EXPECT_FALSE(cache.load(k));
    ASSERT_TRUE(cache.store(k, stored));
    EXPECT_EQ(ObjectCache(folder.path(), kLimit).load(k), stored);
    EXPECT_FALSE(cache.load(key("another")));
  }
}

TEST(ObjectCache, DamagedEntriesAreNoEntriesAndGo) {
  CacheFolder folder;
  ObjectCache cache(folder.path(), kLimit);
  const auto k = key("one");
  ASSERT_TRUE(cache.store(k, content(3000, 1)));
  ASSERT_EQ(folder.files().size(), 1u);
  const fs::path file = folder.files()[0];
  const std::string good = read_file(file);
  std::mt19937_64 engine(7);
  std::vector<std::string> damaged{
      "", "s", good.substr(0, 50), good.substr(0, good.size() - 1), good + "x", std::string(good.size(), '\0')};
  for (int i = 0; i < 60; ++i) {
    damaged.push_back(good);
    damaged.back()[engine() % good.size()] ^= static_cast<char>(1 << engine() % 8);
  }
  for (const std::string& text : damaged) {
    write_file(file, text);
    EXPECT_FALSE(cache.load(k));
    EXPECT_FALSE(fs::exists(file));
  }
  ASSERT_TRUE(cache.store(k, content(3000, 1)));
  EXPECT_EQ(read_file(file), good);
}

TEST(ObjectCache, AnEntryUnderAnotherNameIsNone) {
  CacheFolder folder;
  ObjectCache cache(folder.path(), kLimit);
  ASSERT_TRUE(cache.store(key("one"), content(100, 1)));
  const fs::path one = folder.files()[0];
  ASSERT_TRUE(cache.store(key("two"), content(100, 2)));
  for (const fs::path& f : folder.files())
    if (f != one) fs::copy_file(one, f, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.load(key("two")));
  EXPECT_TRUE(cache.load(key("one")));
}

TEST(ObjectCache, WhatOthersMayWriteIsNotTrusted) {
  CacheFolder folder;
  {
    ObjectCache cache(folder.path(), kLimit);
    ASSERT_TRUE(cache.store(key("one"), content(100, 1)));
    fs::permissions(folder.files()[0], fs::perms(0666));
    EXPECT_FALSE(cache.load(key("one")));
  }
  fs::permissions(folder.path(), fs::perms(0777));
  const ObjectCache open_to_all(folder.path(), kLimit);
  EXPECT_FALSE(open_to_all.is_on());
  EXPECT_NE(open_to_all.why_off().find("others may write"), std::string::npos) << open_to_all.why_off();
  fs::permissions(folder.path(), fs::perms(0700));
  EXPECT_TRUE(ObjectCache(folder.path(), kLimit).is_on());
  if (::geteuid() != 0) return;  // only root can give files away
  ASSERT_EQ(::chown(folder.path().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(ObjectCache(folder.path(), kLimit).is_on());
}

TEST(ObjectCache, LinksAreNotFollowed) {
  CacheFolder folder, elsewhere;
  ObjectCache cache(folder.path(), kLimit);
  ASSERT_TRUE(cache.store(key("one"), content(100, 1)));
  const fs::path file = folder.files()[0], moved = elsewhere.path() / "moved";
  fs::rename(file, moved);
  fs::create_symlink(moved, file);
  EXPECT_FALSE(cache.load(key("one")));
  EXPECT_TRUE(cache.store(key("one"), content(100, 1)));
  EXPECT_TRUE(cache.load(key("one")));
  EXPECT_FALSE(fs::is_symlink(file));
}

TEST(ObjectCache, FolderThatCannotBeIsNoCache) {
  for (const char* name : {"/proc/strata/cache", "/dev/null/cache", "/dev/null"}) {
    ObjectCache cache(name, kLimit);
    EXPECT_FALSE(cache.is_on()) << name;
    EXPECT_FALSE(cache.why_off().empty());
    EXPECT_FALSE(cache.store(key("one"), content(10, 1)));
    EXPECT_FALSE(cache.load(key("one")));
  }
}

TEST(ObjectCache, FullDiskIsNoEntry) {
  CacheFolder folder;
  ObjectCache cache(folder.path(), kLimit);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{1000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const bool stored = cache.store(key("one"), content(5000, 1));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_FALSE(stored);
  EXPECT_FALSE(cache.load(key("one")));
  EXPECT_TRUE(folder.files().empty());
}

TEST(ObjectCache, LeastRecentlyUsedGoFirst) {
  CacheFolder folder;
  const ObjectCache large(folder.path(), kLimit);
  const ObjectCache cache(folder.path(), 256 * 40'000);  // 40 kB per folder of keys with one first byte
  std::vector<Sha256Digest> keys;                        // of one folder
  for (int i = 0; keys.size() < 8; ++i) {
    if (const auto k = key(std::to_string(i)); k[0] == std::byte{0x2a}) keys.push_back(k);
  }
  std::map<std::string, timespec> ages;
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    ASSERT_TRUE(large.store(keys[i], content(8000, i)));
    const std::string name = folder.path() / to_hex(keys[i]).substr(0, 2) / to_hex(keys[i]).substr(2);
    const timespec age{1'600'000'000 + static_cast<time_t>(i), 0}, times[2] = {age, age};
    ASSERT_EQ(::utimensat(AT_FDCWD, name.c_str(), times, 0), 0);
  }
  ASSERT_TRUE(cache.load(keys[0]));  // used now
  ASSERT_TRUE(cache.store(keys[7], content(8000, 7)));
  std::vector<bool> there;
  for (const auto& k : keys) there.push_back(cache.load(k).has_value());
  EXPECT_TRUE(there[0]);
  EXPECT_TRUE(there[7]);
  EXPECT_FALSE(there[1]);
  EXPECT_FALSE(there[2]);
  EXPECT_TRUE(there[6]);
}

TEST(ObjectCache, StaysWithinItsLimit) {
  CacheFolder folder;
  const int64_t limit = 4 << 20;
  ObjectCache cache(folder.path(), limit);
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(cache.store(key(std::to_string(i)), content(4000, 1)));
  int64_t total = 0;
  for (const fs::path& f : folder.files()) total += static_cast<int64_t>(fs::file_size(f));
  EXPECT_LE(total, limit);
  EXPECT_GT(total, limit / 8);
}

TEST(ObjectCache, SaysWhatItHoldsAndForgetsIt) {
  CacheFolder folder;
  const ObjectCache cache(folder.path(), kLimit);
  EXPECT_EQ(cache.contents().entries, 0u);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(cache.store(key(std::to_string(i)), content(3000, 1)));
  fs::create_directories(folder.path() / "2a");
  write_file(folder.path() / "2a" / "mine", "not the cache's");
  write_file(folder.path() / "notes", "not the cache's");
  EXPECT_EQ(cache.contents().entries, 20u);
  EXPECT_GE(cache.contents().bytes, 20 * 3000);
  EXPECT_EQ(cache.contents().limit, kLimit);
  EXPECT_EQ(cache.folder(), folder.path());
  EXPECT_EQ(cache.clear(), 20u);
  EXPECT_EQ(cache.contents().entries, 0u);
  EXPECT_FALSE(cache.load(key("3")));
  EXPECT_EQ(read_file(folder.path() / "2a" / "mine"), "not the cache's");
  EXPECT_TRUE(fs::exists(folder.path() / "notes"));
  EXPECT_TRUE(cache.store(key("3"), content(10, 1)));
  EXPECT_EQ(ObjectCache().contents().entries, 0u);
  EXPECT_EQ(ObjectCache().clear(), 0u);
}

TEST(ObjectCache, ManyProcessesAtOnce) {
  CacheFolder folder;
  constexpr int kProcesses = 6, kKeys = 40;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int wrong = 0;
    ObjectCache cache(folder.path(), kLimit);
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < kKeys; ++i) {
        const auto k = key(std::to_string(i));
        const auto expected = content(2000 + static_cast<size_t>(i), static_cast<uint64_t>(i));
        if (const auto found = cache.load(k); found && *found != expected) ++wrong;
        if (!cache.store(k, expected)) ++wrong;
      }
    }
    ::_exit(wrong == 0 ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(folder.files().size(), static_cast<size_t>(kKeys));
}

TEST(ObjectCache, EnvironmentSaysWhere) {
  CacheFolder folder;
  EXPECT_TRUE(ObjectCache::from_environment().is_on());
  ::setenv("STRATA_CACHE", "0", 1);
  EXPECT_FALSE(ObjectCache::from_environment().is_on());
  ::setenv("STRATA_CACHE", "1", 1);
  EXPECT_TRUE(ObjectCache::from_environment().is_on());
  for (const char* wrong : {"many", "-1", "0", "1x", "99999999999999999999"}) {
    ::setenv("STRATA_CACHE_SIZE", wrong, 1);
    EXPECT_FALSE(ObjectCache::from_environment().is_on()) << wrong;
  }
  ::setenv("STRATA_CACHE_SIZE", "10", 1);
  EXPECT_TRUE(ObjectCache::from_environment().is_on());
}

// ------------------------------------------------------------------------------------------------------------- kernels

/// y = exp(x) * factor + sum of a row of x.
void row_kernel(LoopCase& c, int64_t rows, int64_t columns, double factor) {
  const auto x = c.input("x", DType::F32, rows * columns), y = c.output("y", DType::F32, rows * columns);
  const SymInt i = c.outer(rows);
  const auto r = c.inner(columns);
  const size_t nest = c.body.begin_nest({r});
  c.body.node = 11;
  c.body.reduce({Combine::Sum, c.body.load(x, i * columns + c.body.axis_index(r)), loop::kNone, loop::kNone, DType::F32,
                 c.body.node});
  const auto s = c.inner(columns);
  c.body.begin_nest({s});
  c.body.node = 12;
  const SymInt at = i * columns + c.body.axis_index(s);
  const auto e = c.body.unary(ScalarOp::Exp, c.body.load(x, at));
  const auto scaled = c.body.binary(ScalarOp::Mul, e, c.body.constant(factor, DType::F32));
  c.body.store({y, at, c.body.binary(ScalarOp::Add, scaled, c.body.reduced(nest, 0)), loop::kNone, false, 12});
}

struct Compiled {
  codegen::LoopJitStatistics statistics;
  std::vector<float> result;
  std::vector<CodeArtifact> artifacts;
  bool from_cache = false;
};

constexpr int64_t kRows = 5, kColumns = 37;

Compiled compile_and_run(const loop::Kernel& kernel, const std::vector<float>& x, bool texts = false,
                         const Target& target = host_target()) {
  codegen::LoopJit jit(target);
  const loop::Kernel* kernels[] = {&kernel};
  codegen::LoopJitOptions options;
  options.cache = true;
  options.keep_artifacts = texts;
  const auto compiled = jit.compile(kernels, options);
  Compiled out{jit.statistics(), std::vector<float>(x.size(), -77), jit.artifacts(0), jit.from_cache(0)};
  std::byte* buffers[] = {reinterpret_cast<std::byte*>(const_cast<float*>(x.data())),
                          reinterpret_cast<std::byte*>(out.result.data())};
  compiled[0]->run({buffers, SymBindings(64), 1});
  return out;
}

std::vector<float> random_floats() {
  const Bytes bytes = random_bytes(DType::F32, kRows * kColumns);
  std::vector<float> x(kRows * kColumns);
  std::memcpy(x.data(), bytes.data(), bytes.size());
  return x;
}

TEST(CachedKernels, HitGivesTheSameAndNeedsNoLlvm) {
  CacheFolder folder;
  LoopCase c("kernel");
  row_kernel(c, kRows, kColumns, 1.5);
  const auto x = random_floats();
  const Compiled miss = compile_and_run(c.kernel, x);
  EXPECT_EQ(miss.statistics.generated, 1u);
  EXPECT_EQ(miss.statistics.from_cache, 0u);
  EXPECT_FALSE(miss.from_cache);
  EXPECT_EQ(folder.files().size(), 1u);
  LoopCase renamed("another_name");
  row_kernel(renamed, kRows, kColumns, 1.5);
  const Compiled hit = compile_and_run(renamed.kernel, x);
  EXPECT_EQ(hit.statistics.generated, 0u);
  EXPECT_EQ(hit.statistics.from_cache, 1u);
  EXPECT_TRUE(hit.from_cache);
  EXPECT_EQ(0, std::memcmp(miss.result.data(), hit.result.data(), 4 * x.size()));
  EXPECT_NE(hit.result[0], -77);
}

TEST(CachedKernels, WhatDiffersMisses) {
  CacheFolder folder;
  const auto x = random_floats();
  LoopCase c("kernel"), factor("kernel"), shape("kernel"), scheduled("kernel");
  row_kernel(c, kRows, kColumns, 1.5);
  row_kernel(factor, kRows, kColumns, 1.25);
  row_kernel(shape, kColumns, kRows, 1.5);
  row_kernel(scheduled, kRows, kColumns, 1.5);
  scheduled.kernel.schedule.unroll = 2;
  for (const LoopCase* each : {&c, &factor, &shape, &scheduled})
    EXPECT_EQ(compile_and_run(each->kernel, x).statistics.generated, 1u);
  for (const LoopCase* each : {&c, &factor, &shape, &scheduled})
    EXPECT_EQ(compile_and_run(each->kernel, x).statistics.generated, 0u);
  for (const Target& target : targets()) {
    if (target.features == host_target().features && target.cpu == host_target().cpu) continue;
    EXPECT_EQ(compile_and_run(c.kernel, x, false, target).statistics.generated, 1u);
    EXPECT_EQ(compile_and_run(c.kernel, x, false, target).statistics.generated, 0u);
  }
}

TEST(CachedKernels, DamagedEntryIsGeneratedAgain) {
  CacheFolder folder;
  LoopCase c("kernel");
  row_kernel(c, kRows, kColumns, 1.5);
  const auto x = random_floats();
  const Compiled first = compile_and_run(c.kernel, x);
  const fs::path file = folder.files().at(0);
  std::string text = read_file(file);
  text[text.size() / 2] ^= 4;
  write_file(file, text);
  const Compiled again = compile_and_run(c.kernel, x);
  EXPECT_EQ(again.statistics.generated, 1u);
  EXPECT_EQ(first.result, again.result);
  EXPECT_EQ(compile_and_run(c.kernel, x).statistics.generated, 0u);
}

TEST(CachedKernels, SoundEntryOfSomethingElseIsGeneratedAgain) {
  CacheFolder folder;
  LoopCase c("kernel");
  row_kernel(c, kRows, kColumns, 1.5);
  const auto x = random_floats();
  compile_and_run(c.kernel, x);
  const fs::path file = folder.files().at(0);
  const std::string name = file.parent_path().filename().string() + file.filename().string();
  Sha256Digest k;
  for (size_t i = 0; i < k.size(); ++i) k[i] = static_cast<std::byte>(std::stoi(name.substr(2 * i, 2), nullptr, 16));
  ASSERT_TRUE(ObjectCache(folder.path(), kLimit).store(k, content(500, 3)));
  EXPECT_EQ(compile_and_run(c.kernel, x).statistics.generated, 1u);
}

TEST(CachedKernels, TextsComeAlongWithNamesAndNodes) {
  CacheFolder folder;
  const auto x = random_floats();
  LoopCase c("one_name"), d("other");
  row_kernel(c, kRows, kColumns, 1.5);
  row_kernel(d, kRows, kColumns, 1.5);
  for (auto& s : d.kernel.scalars) s.node += s.node ? 100 : 0;
  for (auto& nest : d.kernel.nests) {
    for (auto& r : nest.reductions) r.node += 100;
    for (auto& s : nest.stores) s.node += 100;
  }
  const Compiled miss = compile_and_run(c.kernel, x, true), hit = compile_and_run(d.kernel, x, true);
  EXPECT_EQ(miss.statistics.generated, 1u);
  EXPECT_EQ(hit.statistics.generated, 0u);
  ASSERT_EQ(miss.artifacts.size(), 4u);
  ASSERT_EQ(hit.artifacts.size(), 4u);
  for (size_t i = 2; i < 4; ++i) {
    const CodeArtifact &a = miss.artifacts[i], &b = hit.artifacts[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_NE(a.text.find("one_name"), std::string::npos);
    EXPECT_EQ(b.text.find("one_name"), std::string::npos);
    EXPECT_NE(b.text.find("other"), std::string::npos);
    ASSERT_EQ(a.line_nodes.size(), b.line_nodes.size());
    std::set<NodeId> nodes;
    for (size_t l = 0; l < a.line_nodes.size(); ++l) {
      ASSERT_EQ(a.line_nodes[l].size(), b.line_nodes[l].size());
      for (size_t n = 0; n < a.line_nodes[l].size(); ++n) EXPECT_EQ(a.line_nodes[l][n] + 100, b.line_nodes[l][n]);
      nodes.insert(a.line_nodes[l].begin(), a.line_nodes[l].end());
    }
    EXPECT_EQ(nodes, (std::set<NodeId>{11, 12}));
  }
}

TEST(CachedKernels, WithoutACacheAllIsGenerated) {
  CacheFolder folder;
  ::setenv("STRATA_CACHE", "0", 1);
  LoopCase c("kernel");
  row_kernel(c, kRows, kColumns, 1.5);
  const auto x = random_floats();
  for (int i = 0; i < 2; ++i) {
    const Compiled done = compile_and_run(c.kernel, x);
    EXPECT_EQ(done.statistics.generated, 1u);
    EXPECT_NE(done.statistics.cache_off.find("STRATA_CACHE"), std::string::npos);
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(KernelCode, DamagedFormsAreRefused) {
  CacheFolder folder;
  LoopCase c("kernel");
  row_kernel(c, kRows, kColumns, 1.5);
  compile_and_run(c.kernel, random_floats(), true);
  const std::string file = read_file(folder.files().at(0));
  std::vector<std::byte> packed(file.size() - 72);
  std::memcpy(packed.data(), file.data() + 72, packed.size());
  codegen::KernelCode code;
  ASSERT_TRUE(codegen::unpack_code(packed, code));
  EXPECT_EQ(codegen::pack_code(code), packed);
  for (size_t n = 0; n < packed.size(); n += 1 + n / 40)
    EXPECT_FALSE(codegen::unpack_code(std::span(packed).first(n), code)) << n;
  std::mt19937_64 engine(5);
  for (int i = 0; i < 3000; ++i) {  // whatever it says, it must not lead out of the image
    auto damaged = packed;
    for (int k = 0; k < 3; ++k) damaged[engine() % damaged.size()] = static_cast<std::byte>(engine());
    if (!codegen::unpack_code(damaged, code)) continue;
    EXPECT_LT(code.entry, code.image.size());
    for (const auto& [at, name] : code.imports) EXPECT_LE(at + 8, code.image.size());
  }
}

TEST(KernelCode, ObjectsThatAreNoneAreOurBug) {
  const std::string text =
      "no object at all, but long enough for the header of one: 0123456789012345678901234567890123";
  EXPECT_THROW(codegen::link_image({text.data(), text.size()}, "f"), Error);
  EXPECT_THROW(codegen::link_image({}, "f"), Error);
}

}  // namespace
}  // namespace strata::testing
