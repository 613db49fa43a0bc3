// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/end_signals.h"

#include <fcntl.h>
#include <unistd.h>
#include <QSocketNotifier>
#include <array>
#include <csignal>

namespace strata::studio {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};
/// A signal handler may do little more than write to it.
std::array<int, 2> g_pipe = {-1, -1};

void arrived(int signal) {
  const char byte = static_cast<char>(signal);
  [[maybe_unused]] const auto written = ::write(g_pipe[1], &byte, 1);
}

void handle(void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

EndSignals::EndSignals(std::function<void()> end, QObject* parent) : QObject(parent), end_(std::move(end)) {
  if (::pipe2(g_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  auto* notifier = new QSocketNotifier(g_pipe[0], QSocketNotifier::Read, this);
  connect(notifier, &QSocketNotifier::activated, this, [this, notifier] {
    notifier->setEnabled(false);
    end_();
  });
  // Once only: after the first signal the usual meaning, the end at once, is back.
  handle(arrived, static_cast<int>(SA_RESETHAND | SA_RESTART));
}

EndSignals::~EndSignals() {
  handle(SIG_DFL, 0);
  for (int& end : g_pipe) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

}  // namespace strata::studio
