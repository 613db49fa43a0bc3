// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs the real executable, as a person does.

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strata::testing {

namespace fs = std::filesystem;

inline std::string strata_binary() { return STRATA_BINARY_DIR "/bin/strata"; }
inline fs::path model_folder(const std::string& name) { return fs::path(STRATA_BINARY_DIR "/models") / name; }
/// The archive in a model's folder.
inline std::string model_file(const std::string& name) {
  for (const auto& entry : fs::directory_iterator(model_folder(name)))
    if (entry.path().extension() == ".pt2") return entry.path().string();
  throw std::runtime_error("no model " + name);
}

struct Finished {
  int code = -1;  ///< exit code; 128 + signal when killed
  std::string out, err;
};

/// A folder of its own that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "strata-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Names in it, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& e : fs::directory_iterator(path_)) all.push_back(e.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  fs::path path_;
};

inline std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A child process with its output in pipes.
class Child {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// `inherit`: a descriptor that the child keeps under its number; -1: none. An empty value unsets a variable.
  explicit Child(const std::vector<std::string>& words, const Environment& environment = {}, int inherit = -1) {
    if (::pipe2(out_, O_CLOEXEC) != 0 || ::pipe2(err_, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out_[1], 1);
      ::dup2(err_[1], 2);
      if (inherit >= 0) ::fcntl(inherit, F_SETFD, 0);
      // Several tests run at once: spinning threads would take the cores from each other.
      ::setenv("OMP_WAIT_POLICY", "passive", 1);
      for (const auto& [key, value] : environment)
        value.empty() ? ::unsetenv(key.c_str()) : ::setenv(key.c_str(), value.c_str(), 1);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out_[1]);
    ::close(err_[1]);
  }
  ~Child() {
    if (!waited_) finish();
    ::close(out_[0]);
    ::close(err_[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  /// Reads all output and waits; kills the child after `limit`.
  Finished finish(std::chrono::seconds limit = std::chrono::seconds(100)) {
    Finished result;
    const auto end = std::chrono::steady_clock::now() + limit;
    pollfd fds[2] = {{out_[0], POLLIN, 0}, {err_[0], POLLIN, 0}};
    for (int open = 2; open > 0;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      if (left <= 0) {
        signal(SIGKILL);
        break;
      }
      ::poll(fds, 2, static_cast<int>(left));
      for (pollfd& fd : fds) {
        if (fd.fd < 0 || fd.revents == 0) continue;
        char buffer[65536];
        const ssize_t n = ::read(fd.fd, buffer, sizeof buffer);
        if (n > 0) (fd.fd == out_[0] ? result.out : result.err).append(buffer, static_cast<size_t>(n));
        if (n > 0) continue;
        fd.fd = -1;
        --open;
      }
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    waited_ = true;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

 private:
  int out_[2], err_[2];
  pid_t pid_ = -1;
  bool waited_ = false;
};

/// `strata WORDS...`
inline Finished strata(std::vector<std::string> words, const Child::Environment& environment = {}) {
  words.insert(words.begin(), strata_binary());
  return Child(words, environment).finish();
}

}  // namespace strata::testing
