// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_reader.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/ir/fx_clean_ups.h"
#include "core/ir/fx_line.h"
#include "core/ir/fx_listing.h"
#include "core/ir/fx_printer.h"
#include "core/ir/fx_values.h"
#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata {

namespace fx {

namespace {

std::string joined(const std::vector<std::string>& parts, const char* between = "\n") {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : between) + p;
  return out;
}

/// Reads one class, and through its children recursively the classes below.
class ClassReader {
 public:
  ClassReader(Lexer& lexer, std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids, int depth)
      : lexer_(lexer), graph_(std::move(env), std::move(ids)), depth_(depth) {
    if (depth > kFxMaxClasses) lexer_.fail("at most " + std::to_string(kFxMaxClasses) + " nested classes");
  }

  /// The next token is `class`.
  Graph read_class() {
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

  /// The next token is `def`.
  Graph read_function() {
    const long column = static_cast<long>(lexer_.column(lexer_.peek()));
    graph_.extra["fx.form"] = "function";
    read_definition();
    read_body(column, column + 1);
    return std::move(graph_);
  }

 private:
  struct PendingInput {
    std::string target;            // with stars
    std::string_view name, alias;  // views of the text
    std::string raw, annotation, desc;
    bool bare = false;
    std::optional<Expr> default_value;
    size_t line = 0;
  };
  struct Annotation {
    std::string text, desc;
  };
  /// An in-place statement whose node is named by the statement behind it.
  struct PendingInPlace {
    std::unique_ptr<Node> node;
    std::string base;
  };

  // ------------------------------------------------------------------------------------------------------- definition

  void read_definition() {
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

  PendingInput read_input() {
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

  void define(std::string_view name, Node* node, const Token& at) {
    if (!scope_.nodes.emplace(name, node)) lexer_.fail_at(at, "a new name");
  }
  void check_new(std::string_view name, const Token& at) const {
    if (scope_.nodes.contains(name) || graph_.find(name)) lexer_.fail_at(at, "a new name");
  }

  /// Arguments become placeholders at the first statement that is no alias of one.
  void finish_inputs() {
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

  /// `a, b, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)`: the real placeholders of a joint graph.
  void finish_flattened(const std::vector<Token>& names, const Expr& call) {
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

  // ------------------------------------------------------------------------------------------------------------- body

  /// Statements right of `column`, classes at or right of `class_column`.
  void read_body(long column, long class_column) {
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

  /// Statements of the usual form, as many as follow each other. False if the next one is none.
  bool read_plain_lines(const Token& first, long column, size_t& statements) {
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

  /// Where the next statement starts behind the line that ends at `end`; comments on the way are kept. npos where
  /// something else comes, at the line that then starts at `line_start`.
  size_t next_statement(size_t end, long column, size_t& line, size_t& line_start) {
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

  void add_line() {
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

  /// A graph has few types: each annotation is parsed once.
  const Type& type_of(std::string_view annotation) {
    const auto found = types_.find(annotation);
    if (found != types_.end()) return found->second;
    return types_.emplace(annotation, parse_fx_type(graph_.env(), annotation)).first->second;
  }

  void keep_comments() {
    for (const Comment& c : lexer_.take_comments()) comments_.emplace_back(c.text);
  }

  void read_child() {
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

  void read_line() {
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

  bool at_line_end() const { return lexer_.peek().kind == TokenKind::Newline || lexer_.peek().kind == TokenKind::End; }

  void read_statement() {
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

  void read_annotated(const Expr& target) {
    if (target.kind != Expr::Kind::Name) lexer_.fail_at(target.first, "a name before ':'");
    lexer_.take();
    Expr type = parse_expr(lexer_);
    const bool bare = type.kind != Expr::Kind::String;
    std::string text = bare ? one_line(type.source) : unquote(type.text);
    if (lexer_.peek().is("=")) return read_assigned(target, text, bare);
    annotations_[target.text] = {text, ""};
    line_annotations_.push_back(target.text);
  }

  void read_unpacked(const Expr& target) {
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

  void read_assigned(const Expr& target, const std::string& annotation, bool bare) {
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

  /// `a = b = None` where both are in use.
  bool clean_up(const std::vector<Expr>& targets) {
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
  void finish_inputs_for(const std::vector<Expr>& targets) {
    for (const Expr& t : targets)
      if (input_numbers_.contains(t.text)) finish_inputs();
  }

  /// `l_x_ = L_x_` right after the definition.
  bool alias_input(const Expr& target, const std::string& annotation, const Expr& value) {
    if (inputs_done_ || value.kind != Expr::Kind::Name || !annotation.empty()) return false;
    if (input_numbers_.contains(target.text) || aliases_.contains(target.text)) return false;
    const auto found = input_numbers_.find(value.text);
    if (found == input_numbers_.end() || !inputs_[found->second].alias.empty()) return false;
    aliases_.insert(inputs_[found->second].alias = target.text);
    return true;
  }

  // ---------------------------------------------------------------------------------------------------- in-place forms

  void read_set(const Expr& target, const Expr& value) {
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

  void read_in_place(const Expr& target) {
    finish_in_place();
    finish_inputs();
    auto node = std::make_unique<Node>();
    node->target = in_place_target(lexer_.take().text);
    node->args.push_back(argument(target));
    node->args.push_back(argument(parse_expr(lexer_)));
    in_place_ = {std::move(node), one_line(target.source)};
  }

  /// The statement behind an in-place one that names its node: `x += 1;  x_3 = x`.
  bool name_in_place(const Expr& target, const std::string& annotation, bool bare, const Expr& value) {
    if (!in_place_.node || one_line(value.source) != in_place_.base || scope_.nodes.contains(target.text)) return false;
    check_new(target.text, target.first);
    std::unique_ptr<Node> node = std::move(in_place_.node);
    node->name = target.text;
    node->type = parse_fx_type(graph_.env(), annotation);
    if (bare && !annotation.empty()) node->meta.extra["fx.bare_annotation"] = "1";
    add(std::move(node), target.text, target.first);
    return true;
  }

  void finish_in_place() {
    if (!in_place_.node) return;
    in_place_.node->name = "_unnamed";
    in_place_.node->meta.extra["fx.unnamed"] = "1";
    add(std::move(in_place_.node), {}, lexer_.peek());
  }

  // ------------------------------------------------------------------------------------------------------------ nodes

  Argument argument(const Expr& e) const { return to_argument(e, scope_, lexer_); }

  void add(std::unique_ptr<Node> node, std::string_view name, const Token& at) {
    if (node->kind == NodeKind::Call) node->op = find_op(node->target);
    take_source(*node);
    last_ = graph_.add(std::move(node));
    if (!name.empty()) define(name, last_, at);
  }

  /// The comments before a node say where it comes from; what the printer would not print by itself is kept.
  void take_source(Node& node) {
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

  std::unique_ptr<Node> literal(const Expr& e) const {
    auto node = std::make_unique<Node>();
    node->target = "literal";
    node->args.push_back(argument(e));
    return node;
  }

  std::unique_ptr<Node> make(NodeKind kind, std::string_view target, std::vector<Argument> args) const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->target = target;
    node->args = std::move(args);
    return node;
  }

  /// Which node an expression is, by its form.
  std::unique_ptr<Node> to_node(const Expr& e) const {
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

  std::unique_ptr<Node> to_call(const Expr& e) const {
    const Expr& callee = e.items[0];
    std::unique_ptr<Node> node;
    const std::string dotted = callee.dotted();
    const std::string_view root = std::string_view(dotted).substr(0, dotted.find('.'));
    if (std::optional<std::string> path = self_path_of(callee)) {
      node = make(NodeKind::CallModule, *path, {});
    } else if (!dotted.empty() && !scope_.nodes.contains(root)) {
      node = make(NodeKind::Call, dotted, {});
      set_target(*node, dotted);
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

  static void set_target(Node& node, const std::string& dotted) { set_call_target(node, dotted); }

  // ----------------------------------------------------------------------------------------------------------- return

  void read_return() {
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

  /// What is returned: the list inside `pytree.tree_unflatten([...], self._out_spec)`, or the expression.
  const Expr* returned(const Expr& value) {
    if (value.kind != Expr::Kind::Call || value.items.size() < 3 || value.items[0].dotted() != "pytree.tree_unflatten")
      return &value;
    const Expr& list = value.items[1];
    const bool plain = list.kind == Expr::Kind::List || list.kind == Expr::Kind::Tuple;
    if (!plain || list.first.offset != static_cast<size_t>(list.source.data() - lexer_.text().data())) return &value;
    const size_t used = static_cast<size_t>(list.source.data() + list.source.size() - value.source.data());
    graph_.extra["fx.unflatten"] = one_line(value.source.substr(used, value.source.size() - used - 1));
    return &list;
  }

  void describe(Node& node, const Expr& list) {
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

  Lexer& lexer_;
  Graph graph_;
  int depth_;
  Scope scope_;
  std::vector<PendingInput> inputs_;
  std::unordered_map<std::string_view, size_t> input_numbers_;  // by name
  std::unordered_set<std::string_view> aliases_;
  bool inputs_done_ = false;
  std::unordered_map<std::string_view, Annotation> annotations_;
  std::vector<std::string_view> line_annotations_;
  PendingInPlace in_place_;
  Node* last_ = nullptr;
  CleanUps clean_ups_;
  std::vector<std::string> comments_;
  SourceStack source_;
  Role role_ = Role::Forward;
  std::string last_comment_;
  bool in_step_ = false;  // a node without comments of its own needs none
  LineStatement line_;
  Callees callees_;
  std::unordered_map<std::string_view, Type> types_;
};

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
