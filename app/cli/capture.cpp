// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata capture`: runs a script with PyTorch's logs on, and imports them.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/cli/capture_hook.h"
#include "app/cli/cli.h"
#include "app/cli/import_report.h"
#include "app/cli/interrupt.h"
#include "core/support/error.h"

namespace strata::cli {
namespace {

namespace fs = std::filesystem;

struct CaptureOptions {
  std::vector<std::string> words;
  std::string output = "capture.strata", keep;
  bool profile = false, stack = false, use_cache = false, redact = false;
};

// ------------------------------------------------------------------------------------------------------------------
// The folder that the script's processes write to

class CaptureFolder {
 public:
  explicit CaptureFolder(const std::string& keep) : kept_(!keep.empty()) {
    std::error_code failed;
    if (kept_) {
      fs::create_directories(keep, failed);
      if (failed) throw_user(fmt::format("cannot make the folder '{}': {}", keep, failed.message()));
      path_ = fs::absolute(keep);
    } else {
      std::string name = (fs::temp_directory_path(failed) / "strata-capture-XXXXXX").string();
      if (failed || !::mkdtemp(name.data()))
        throw_runtime(fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
      path_ = name;
    }
    for (const char* part : {"hook", "torch", "profile", "log"}) fs::create_directories(path_ / part);
    std::ofstream hook(path_ / "hook" / "sitecustomize.py");
    hook << capture_hook();
    hook.close();
    if (!hook) throw_runtime(fmt::format("cannot write to {}", path_.string()));
  }
  ~CaptureFolder() {
    std::error_code ignored;
    if (!kept_) {
      fs::remove_all(path_, ignored);
      return;
    }
    for (const char* part : {"hook", "torch", "cache"}) fs::remove_all(path_ / part, ignored);
  }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  fs::path operator/(const char* part) const { return path_ / part; }
  const fs::path& path() const { return path_; }

  /// Versions of torch that the script's processes imported, by process id.
  std::map<std::string, std::string> torch_versions() const {
    std::map<std::string, std::string> versions;
    for (const auto& entry : fs::directory_iterator(path_ / "torch"))
      std::getline(std::ifstream(entry.path()), versions[entry.path().filename().string()]);
    return versions;
  }

 private:
  bool kept_;
  fs::path path_;
};

// ------------------------------------------------------------------------------------------------------------------
// Environment

const char* set_value(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

/// What the user has set stays, and is told where it matters.
void set_default(const char* name, const std::string& value, const char* what) {
  const char* own = set_value(name);
  if (!own) {
    ::setenv(name, value.c_str(), 1);
  } else if (own != value) {
    note(fmt::format("{}={} is set and stays: {}", name, own, what));
  }
}

/// The folder of the logs: ours, or the user's.
fs::path set_environment(const CaptureOptions& o, const CaptureFolder& folder) {
  fs::path logs = folder / "log";
  const char* own = set_value("TORCH_DTRACE") ? set_value("TORCH_DTRACE") : set_value("TORCH_TRACE");
  if (own) {
    note(fmt::format("TORCH_TRACE={} is set and stays: the new logs there are imported", own));
    logs = fs::absolute(own);
  } else {
    ::setenv("TORCH_TRACE", logs.c_str(), 1);
  }
  set_default("INDUCTOR_PROVENANCE", "1", "kernels may be matched to graph nodes less exactly");
  set_default("TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE", "1", "CPU kernels may not be measured one by one");
  // What comes out of a cache is not logged in full.
  if (!o.use_cache)
    set_default("TORCHINDUCTOR_CACHE_DIR", (folder / "cache").string(),
                "graphs out of the cache are logged in part only");
  // The profiler's own log would stand between the script's lines.
  if (o.profile && !set_value("KINETO_LOG_LEVEL")) ::setenv("KINETO_LOG_LEVEL", "99", 1);
  const char* path = set_value("PYTHONPATH");
  ::setenv("PYTHONPATH", ((folder / "hook").string() + (path ? std::string(":") + path : "")).c_str(), 1);
  ::setenv("STRATA_CAPTURE_FOLDER", folder.path().c_str(), 1);
  ::setenv("STRATA_CAPTURE_PROFILE", o.profile ? "1" : "0", 1);
  ::setenv("STRATA_CAPTURE_STACK", o.stack ? "1" : "0", 1);
  return logs;
}

std::map<fs::path, std::uintmax_t> files_in(const fs::path& folder) {
  std::map<fs::path, std::uintmax_t> files;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) files[it->path()] = it->file_size(ignored);
  }
  return files;
}

std::vector<fs::path> new_files(const fs::path& folder, const std::map<fs::path, std::uintmax_t>& before) {
  std::vector<fs::path> files;
  for (const auto& [path, size] : files_in(folder)) {
    const auto old = before.find(path);
    if (size > 0 && path.filename().string()[0] != '.' && (old == before.end() || old->second != size))
      files.push_back(path);
  }
  return files;
}

// ------------------------------------------------------------------------------------------------------------------
// The child

volatile pid_t child_pid = 0;

/// A key reaches the whole foreground group by itself; what somebody sent to this process alone is passed on.
void on_signal(int number, siginfo_t* info, void*) {
  if (info->si_code <= 0 && child_pid > 0) ::kill(child_pid, number);
}

/// While the script runs, signals are its own matter.
class SignalForwarding {
 public:
  SignalForwarding() {
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < kCount; ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~SignalForwarding() {
    for (std::size_t i = 0; i < kCount; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  static constexpr std::size_t kCount = sizeof kSignals / sizeof *kSignals;
  struct sigaction before_[kCount];
};

[[noreturn]] void execute(std::vector<std::string> words, int failure) {
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(number, SIG_DFL);
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t n = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

/// Runs the command to its end; its exit code, 128 + signal when it was killed.
int run_child(const std::vector<std::string>& words) {
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) throw_runtime(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const SignalForwarding forwarding;
  const pid_t pid = ::fork();
  if (pid < 0) throw_runtime(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid == 0) execute(words, failure[1]);
  child_pid = pid;
  ::close(failure[1]);
  int error = 0, status = 0;
  ssize_t got = 0;
  while ((got = ::read(failure[0], &error, sizeof error)) < 0 && errno == EINTR) {
  }
  ::close(failure[0]);
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child_pid = 0;
  if (got == sizeof error) throw_user(fmt::format("cannot start '{}': {}", words.front(), std::strerror(error)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// ------------------------------------------------------------------------------------------------------------------

/// Why there is nothing to import.
std::string reason(const CaptureFolder& folder, const CaptureOptions& o) {
  const auto versions = folder.torch_versions();
  if (versions.empty())
    return fmt::format("'{}' did not import torch{}", o.words.front(),
                       o.words.front().find("python") == std::string::npos
                           ? ""
                           : " (is PyTorch installed for this Python, and was it started without -I, -E or -S?)");
  const std::string& version = versions.begin()->second;
  if (version.starts_with("1."))
    return fmt::format("PyTorch {} has no torch.compile: version 2.4 or newer writes the logs", version);
  return fmt::format("PyTorch {} ran, but nothing was compiled with torch.compile{}", version,
                     o.profile ? " and no profile was left" : "; --profile records what runs without it, too");
}

/// Profiles are called `PID.json` or `rank_R_PID.json`.
void note_missing_profiles(const CaptureFolder& folder, const std::vector<fs::path>& profiles) {
  for (const auto& [pid, version] : folder.torch_versions()) {
    const bool there = std::any_of(profiles.begin(), profiles.end(), [&pid = pid](const fs::path& p) {
      const std::string name = p.stem().string();
      return name == pid || name.ends_with("_" + pid);
    });
    if (!there)
      note(
          fmt::format("process {} left no profile: it is written when Python exits, not after os._exit, a crash or "
                      "kill -9",
                      pid));
  }
}

int capture(const CaptureOptions& o, const Invocation& invocation) {
  const CaptureFolder folder(o.keep);
  const fs::path logs = set_environment(o, folder);
  const auto before = files_in(logs);
  const int code = run_child(o.words);
  std::vector<fs::path> files = new_files(logs, before);
  const std::vector<fs::path> profiles = new_files(folder / "profile", {});
  if (o.profile) note_missing_profiles(folder, profiles);
  files.insert(files.end(), profiles.begin(), profiles.end());
  if (files.empty()) {
    note(fmt::format("no trace: {}", reason(folder, o)));
    return code != 0 ? code : 2;
  }
  if (code != 0) note(fmt::format("the script ended with exit code {}; what it left is imported", code));
  try {
    const ImportSummary summary = import_with_progress(files, o.output, o.redact, invocation.command_line());
    note_import_warnings(summary, 10);
    // The standard output belongs to the script.
    const std::string text = import_text(summary, o.output);
    std::fwrite(text.data(), 1, text.size(), stderr);
  } catch (const Error& e) {
    if (code == 0 || e.kind() == ErrorKind::Internal) throw;
    note(fmt::format("error: {}", e.what()));
  }
  return code;
}

}  // namespace

void add_capture(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("capture", "run a script with PyTorch's logs (and profiler) on, and import them");
  auto options = std::make_shared<CaptureOptions>();
  command->add_option("COMMAND", options->words, "after --: python3 script.py ARGS, torchrun ...")->required();
  command->add_option("-o,--output", options->output, "the trace to write (default: capture.strata)")
      ->type_name("OUT.strata");
  command->add_flag("--profile", options->profile, "profile from the import of torch to the end of the script");
  command->add_flag("--stack", options->stack, "with --profile: Python stacks too (large)");
  command->add_flag("--use-cache", options->use_cache,
                    "use Inductor's cache: faster, but what comes from it is logged in part only");
  command->add_option("--keep", options->keep, "keep the logs and profiles in this folder")->type_name("DIR");
  command->add_flag("--redact", options->redact, "leave out source text, paths, names, strings and constants");
  command->callback([options, &invocation] { invocation.exit_code = capture(*options, invocation); });
}

}  // namespace strata::cli
