// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/known_records.h"

#include "capture/torch_text/log_prefix.h"
#include "capture/torch_text/recompile_reason.h"
#include "capture/torch_text/text_scan.h"
#include "core/trace/reader.h"

namespace strata::capture {
namespace {

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

void add_files(KnownFiles& files, const std::vector<trace::SourceLocation>& stack) {
  for (const trace::SourceLocation& place : stack) files.add(place.file, place.line, place.text);
}

}  // namespace

CompileKey compile_key(const trace::CompileRecord& compile) {
  CompileKey key{compile.process, -1, compile.frame_number, compile.compile_number};
  const std::size_t mark = compile.address.find('!');
  if (mark == std::string::npos) return key;
  const std::string_view rest = std::string_view(compile.address).substr(mark + 1);
  key.autograd = whole_number(rest.substr(0, rest.find('/'))).value_or(-1);
  return key;
}

KnownRecords::KnownRecords(ImportContext& context) {
  if (context.compiles().empty() && context.processes().empty()) return;
  context.writer().commit();
  trace::Reader reader(context.writer().path());
  std::map<trace::Id, CompileKey> keys;
  std::map<trace::Id, std::string> addresses;
  for (const trace::FrameRecord& f : reader.frames()) {
    frames_[{f.process, f.number}] = f.id;
    files.add(f.file);
  }
  for (const trace::CompileRecord& c : reader.compiles()) {
    keys[c.id] = compile_key(c);
    addresses[c.id] = c.address;
    for (const trace::SymbolRecord& s : reader.symbols(c.id)) add_symbol(keys[c.id], s.name);
    for (const trace::AssumptionRecord& a : reader.assumptions(c.id)) add_assumption(keys[c.id], a.expression);
    guard_records[c.id] = reader.guards(c.id);
    if (!guard_records[c.id].empty()) add_guards(keys[c.id]);
  }
  for (const trace::GraphBreakRecord& b : reader.graph_breaks()) {
    const auto stack = reader.stack(b.stack);
    add_files(files, stack);
    const trace::SourceLocation place = stack.empty() ? trace::SourceLocation{} : stack.back();
    add_break(keys[b.compile], place.file, place.line, b.kind.empty() ? b.reason : b.kind);
  }
  for (const trace::RecompileRecord& r : reader.recompiles()) {
    add_files(files, reader.stack(r.stack));
    add_recompile(keys[r.compile], addresses[r.of], r.expression);
  }
  for (const trace::DiagnosticRecord& d : reader.diagnostics()) add_diagnostic(keys[d.compile], d.kind, d.title);
}

bool KnownRecords::add_break(const CompileKey& compile, std::string_view file, std::int64_t line,
                             std::string_view kind) {
  return breaks_.emplace(compile, std::string(file), line, first_line(kind)).second;
}

bool KnownRecords::has_break(const CompileKey& compile, std::string_view file, std::int64_t line) const {
  const auto at = breaks_.lower_bound({compile, std::string(file), line, std::string()});
  return at != breaks_.end() && std::get<0>(*at) == compile && std::get<1>(*at) == file && std::get<2>(*at) == line;
}

bool KnownRecords::add_recompile(const CompileKey& compile, std::string_view of, std::string_view expression) {
  // the earlier compile may be named by its last attempt
  const std::string_view address = of.substr(of.rfind(':') + 1);
  return recompiles_.emplace(compile, std::string(address.substr(0, address.find('_'))), plain_names(expression))
      .second;
}

bool KnownRecords::add_symbol(const CompileKey& compile, std::string_view name) {
  return symbols_.emplace(compile, std::string(name)).second;
}

bool KnownRecords::add_assumption(const CompileKey& compile, std::string_view expression) {
  return assumptions_.emplace(compile, std::string(expression)).second;
}

bool KnownRecords::add_diagnostic(const CompileKey& compile, std::string_view kind, std::string_view title) {
  return diagnostics_.emplace(compile, std::string(kind) + "\n" + std::string(title)).second;
}

trace::Id KnownRecords::frame(trace::Id process, std::int64_t number) const {
  const auto found = frames_.find({process, number});
  return found == frames_.end() ? trace::kNone : found->second;
}

}  // namespace strata::capture
