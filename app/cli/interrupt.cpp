// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>

extern char** environ;

namespace strata::cli {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int) {
  if (interrupt_count > 0) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  interrupt_count = 1;
}

/// Made before anything can crash: a signal handler may neither allocate nor format.
struct CrashReport {
  std::string path, text, message;
};
CrashReport* crash_report = nullptr;

void put(int fd, const char* text, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, text, size);
    if (n <= 0) return;
    text += n;
    size -= static_cast<size_t>(n);
  }
}

[[maybe_unused]] void on_crash(int signal) {  // sanitizers report crashes themselves
  std::signal(signal, SIG_DFL);
  const int fd = ::open(crash_report->path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) {
    put(fd, crash_report->text.data(), crash_report->text.size());
    const char digits[] = {static_cast<char>('0' + signal / 10), static_cast<char>('0' + signal % 10), '\n'};
    put(fd, "error: crash with signal ", 25);
    put(fd, digits, 3);
    ::close(fd);
  }
  put(2, crash_report->message.data(), crash_report->message.size());
  ::_exit(70);
}

std::string report_text(const std::string& command_line) {
  std::error_code ignored;
  struct utsname system{};
  uname(&system);
  std::string text =
      fmt::format("strata {}\nsystem: {} {} {}\nfolder: {}\ncommand: {}\n", STRATA_VERSION, system.sysname,
                  system.release, system.machine, fs::current_path(ignored).string(), command_line);
  for (char** e = environ; e && *e; ++e)
    if (std::strncmp(*e, "STRATA_", 7) == 0 || std::strncmp(*e, "OMP_", 4) == 0)
      text += fmt::format("environment: {}\n", *e);
  return text;
}

std::string report_path() {
  std::error_code failed;
  fs::path folder = fs::temp_directory_path(failed);
  if (failed) folder = "/tmp";
  return (folder / fmt::format("strata-bug-{}.txt", ::getpid())).string();
}

}  // namespace

void watch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return interrupt_count > 0; }

void watch_crashes(const std::string& command_line) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)command_line;  // the sanitizer's report says more
#else
  static CrashReport report;
  report.path = report_path();
  report.text = report_text(command_line);
  report.message =
      fmt::format("strata: internal error: crash; this is a bug in strata: please report it with {}\n", report.path);
  crash_report = &report;
  // A stack that has overflowed cannot carry the handler.
  static std::array<std::byte, 65536> handler_stack;
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
#endif
}

std::string write_reproducer(const std::string& command_line, const std::string& message) {
  const std::string path = report_path();
  std::ofstream file(path, std::ios::trunc);
  file << report_text(command_line) << "error: " << message << "\n";
  file.close();
  return file ? path : std::string();
}

}  // namespace strata::cli
