// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_listing.h"

#include <algorithm>

#include "core/ir/fx_reader.h"
#include "core/ir/fx_values.h"
#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata::fx {

namespace {

struct Opcode {
  std::string_view text;
  NodeKind kind;
};
constexpr Opcode kOpcodes[] = {{" = placeholder[target=", NodeKind::Placeholder},
                               {" = get_attr[target=", NodeKind::GetAttr},
                               {" = call_function[target=", NodeKind::Call},
                               {" = call_method[target=", NodeKind::CallMethod},
                               {" = call_module[target=", NodeKind::CallModule}};

class ListingReader {
 public:
  ListingReader(std::string_view text, size_t offset, size_t line, const std::shared_ptr<ShapeEnv>& env,
                const std::shared_ptr<IdSource>& ids)
      : text_(text), at_(offset), line_(line), graph_(env, ids) {}

  Graph read(std::string_view& rest) {
    graph_.extra["fx.form"] = "listing";
    next_line();  // graph():
    while (at_ < text_.size() && !graph_.output_node()) {
      const std::string_view line = next_line();
      if (line.empty()) continue;
      if (line.starts_with("return")) {
        read_return(line);
      } else {
        read_node(line);
      }
    }
    rest = text_.substr(std::min(at_, text_.size()));
    finish_users();
    return std::move(graph_);
  }

 private:
  std::string_view next_line() {
    size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = strip(text_.substr(at_, end - at_));
    line_start_ = at_;
    at_ = end + 1;
    ++line_;
    return line;
  }

  [[noreturn]] void fail(std::string_view at, const std::string& expected) const {
    size_t column = static_cast<size_t>(at.data() - text_.data()) - line_start_ + 1;
    std::string found = at.empty() ? "the end of the line" : "'" + std::string(at.substr(0, 40)) + "'";
    throw_user("fx text, line " + std::to_string(line_ - 1) + ", column " + std::to_string(column) + ": expected " +
               expected + ", found " + found);
  }

  Lexer lexer_at(std::string_view part) const {
    // The lexer ends with the line, so that an open bracket does not run on.
    size_t end = static_cast<size_t>(part.data() + part.size() - text_.data());
    return Lexer(text_.substr(0, end), "fx text", static_cast<size_t>(part.data() - text_.data()), line_ - 1);
  }

  void read_node(std::string_view line) {
    const size_t colon = line.find(" : ");
    if (line[0] != '%' || colon == std::string_view::npos) fail(line, "'%name : ' or 'return'");
    const std::string_view name = line.substr(1, colon - 1), reference = line.substr(0, colon);
    if (!is_identifier(name) || graph_.find(name)) fail(line, "a new name after '%'");
    size_t at = std::string_view::npos;
    const Opcode* opcode = nullptr;
    for (const Opcode& o : kOpcodes) {
      size_t found = line.find(o.text, colon);
      if (found < at) {
        at = found;
        opcode = &o;
      }
    }
    if (!opcode) fail(line.substr(colon + 3), "'OPCODE[target=...]'");
    const size_t target_at = at + opcode->text.size(), target_end = line.find(']', target_at);
    if (target_end == std::string_view::npos) fail(line.substr(target_at), "']' after the target");
    auto node = std::make_unique<Node>();
    node->kind = opcode->kind;
    node->name = name;
    set_target(*node, std::string(line.substr(target_at, target_end - target_at)));
    read_type(*node, at > colon + 3 ? strip(line.substr(colon + 3, at - colon - 3)) : std::string_view());
    read_arguments(*node, strip(line.substr(target_end + 1)));
    if (node->kind == NodeKind::Call) node->op = find_op(node->target);
    scope_.nodes.emplace(reference, graph_.add(std::move(node)));
  }

  static void set_target(Node& node, const std::string& target) {
    node.target = target;
    if (node.kind != NodeKind::Call) return;
    if (target.starts_with("operator.")) {
      node.target = "_" + target;
    } else {
      set_call_target(node, target);
      node.meta.extra.erase("fx.call");
    }
  }

  /// `torch.Tensor [num_users=1]`
  void read_type(Node& node, std::string_view text) {
    size_t users = text.find('[');
    while (users != std::string_view::npos && !text.substr(users).starts_with("[num_users=") &&
           !text.substr(users).starts_with("[#users=")) {
      users = text.find('[', users + 1);
    }
    std::string_view type = strip(text.substr(0, users));
    if (!type.empty()) {
      node.type = parse_fx_type(graph_.env(), type);
      node.type.text = type;
    }
    node.meta.extra["fx.users"] = users == std::string_view::npos ? "" : strip(text.substr(users));
  }

  void read_arguments(Node& node, std::string_view text) {
    if (text.empty()) return;
    try {
      Lexer lexer = lexer_at(text);
      lexer.expect("(");
      if (node.kind == NodeKind::Placeholder) {
        if (lexer.expect_name().text != "default") lexer.fail("default=");
        lexer.expect("=");
        node.args.push_back(to_argument(parse_expr(lexer), scope_, lexer));
      } else {
        read_call(node, lexer);
      }
      lexer.expect(")");
      if (lexer.peek().kind != TokenKind::End) lexer.fail("the end of the line");
    } catch (const Error& e) {
      // Listings print strings without quotes, so a line may not be an expression: then its text is kept.
      if (e.kind() != ErrorKind::User) throw;
      node.args.clear();
      node.kwargs.clear();
      node.meta.extra["fx.arguments"] = text;
    }
  }

  void read_call(Node& node, Lexer& lexer) {
    if (lexer.expect_name().text != "args") lexer.fail("args = (");
    lexer.expect("=");
    Argument args = to_argument(parse_expr(lexer), scope_, lexer);
    const auto* list = args.as<ListArg>();
    if (!list || list->kind != ListArg::Kind::Tuple) lexer.fail("a tuple");
    node.args = list->items;
    lexer.expect(",");
    if (lexer.expect_name().text != "kwargs") lexer.fail("kwargs = {");
    lexer.expect("=");
    lexer.expect("{");
    while (!lexer.peek().is("}")) {
      std::string key(lexer.expect_name().text);
      lexer.expect(":");
      node.kwargs.emplace_back(std::move(key), to_argument(parse_expr(lexer), scope_, lexer));
      if (!lexer.take(",")) break;
    }
    lexer.expect("}");
  }

  void read_return(std::string_view line) {
    std::string_view value = strip(line.substr(6));
    if (value.empty()) {
      graph_.output(NoneArg{});
      return;
    }
    // PyTorch prints the names of what is returned without the mark.
    const bool unmarked = value.find('%') == std::string_view::npos;
    Scope plain;
    if (unmarked) {
      for (const FxNames::Entry& e : scope_.nodes.entries()) plain.nodes.emplace(e.name.substr(1), e.node);
    }
    Lexer lexer = lexer_at(value);
    Argument returned = to_argument(parse_expr(lexer), unmarked ? plain : scope_, lexer);
    if (lexer.peek().kind != TokenKind::End) lexer.fail("the end of the line");
    Node* output = graph_.output(std::move(returned));
    if (unmarked) output->meta.extra["fx.unmarked"] = "1";
  }

  /// The number of users is kept only where it is not the one that the graph has.
  void finish_users() {
    const UserMap users = users_of(graph_);
    for (const auto& n : graph_.nodes()) {
      auto it = n->meta.extra.find("fx.users");
      if (it == n->meta.extra.end()) continue;
      if (it->second == "[num_users=" + std::to_string(users.at(n.get()).size()) + "]") n->meta.extra.erase(it);
    }
  }

  std::string_view text_;
  size_t at_, line_;
  size_t line_start_ = 0;
  Graph graph_;
  Scope scope_;
};

}  // namespace

Graph parse_listing(std::string_view text, size_t offset, size_t line, const std::shared_ptr<ShapeEnv>& env,
                    const std::shared_ptr<IdSource>& ids, std::string_view& rest) {
  return ListingReader(text, offset, line, env, ids).read(rest);
}

}  // namespace strata::fx
