// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reader of one class or function of FX graph text, and of the classes inside it. Internal to the FX reader.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/fx_clean_ups.h"
#include "core/ir/fx_line.h"
#include "core/ir/fx_values.h"

namespace strata::fx {

/// Reads one class, and through its children recursively the classes below.
class ClassReader {
 public:
  ClassReader(Lexer& lexer, std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids, int depth);
  /// The next token is `class`.
  Graph read_class();
  /// The next token is `def`.
  Graph read_function();

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

  // definition
  void read_definition();
  PendingInput read_input();
  void define(std::string_view name, Node* node, const Token& at);
  void check_new(std::string_view name, const Token& at) const;
  /// Arguments become placeholders at the first statement that is no alias of one.
  void finish_inputs();
  /// `a, b, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)`: the real placeholders of a joint graph.
  void finish_flattened(const std::vector<Token>& names, const Expr& call);

  // body
  /// Statements right of `column`, classes at or right of `class_column`.
  void read_body(long column, long class_column);
  /// Statements of the usual form, as many as follow each other. False if the next one is none.
  bool read_plain_lines(const Token& first, long column, size_t& statements);
  /// Where the next statement starts behind the line that ends at `end`; comments on the way are kept. npos where
  /// something else comes, at the line that then starts at `line_start`.
  size_t next_statement(size_t end, long column, size_t& line, size_t& line_start);
  void add_line();
  /// A graph has few types: each annotation is parsed once.
  const Type& type_of(std::string_view annotation);
  void keep_comments();
  void read_child();

  // statements
  void read_line();
  bool at_line_end() const { return lexer_.peek().kind == TokenKind::Newline || lexer_.peek().kind == TokenKind::End; }
  void read_statement();
  void read_annotated(const Expr& target);
  void read_unpacked(const Expr& target);
  void read_assigned(const Expr& target, const std::string& annotation, bool bare);
  /// `a = b = None` where both are in use.
  bool clean_up(const std::vector<Expr>& targets);
  void finish_inputs_for(const std::vector<Expr>& targets);
  /// `l_x_ = L_x_` right after the definition.
  bool alias_input(const Expr& target, const std::string& annotation, const Expr& value);

  // in-place forms
  void read_set(const Expr& target, const Expr& value);
  void read_in_place(const Expr& target);
  /// The statement behind an in-place one that names its node: `x += 1;  x_3 = x`.
  bool name_in_place(const Expr& target, const std::string& annotation, bool bare, const Expr& value);
  void finish_in_place();

  // nodes
  Argument argument(const Expr& e) const { return to_argument(e, scope_, lexer_); }
  void add(std::unique_ptr<Node> node, std::string_view name, const Token& at);
  /// The comments before a node say where it comes from; what the printer would not print by itself is kept.
  void take_source(Node& node);
  std::unique_ptr<Node> literal(const Expr& e) const;
  /// Which node an expression is, by its form.
  std::unique_ptr<Node> to_node(const Expr& e) const;
  std::unique_ptr<Node> to_call(const Expr& e) const;

  // return
  void read_return();
  /// What is returned: the list inside `pytree.tree_unflatten([...], self._out_spec)`, or the expression.
  const Expr* returned(const Expr& value);
  void describe(Node& node, const Expr& list);

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

/// The parts with `between` between them.
std::string joined(const std::vector<std::string>& parts, const char* between = "\n");

}  // namespace strata::fx
