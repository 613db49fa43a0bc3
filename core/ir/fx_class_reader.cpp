// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_class_reader.h"

#include <algorithm>
#include <utility>

#include "core/ir/fx_reader.h"

namespace strata::fx {

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : between) + p;
  return out;
}

ClassReader::ClassReader(Lexer& lexer, std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids, int depth)
    : lexer_(lexer), graph_(std::move(env), std::move(ids)), depth_(depth) {
  if (depth > kFxMaxClasses) lexer_.fail("at most " + std::to_string(kFxMaxClasses) + " nested classes");
}

Graph ClassReader::read_class() {
  const long column = static_cast<long>(lexer_.column(lexer_.take()));
  graph_.name = lexer_.peek().is("<") ? lexer_.take_angle().text : lexer_.expect_name().text;
  lexer_.expect("(");
  parse_target(lexer_);
  lexer_.expect(")");
  lexer_.expect(":");
  std::vector<std::string> wrap;
  while (!lexer_.rest().starts_with("def forward")) {
    if (lexer_.peek().kind == TokenKind::End) lexer_.fail("'def forward'");
    if (lexer_.peek().kind == TokenKind::Newline) {
      lexer_.take();
    } else {
      wrap.emplace_back(strip(lexer_.take_rest_of_line()));
    }
  }
  if (!wrap.empty()) graph_.extra["fx.wrap"] = joined(wrap);
  lexer_.take_comments();
  read_definition();
  read_body(column, column + 1);
  return std::move(graph_);
}

Graph ClassReader::read_function() {
  const long column = static_cast<long>(lexer_.column(lexer_.peek()));
  graph_.extra["fx.form"] = "function";
  read_definition();
  read_body(column, column + 1);
  return std::move(graph_);
}

void ClassReader::read_definition() {
  lexer_.take();
  lexer_.take();
  const Token open = lexer_.expect("(");
  const std::string_view text = lexer_.text();
  const size_t line_end = std::min(text.find('\n', open.offset), text.size());
  if (strip(text.substr(open.end(), line_end - open.end())).empty()) graph_.extra["fx.expanded"] = "1";
  bool has_self = false;
  while (!lexer_.peek().is(")")) {
    PendingInput input = read_input();
    if (inputs_.empty() && !has_self && input.raw == "self") {
      has_self = true;
    } else {
      inputs_.push_back(std::move(input));
    }
    if (!lexer_.take(",")) break;
  }
  lexer_.expect(")");
  size_t behind = 0;
  for (const Comment& c : lexer_.take_comments()) {  // lines of both ascend
    while (behind < inputs_.size() && inputs_[behind].line < c.line) ++behind;
    for (size_t i = behind; i < inputs_.size() && inputs_[i].line == c.line && !c.own_line; ++i)
      inputs_[i].desc = c.text;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) input_numbers_.try_emplace(inputs_[i].name, i);
  if (!has_self) graph_.extra["fx.no_self"] = "1";
  if (lexer_.take("->")) graph_.extra["fx.returns"] = one_line(parse_expr(lexer_).source);
  lexer_.expect(":");
}

ClassReader::PendingInput ClassReader::read_input() {
  PendingInput input;
  const size_t start = lexer_.peek().offset;
  while (lexer_.peek().is("*") || lexer_.peek().is("**")) input.target += lexer_.take().text;
  Token name = lexer_.expect_name();
  input.name = name.text;
  input.target += name.text;
  input.line = name.line;
  size_t end = name.end();
  if (lexer_.take(":")) {
    Expr type = parse_expr(lexer_);
    input.bare = type.kind != Expr::Kind::String;
    input.annotation = input.bare ? one_line(type.source) : unquote(type.text);
    input.line = type.line;
    end = static_cast<size_t>(type.source.data() - lexer_.text().data()) + type.source.size();
  }
  if (lexer_.take("=")) {
    input.default_value = parse_expr(lexer_);
    input.line = input.default_value->line;
    end = static_cast<size_t>(input.default_value->source.data() - lexer_.text().data()) +
          input.default_value->source.size();
  }
  input.raw = one_line(lexer_.text().substr(start, end - start));
  return input;
}

void ClassReader::define(std::string_view name, Node* node, const Token& at) {
  if (!scope_.nodes.emplace(name, node)) lexer_.fail_at(at, "a new name");
}

void ClassReader::check_new(std::string_view name, const Token& at) const {
  if (scope_.nodes.contains(name) || graph_.find(name)) lexer_.fail_at(at, "a new name");
}

void ClassReader::finish_inputs() {
  if (std::exchange(inputs_done_, true)) return;
  for (PendingInput& input : inputs_) {
    const std::string_view name = input.alias.empty() ? input.name : input.alias;
    check_new(name, lexer_.peek());
    auto node = std::make_unique<Node>();
    node->kind = NodeKind::Placeholder;
    node->target = input.target;
    node->name = name;
    node->type = parse_fx_type(graph_.env(), input.annotation);
    if (input.bare) node->meta.extra["fx.bare_annotation"] = "1";
    if (!input.desc.empty()) node->meta.extra["fx.desc"] = input.desc;
    if (input.default_value) node->args.push_back(to_argument(*input.default_value, {}, lexer_));
    define(name, graph_.add(std::move(node)), lexer_.peek());
  }
}

void ClassReader::finish_flattened(const std::vector<Token>& names, const Expr& call) {
  if (inputs_done_ || !call.items[0].dotted().ends_with("tree_flatten_spec")) {
    lexer_.fail_at(call.first, "tree_flatten_spec(...) before any other statement");
  }
  inputs_done_ = true;
  std::vector<std::string> raw;
  for (const PendingInput& input : inputs_) raw.push_back(input.raw);
  graph_.extra["fx.args"] = joined(raw);
  graph_.extra["fx.flatten"] = one_line(call.source);
  for (const Token& name : names) {
    check_new(name.text, name);
    auto node = std::make_unique<Node>();
    node->kind = NodeKind::Placeholder;
    node->target = node->name = name.text;
    if (auto it = annotations_.find(name.text); it != annotations_.end()) {
      node->type = parse_fx_type(graph_.env(), it->second.text);
      if (!it->second.desc.empty()) node->meta.extra["fx.desc"] = it->second.desc;
    }
    define(name.text, graph_.add(std::move(node)), name);
  }
}

void ClassReader::read_body(long column, long class_column) {
  size_t statements = 0;
  while (true) {
    while (lexer_.peek().kind == TokenKind::Newline || lexer_.peek().is(";")) lexer_.take();
    keep_comments();
    const Token first = lexer_.peek();
    const long here = static_cast<long>(lexer_.column(first));
    if (first.kind == TokenKind::End) break;
    if (first.is_name("class") && here >= class_column) {
      read_child();
      continue;
    }
    if (here <= column) break;
    if (++statements > kFxMaxStatements) lexer_.fail("at most " + std::to_string(kFxMaxStatements) + " statements");
    if (!read_plain_lines(first, column, statements)) read_line();
  }
  finish_inputs();
  if (!comments_.empty()) graph_.extra["fx.trailer"] = joined(std::exchange(comments_, {}));
  clean_ups_.finish(graph_);
}

bool ClassReader::read_plain_lines(const Token& first, long column, size_t& statements) {
  if (!inputs_done_ || in_place_.node || graph_.output_node()) return false;
  const std::string_view text = lexer_.text();
  size_t start = first.offset, line = first.line, line_start = start;
  for (; start != std::string_view::npos; start = next_statement(line_.end, column, line, line_start)) {
    if (statements > kFxMaxStatements || !read_line_statement(text, start, scope_.nodes, callees_, line_)) break;
    // All other nodes have their names in the scope.
    const bool may_clash = line_.name.starts_with("_unnamed") || line_.name == "output";
    if (may_clash && graph_.find(line_.name)) break;
    add_line();
    ++statements;
  }
  if (line_start == first.offset) return false;
  lexer_.seek(line_start, line);
  return true;
}

size_t ClassReader::next_statement(size_t end, long column, size_t& line, size_t& line_start) {
  const std::string_view text = lexer_.text();
  while (true) {
    line_start = std::min(end + 1, text.size());
    ++line;
    const size_t start = text.find_first_not_of(' ', line_start);
    if (start == std::string_view::npos) return start;
    if (text[start] == '#') {
      end = std::min(text.find('\n', start), text.size());
      comments_.emplace_back(strip(text.substr(start, end - start)));
    } else if (text[start] == '\n') {
      end = start;
    } else {
      return static_cast<long>(start - line_start) > column ? start : std::string_view::npos;
    }
  }
}

void ClassReader::add_line() {
  std::unique_ptr<Node> node = std::move(line_.node);
  node->name = line_.name;
  if (line_.annotated) node->type = type_of(line_.annotation);
  take_source(*node);
  last_ = graph_.add(std::move(node));
  for (FxNames::Entry* entry : line_.cleaned_up) {
    clean_ups_.add(last_, entry ? entry->node : last_);
    if (entry) entry->dead = true;
  }
  const bool dead = !line_.cleaned_up.empty() &&
                    std::find(line_.cleaned_up.begin(), line_.cleaned_up.end(), nullptr) != line_.cleaned_up.end();
  scope_.nodes.emplace(line_.name, last_);
  if (dead) scope_.nodes.find(line_.name)->dead = true;
}

const Type& ClassReader::type_of(std::string_view annotation) {
  const auto found = types_.find(annotation);
  if (found != types_.end()) return found->second;
  return types_.emplace(annotation, parse_fx_type(graph_.env(), annotation)).first->second;
}

void ClassReader::keep_comments() {
  for (const Comment& c : lexer_.take_comments()) comments_.emplace_back(c.text);
}

void ClassReader::read_child() {
  finish_inputs();
  ClassReader child(lexer_, graph_.shared_env(), graph_.ids(), depth_ + 1);
  const Token at = lexer_.peek();
  // What stands between two classes belongs to the one before, in the order of the text.
  auto sub = std::make_unique<Graph>(child.read_class());
  std::string name = sub->name;
  if (name.find('\n') != std::string::npos || !graph_.subgraphs.emplace(name, std::move(sub)).second) {
    lexer_.fail_at(at, "a new class name, '" + name + "' is there already");
  }
  std::string& order = graph_.extra["fx.children"];
  order += (order.empty() ? "" : "\n") + name;
}

}  // namespace strata::fx
