// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_reader.h"

#include <algorithm>

#include "core/ir/fx_class_reader.h"
#include "core/ir/fx_listing.h"
#include "core/ir/fx_printer.h"
#include "core/support/error.h"

namespace strata {

namespace fx {

namespace {

/// Line ends as LF, terminal colours gone: `text` itself, where it has neither, or what `out` then holds.
std::string_view normalized(std::string_view text, std::string& out) {
  if (text.find('\r') == std::string_view::npos && text.find('\x1b') == std::string_view::npos) return text;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      size_t end = text.find_first_not_of("0123456789;", i + 2);
      if (end != std::string_view::npos && text[end] == 'm') {
        i = end;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

enum class Start : uint8_t { Class, Function, Listing };

/// The line where the graph starts; lines before it are the header.
struct Opening {
  Start start = Start::Class;
  size_t offset = 0, line = 1;
  std::vector<std::string> header;
};
Opening find_opening(std::string_view text) {
  Opening opening;
  std::string_view first;
  while (opening.offset < text.size()) {
    size_t end = std::min(text.find('\n', opening.offset), text.size());
    std::string_view line = strip(text.substr(opening.offset, end - opening.offset));
    if (line.starts_with("class ") && line.ends_with(":")) return opening;
    opening.start = Start::Function;
    if (line.starts_with("def forward(")) return opening;
    opening.start = Start::Listing;
    if (line == "graph():") return opening;
    opening.start = Start::Class;
    if (first.empty()) first = line;
    if (!line.empty()) opening.header.emplace_back(line);
    opening.offset = end + 1;
    ++opening.line;
  }
  throw_user(
      "fx text, line 1, column 1: expected 'class NAME(torch.nn.Module):', 'def forward(' or 'graph():', found " +
      (first.empty() ? "nothing" : "'" + std::string(first.substr(0, 40)) + "'"));
}

void add_trailer(Graph& graph, std::string_view rest) {
  std::vector<std::string> lines;
  for (size_t start = 0; start < rest.size();) {
    size_t end = std::min(rest.find('\n', start), rest.size());
    std::string_view line = strip(rest.substr(start, end - start));
    if (!line.empty()) lines.emplace_back(line);
    start = end + 1;
  }
  if (lines.empty()) return;
  std::string& trailer = graph.extra["fx.trailer"];
  trailer += (trailer.empty() ? "" : "\n") + joined(lines);
}

}  // namespace

void set_call_target(Node& node, const std::string& dotted) {
  constexpr std::string_view ops = "torch.ops.";
  const bool has_prefix = dotted.starts_with(ops) && dotted.size() > ops.size();
  node.target = has_prefix ? dotted.substr(ops.size()) : dotted;
  if (has_prefix != has_ops_prefix(node.target)) node.meta.extra["fx.prefix"] = has_prefix ? ops : "";
  const std::string& t = node.target;
  const bool has_own_form = t.starts_with("_operator.") || t == "getattr" || t == "setattr" || t == "literal";
  if (has_own_form) node.meta.extra["fx.call"] = "1";
}

}  // namespace fx

void parse_fx_arguments(Node& node, std::string_view text, const FxNames& names) {
  fx::Lexer lexer(text, "arguments of '" + node.name + "'");
  lexer.ignore_newlines();
  fx::Scope scope;
  scope.nodes = names;
  while (lexer.peek().kind != fx::TokenKind::End) {
    fx::Expr value = fx::parse_expr(lexer);
    if (value.kind == fx::Expr::Kind::Name && lexer.take("=")) {
      const std::string key(value.text);
      node.kwargs.emplace_back(key, fx::to_argument(fx::parse_expr(lexer), scope, lexer));
    } else {
      node.args.push_back(fx::to_argument(value, scope, lexer));
    }
    if (!lexer.take(",") && lexer.peek().kind != fx::TokenKind::End) lexer.fail("','");
  }
}

Graph parse_fx(std::string_view text, std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids) {
  std::string changed;
  const std::string_view clean = fx::normalized(text, changed);
  fx::Opening opening = fx::find_opening(clean);
  if (!env) env = std::make_shared<ShapeEnv>();
  if (!ids) ids = std::make_shared<IdSource>();
  Graph graph(env, ids);
  if (opening.start == fx::Start::Listing) {
    std::string_view rest;
    graph = fx::parse_listing(clean, opening.offset, opening.line, env, ids, rest);
    fx::add_trailer(graph, rest);
  } else {
    fx::Lexer lexer(clean, "fx text", opening.offset, opening.line);
    fx::ClassReader reader(lexer, env, ids, 1);
    graph = opening.start == fx::Start::Class ? reader.read_class() : reader.read_function();
    fx::add_trailer(graph, lexer.rest());
  }
  if (!opening.header.empty()) graph.extra["fx.header"] = fx::joined(opening.header);
  return graph;
}

}  // namespace strata
