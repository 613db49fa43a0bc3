// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ctrl-C, crashes, and the file that reproduces one.

#include <string>

namespace strata::cli {

/// Ctrl-C is remembered from now on (the second one ends the process at once). A closed pipe on stdout is no signal any
/// more.
void watch_interrupts();
bool interrupted();

/// From now on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) writes a reproducer, says where it is and exits
/// with 70.
void watch_crashes(const std::string& command_line);

/// Writes what is needed to look into one of our bugs into the folder for temporary files: command line, working
/// folder, version, machine, message. Returns its path; empty if it could not be written.
std::string write_reproducer(const std::string& command_line, const std::string& message);

}  // namespace strata::cli
