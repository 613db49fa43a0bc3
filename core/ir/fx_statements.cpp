// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Statements of FX graph text: the part of ClassReader that knows the whole grammar.

#include <utility>

#include "core/ir/fx_class_reader.h"
#include "core/ir/fx_listing.h"
#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/ir/op.h"

namespace strata::fx {

namespace {

std::unique_ptr<Node> make(NodeKind kind, std::string_view target, std::vector<Argument> args) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->target = target;
  node->args = std::move(args);
  return node;
}

}  // namespace

void ClassReader::read_line() {
  const size_t line = lexer_.peek().line;
  Node* const last_before = last_;
  line_annotations_.clear();
  read_statement();
  bool open_end = false;
  while (lexer_.take(";")) {
    if ((open_end = at_line_end())) break;
    read_statement();
  }
  finish_in_place();
  if (!at_line_end()) lexer_.fail("';' or the end of the line");
  if (line_annotations_.size() > 1) graph_.extra["fx.annotations_in_line"] = open_end ? ";" : "";
  std::vector<std::string> notes;
  for (const Comment& c : lexer_.take_comments()) {
    if (c.own_line) {
      comments_.emplace_back(c.text);
    } else if (c.line >= line) {
      notes.emplace_back(c.text);
    }
  }
  if (notes.empty()) return;
  if (last_ != last_before) {
    last_->meta.extra["fx.note"] = joined(notes, "  ");
  } else if (!line_annotations_.empty()) {
    annotations_[line_annotations_.back()].desc = joined(notes, "  ");
  }
}

void ClassReader::read_statement() {
  const Token first = lexer_.peek();
  if (first.is_name("pass")) {
    lexer_.take();
    return;
  }
  if (first.is_name("return")) return read_return();
  if (first.kind == TokenKind::String && first.text.size() >= 6) {  // a block of metadata
    lexer_.take();
    return;
  }
  if (graph_.output_node()) lexer_.fail("the end of the function after its return");
  Expr target = parse_target(lexer_);
  const Token next = lexer_.peek();
  if (next.is(":")) return read_annotated(target);
  if (next.is(",")) return read_unpacked(target);
  if (next.is("=")) return read_assigned(target, {}, false);
  if (next.kind == TokenKind::Punct && !in_place_target(next.text).empty()) return read_in_place(target);
  lexer_.fail("'=' or ':'");
}

void ClassReader::read_annotated(const Expr& target) {
  if (target.kind != Expr::Kind::Name) lexer_.fail_at(target.first, "a name before ':'");
  lexer_.take();
  Expr type = parse_expr(lexer_);
  const bool bare = type.kind != Expr::Kind::String;
  std::string text = bare ? one_line(type.source) : unquote(type.text);
  if (lexer_.peek().is("=")) return read_assigned(target, text, bare);
  annotations_[target.text] = {text, ""};
  line_annotations_.push_back(target.text);
}

void ClassReader::read_unpacked(const Expr& target) {
  std::vector<Token> names;
  if (target.kind != Expr::Kind::Name) lexer_.fail_at(target.first, "a name before ','");
  names.push_back(target.first);
  while (lexer_.take(",")) {
    if (lexer_.peek().is("=")) break;
    names.push_back(lexer_.expect_name());
  }
  lexer_.expect("=");
  Expr value = parse_expr(lexer_);
  if (value.kind != Expr::Kind::Call) lexer_.fail_at(value.first, "tree_flatten_spec(...)");
  finish_flattened(names, value);
}

void ClassReader::read_assigned(const Expr& target, const std::string& annotation, bool bare) {
  std::vector<Expr> targets{target};
  lexer_.take();
  Expr value = parse_expr(lexer_);
  while (lexer_.take("=")) {
    targets.push_back(std::move(value));
    value = parse_expr(lexer_);
  }
  if (value.is_name("None") && clean_up(targets)) return;
  if (targets.size() > 1) lexer_.fail_at(value.first, "None after names that are in use");
  if (target.kind == Expr::Kind::Index || target.kind == Expr::Kind::Attr) return read_set(target, value);
  if (target.kind != Expr::Kind::Name) lexer_.fail_at(target.first, "a name, x[i] or x.a before '='");
  if (name_in_place(target, annotation, bare, value) || alias_input(target, annotation, value)) return;
  finish_in_place();
  finish_inputs();
  check_new(target.text, target.first);
  std::unique_ptr<Node> node = to_node(value);
  node->name = target.text;
  node->type = parse_fx_type(graph_.env(), annotation);
  if (bare && !annotation.empty()) node->meta.extra["fx.bare_annotation"] = "1";
  add(std::move(node), target.text, target.first);
}

bool ClassReader::clean_up(const std::vector<Expr>& targets) {
  finish_in_place();
  finish_inputs_for(targets);
  for (const Expr& t : targets) {
    const FxNames::Entry* entry = t.kind == Expr::Kind::Name ? scope_.nodes.find(t.text) : nullptr;
    if (!entry) return false;
    if (entry->dead) lexer_.fail_at(t.first, "a name that is still in use");
  }
  std::string names;
  for (const Expr& t : targets) {
    scope_.nodes.find(t.text)->dead = true;
    names += (names.empty() ? "" : " = ") + std::string(t.text);
  }
  if (!last_) return true;
  clean_ups_.add(last_, names);
  return true;
}

void ClassReader::finish_inputs_for(const std::vector<Expr>& targets) {
  for (const Expr& t : targets)
    if (input_numbers_.contains(t.text)) finish_inputs();
}

bool ClassReader::alias_input(const Expr& target, const std::string& annotation, const Expr& value) {
  if (inputs_done_ || value.kind != Expr::Kind::Name || !annotation.empty()) return false;
  if (input_numbers_.contains(target.text) || aliases_.contains(target.text)) return false;
  const auto found = input_numbers_.find(value.text);
  if (found == input_numbers_.end() || !inputs_[found->second].alias.empty()) return false;
  aliases_.insert(inputs_[found->second].alias = target.text);
  return true;
}

void ClassReader::read_set(const Expr& target, const Expr& value) {
  finish_in_place();
  finish_inputs();
  auto node = std::make_unique<Node>();
  const bool item = target.kind == Expr::Kind::Index;
  node->target = item ? "_operator.setitem" : "setattr";
  node->args.push_back(argument(target.items[0]));
  node->args.push_back(item ? argument(target.items[1]) : Argument(std::string(target.text)));
  node->args.push_back(argument(value));
  if (target.items[0].kind == Expr::Kind::Number) lexer_.fail_at(target.first, "a name before '=' ");
  in_place_ = {std::move(node), one_line(target.items[0].source)};
}

void ClassReader::read_in_place(const Expr& target) {
  finish_in_place();
  finish_inputs();
  auto node = std::make_unique<Node>();
  node->target = in_place_target(lexer_.take().text);
  node->args.push_back(argument(target));
  node->args.push_back(argument(parse_expr(lexer_)));
  in_place_ = {std::move(node), one_line(target.source)};
}

bool ClassReader::name_in_place(const Expr& target, const std::string& annotation, bool bare, const Expr& value) {
  if (!in_place_.node || one_line(value.source) != in_place_.base || scope_.nodes.contains(target.text)) return false;
  check_new(target.text, target.first);
  std::unique_ptr<Node> node = std::move(in_place_.node);
  node->name = target.text;
  node->type = parse_fx_type(graph_.env(), annotation);
  if (bare && !annotation.empty()) node->meta.extra["fx.bare_annotation"] = "1";
  add(std::move(node), target.text, target.first);
  return true;
}

void ClassReader::finish_in_place() {
  if (!in_place_.node) return;
  in_place_.node->name = "_unnamed";
  in_place_.node->meta.extra["fx.unnamed"] = "1";
  add(std::move(in_place_.node), {}, lexer_.peek());
}

void ClassReader::add(std::unique_ptr<Node> node, std::string_view name, const Token& at) {
  if (node->kind == NodeKind::Call) node->op = find_op(node->target);
  take_source(*node);
  last_ = graph_.add(std::move(node));
  if (!name.empty()) define(name, last_, at);
}

void ClassReader::take_source(Node& node) {
  node.meta.source = source_;
  node.meta.role = role_;
  if (comments_.empty() && in_step_) return;
  const std::vector<std::string> comments = std::exchange(comments_, {});
  for (const std::string& c : comments) {
    if (std::optional<SourceLocation> place = parse_source_comment(c)) {
      source_ = std::make_shared<const std::vector<SourceLocation>>(1, *place);
      role_ = c.find("Backward of forward node:") != std::string::npos ? Role::Backward : Role::Forward;
    } else if (c.find("No stacktrace found") != std::string::npos) {
      source_ = nullptr;
      role_ = Role::Forward;
    }
  }
  node.meta.source = source_;
  node.meta.role = role_;
  const std::string expected = source_comment(source_);
  const std::string printed = expected != last_comment_ ? expected : "";
  last_comment_ = expected;
  in_step_ = true;
  if (joined(comments) != printed) node.meta.extra["fx.comment"] = joined(comments);
}

std::unique_ptr<Node> ClassReader::literal(const Expr& e) const {
  auto node = std::make_unique<Node>();
  node->target = "literal";
  node->args.push_back(argument(e));
  return node;
}

std::unique_ptr<Node> ClassReader::to_node(const Expr& e) const {
  if (std::optional<std::string> path = self_path_of(e)) return make(NodeKind::GetAttr, *path, {});
  switch (e.kind) {
    case Expr::Kind::Binary:
      return make(NodeKind::Call, infix_target(e.text), {argument(e.items[0]), argument(e.items[1])});
    case Expr::Kind::Unary: {
      Argument operand = argument(e.items[0]);
      if (!operand.node()) return literal(e);
      return make(NodeKind::Call, prefix_target(e.text), {operand});
    }
    case Expr::Kind::Attr: {
      const bool of_node = e.items[0].kind == Expr::Kind::Name && argument(e.items[0]).node();
      if (!of_node) return literal(e);
      return make(NodeKind::Call, "getattr", {argument(e.items[0]), std::string(e.text)});
    }
    case Expr::Kind::Index:
      return make(NodeKind::Call, "_operator.getitem", {argument(e.items[0]), argument(e.items[1])});
    case Expr::Kind::Call:
      return to_call(e);
    default:
      return literal(e);
  }
}

std::unique_ptr<Node> ClassReader::to_call(const Expr& e) const {
  const Expr& callee = e.items[0];
  std::unique_ptr<Node> node;
  const std::string dotted = callee.dotted();
  const std::string_view root = std::string_view(dotted).substr(0, dotted.find('.'));
  if (std::optional<std::string> path = self_path_of(callee)) {
    node = make(NodeKind::CallModule, *path, {});
  } else if (!dotted.empty() && !scope_.nodes.contains(root)) {
    node = make(NodeKind::Call, dotted, {});
    set_call_target(*node, dotted);
  } else if (callee.kind == Expr::Kind::Attr && callee.items[0].kind != Expr::Kind::Number) {
    node = make(NodeKind::CallMethod, callee.text, {argument(callee.items[0])});
  } else {
    return literal(e);
  }
  for (size_t i = 1; i < e.items.size(); ++i) {
    const Expr& item = e.items[i];
    if (item.kind == Expr::Kind::Keyword) {
      node->kwargs.emplace_back(std::string(item.text), argument(item.items[0]));
    } else {
      node->args.push_back(argument(item));
    }
  }
  return node;
}

void ClassReader::read_return() {
  const Token keyword = lexer_.take();
  finish_in_place();
  finish_inputs();
  if (graph_.output_node()) lexer_.fail_at(keyword, "one return");
  auto node = std::make_unique<Node>();
  node->kind = NodeKind::Output;
  node->target = "output";
  node->name = "output";
  Expr value;
  const Expr* listed = nullptr;
  if (at_line_end()) {
    node->args.push_back(NoneArg{});
  } else {
    value = parse_expr(lexer_);
    listed = returned(value);
    node->args.push_back(argument(*listed));
  }
  if (!comments_.empty()) node->meta.extra["fx.comment"] = joined(std::exchange(comments_, {}));
  if (listed) describe(*node, *listed);
  last_ = graph_.add(std::move(node));
}

const Expr* ClassReader::returned(const Expr& value) {
  if (value.kind != Expr::Kind::Call || value.items.size() < 3 || value.items[0].dotted() != "pytree.tree_unflatten")
    return &value;
  const Expr& list = value.items[1];
  const bool plain = list.kind == Expr::Kind::List || list.kind == Expr::Kind::Tuple;
  if (!plain || list.first.offset != static_cast<size_t>(list.source.data() - lexer_.text().data())) return &value;
  const size_t used = static_cast<size_t>(list.source.data() + list.source.size() - value.source.data());
  graph_.extra["fx.unflatten"] = one_line(value.source.substr(used, value.source.size() - used - 1));
  return &list;
}

void ClassReader::describe(Node& node, const Expr& list) {
  const bool is_list = list.kind == Expr::Kind::List || list.kind == Expr::Kind::Tuple;
  if (!is_list || list.items.empty()) return;
  if (list.first.line == list.items[0].first.line) return;
  node.meta.extra["fx.expanded"] = "1";
  std::vector<std::string> descs(list.items.size());
  bool any = false;
  size_t behind = 0;
  for (const Comment& c : lexer_.take_comments()) {
    while (behind < descs.size() && list.items[behind].line < c.line) ++behind;
    for (size_t i = behind; i < descs.size() && list.items[i].line == c.line && !c.own_line; ++i) {
      descs[i] = c.text;
      any = true;
    }
  }
  if (!any) return;
  std::string all;
  for (size_t i = 0; i < descs.size(); ++i) all += (i ? "\n" : "") + descs[i];
  node.meta.extra["fx.desc"] = all;
}

}  // namespace strata::fx
