#include "text/jinja_parse.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "text/jinja_lexer.h"

namespace assay::text::jinja {
namespace {

constexpr int kExpressionDepthMax = 100;
using TokenKind = Token::Kind;
using EKind = Expression::Kind;

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Body run() {
    Body body = until({});
    return body;
  }

 private:
  // Counts one level of nesting during its lifetime.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kExpressionDepthMax) parser_.fault("nested too deeply");
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  const Token& now() const { return tokens_[at_]; }
  [[noreturn]] void fault(std::string message) const {
    throw Fault{std::move(message), now().line};
  }
  bool is(TokenKind kind, std::string_view text) const {
    return now().kind == kind && now().text == text;
  }
  bool symbol(std::string_view text) {
    if (!is(TokenKind::symbol, text)) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view text) {
    if (!is(TokenKind::name, text)) return false;
    ++at_;
    return true;
  }
  void need(std::string_view text) {
    if (!symbol(text)) fault(format("expected '{}', found '{}'", text, now().text));
  }
  std::string name() {
    if (now().kind != TokenKind::name) fault(format("expected a name, found '{}'", now().text));
    return tokens_[at_++].text;
  }
  void block_end() {
    if (now().kind != TokenKind::block_end) fault(format("unexpected '{}' in a block", now().text));
    ++at_;
  }

  // Reads nodes until a block that begins with one of `ends`; consumes that name and stores it in
  // end_.
  Body until(std::initializer_list<std::string_view> ends) {
    const Level level(*this);
    Body body;
    for (;;) {
      const Token& token = now();
      if (token.kind == TokenKind::end) {
        if (ends.size() > 0) fault(format("the template ends without '{}'", *(ends.end() - 1)));
        return body;
      }
      Node node;
      node.line = token.line;
      if (token.kind == TokenKind::text) {
        node.text = token.text;
        ++at_;
        body.push_back(std::move(node));
      } else if (token.kind == TokenKind::print_begin) {
        ++at_;
        node.kind = Node::Kind::print;
        node.expression = expression_or_tuple();
        if (now().kind != TokenKind::print_end) fault(format("unexpected '{}'", now().text));
        ++at_;
        body.push_back(std::move(node));
      } else {
        ++at_;
        const std::string tag = name();
        if (std::find(ends.begin(), ends.end(), tag) != ends.end()) {
          end_ = tag;
          return body;
        }
        statement(tag, node, body);
      }
    }
  }

  void statement(const std::string& tag, Node& node, Body& body) {
    if (tag == "if") {
      branch(node);
    } else if (tag == "for") {
      loop(node);
    } else if (tag == "set") {
      set(node);
    } else if (tag == "macro") {
      macro(node);
    } else if (tag == "call") {
      node.kind = Node::Kind::call_block;
      if (symbol("(")) arguments_of_macro(node);
      node.expression = expression();
      block_end();
      node.bodies.push_back(until({"endcall"}));
      block_end();
    } else if (tag == "filter") {
      node.kind = Node::Kind::filter_block;
      node.expression = filter_chain();
      block_end();
      node.bodies.push_back(until({"endfilter"}));
      block_end();
    } else if (tag == "generation") {
      node.kind = Node::Kind::body;
      block_end();
      node.bodies.push_back(until({"endgeneration"}));
      block_end();
    } else if (tag == "break" || tag == "continue") {
      node.kind = tag == "break" ? Node::Kind::break_loop : Node::Kind::continue_loop;
      block_end();
    } else {
      --at_;
      fault(format("unknown or misplaced tag '{}'", tag));
    }
    body.push_back(std::move(node));
  }

  void branch(Node& node) {
    node.kind = Node::Kind::branch;
    node.tests.push_back(expression_or_tuple());
    block_end();
    for (;;) {
      node.bodies.push_back(until({"elif", "else", "endif"}));
      const std::string tag = end_;
      if (tag == "elif") node.tests.push_back(expression_or_tuple());
      block_end();
      if (tag == "endif") return;
      if (tag == "else") {
        node.bodies.push_back(until({"endif"}));
        block_end();
        return;
      }
    }
  }

  void loop(Node& node) {
    node.kind = Node::Kind::loop;
    node.names = targets();
    if (!word("in")) fault("expected 'in'");
    node.expression = expression_or_tuple(false);
    if (word("if")) node.filter = expression();
    node.recursive = word("recursive");
    block_end();
    node.bodies.push_back(until({"else", "endfor"}));
    const bool has_else = end_ == "else";
    block_end();
    if (!has_else) return;
    node.bodies.push_back(until({"endfor"}));
    block_end();
  }

  std::vector<std::string> targets() {
    std::vector<std::string> names;
    const bool bracket = symbol("(");
    do {
      if (bracket && is(TokenKind::symbol, ")")) break;
      names.push_back(name());
    } while (symbol(","));
    if (bracket) need(")");
    return names;
  }

  void set(Node& node) {
    node.names = targets();
    if (node.names.size() == 1 && symbol(".")) node.text = name();
    if (symbol("=")) {
      node.kind = Node::Kind::set;
      node.expression = expression_or_tuple();
      block_end();
      return;
    }
    node.kind = Node::Kind::set_block;
    if (is(TokenKind::symbol, "|")) node.expression = filter_chain(true);
    block_end();
    node.bodies.push_back(until({"endset"}));
    block_end();
  }

  void macro(Node& node) {
    node.kind = Node::Kind::macro;
    node.text = name();
    need("(");
    arguments_of_macro(node);
    block_end();
    node.bodies.push_back(until({"endmacro"}));
    if (now().kind == TokenKind::name) ++at_;  // {% endmacro name %}
    block_end();
  }

  void arguments_of_macro(Node& node) {
    while (!symbol(")")) {
      node.names.push_back(name());
      if (symbol("=")) node.defaults.emplace_back(node.names.back(), expression());
      if (!symbol(",") && !is(TokenKind::symbol, ")")) fault("expected ',' or ')'");
    }
  }

  // Reads name(args) | name …, not yet applied to a value: the innermost child is empty.
  ExpressionPtr filter_chain(bool bar_first = false) {
    if (bar_first) need("|");
    ExpressionPtr inner = std::make_unique<Expression>();
    inner->kind = EKind::name;
    inner->name = " body";
    do {
      ExpressionPtr filter = make(EKind::filter);
      filter->name = dotted();
      filter->children.push_back(std::move(inner));
      if (symbol("(")) arguments(*filter);
      inner = std::move(filter);
    } while (symbol("|"));
    return inner;
  }

  std::string dotted() {
    std::string text = name();
    while (symbol(".")) text += "." + name();
    return text;
  }

  // --- expressions ---

  ExpressionPtr make(EKind kind) const {
    auto made = std::make_unique<Expression>();
    made->kind = kind;
    made->line = now().line;
    return made;
  }
  ExpressionPtr join(EKind kind, ExpressionPtr left, ExpressionPtr right, std::string op = {}) {
    ExpressionPtr made = make(kind);
    made->name = std::move(op);
    made->children.push_back(std::move(left));
    if (right) made->children.push_back(std::move(right));
    return made;
  }

  // Makes a list marked by `name` as a tuple.
  ExpressionPtr make_tuple() {
    ExpressionPtr tuple = make(EKind::list);
    tuple->name = "tuple";
    return tuple;
  }

  ExpressionPtr expression_or_tuple(bool conditional = true) {
    ExpressionPtr first = conditional ? expression() : logic_or();
    if (!is(TokenKind::symbol, ",")) return first;
    ExpressionPtr tuple = make_tuple();
    tuple->children.push_back(std::move(first));
    while (symbol(",")) {
      const bool over = now().kind == TokenKind::block_end || now().kind == TokenKind::print_end;
      if (over) break;
      tuple->children.push_back(expression());
    }
    return tuple;
  }

  ExpressionPtr expression() {
    const Level level(*this);
    ExpressionPtr value = logic_or();
    while (word("if")) {
      ExpressionPtr choice = make(EKind::conditional);
      choice->children.push_back(logic_or());
      choice->children.push_back(std::move(value));
      if (word("else")) choice->children.push_back(expression());
      value = std::move(choice);
    }
    return value;
  }

  ExpressionPtr logic_or() {
    ExpressionPtr left = logic_and();
    while (word("or")) left = join(EKind::logic_or, std::move(left), logic_and());
    return left;
  }

  ExpressionPtr logic_and() {
    ExpressionPtr left = logic_not();
    while (word("and")) left = join(EKind::logic_and, std::move(left), logic_not());
    return left;
  }

  ExpressionPtr logic_not() {
    if (word("not")) {
      const Level level(*this);
      return join(EKind::logic_not, logic_not(), nullptr);
    }
    return compare();
  }

  ExpressionPtr compare() {
    ExpressionPtr left = additive();
    ExpressionPtr chain;
    for (;;) {
      std::string op;
      for (const std::string_view one : {"==", "!=", "<=", ">=", "<", ">"}) {
        if (symbol(one)) {
          op = one;
          break;
        }
      }
      if (op.empty() && word("in")) op = "in";
      if (op.empty() && is(TokenKind::name, "not") && tokens_[at_ + 1].kind == TokenKind::name &&
          tokens_[at_ + 1].text == "in") {
        at_ += 2;
        op = "not in";
      }
      if (op.empty()) return chain ? std::move(chain) : std::move(left);
      if (!chain) {
        chain = make(EKind::compare);
        chain->children.push_back(std::move(left));
      }
      chain->operators.push_back(op);
      chain->children.push_back(additive());
    }
  }

  ExpressionPtr additive() {
    ExpressionPtr left = concatenation();
    for (;;) {
      if (symbol("+")) {
        left = join(EKind::binary, std::move(left), concatenation(), "+");
      } else if (symbol("-")) {
        left = join(EKind::binary, std::move(left), concatenation(), "-");
      } else {
        return left;
      }
    }
  }

  ExpressionPtr concatenation() {
    ExpressionPtr left = product();
    while (symbol("~")) left = join(EKind::binary, std::move(left), product(), "~");
    return left;
  }

  ExpressionPtr product() {
    ExpressionPtr left = unary();
    for (;;) {
      std::string op;
      for (const std::string_view one : {"*", "//", "/", "%"}) {
        if (symbol(one)) {
          op = one;
          break;
        }
      }
      if (op.empty()) return left;
      left = join(EKind::binary, std::move(left), unary(), op);
    }
  }

  ExpressionPtr unary(bool with_filters = true) {
    const Level level(*this);
    ExpressionPtr value;
    if (symbol("-")) {
      value = join(EKind::unary, unary(false), nullptr, "-");
    } else if (symbol("+")) {
      value = join(EKind::unary, unary(false), nullptr, "+");
    } else {
      value = postfix(primary());
      if (symbol("**")) value = join(EKind::binary, std::move(value), unary(false), "**");
    }
    return with_filters ? filters(std::move(value)) : std::move(value);
  }

  ExpressionPtr primary() {
    const Token& token = now();
    ExpressionPtr value = make(EKind::literal);
    switch (token.kind) {
      case TokenKind::name:
        return named_value();
      case TokenKind::string: {
        std::string text;
        while (now().kind == TokenKind::string) text += tokens_[at_++].text;
        value->literal = Value(std::move(text));
        return value;
      }
      case TokenKind::integer: {
        const auto number = parse_int(token.text);
        if (!number) fault(format("the number {} is too large", token.text));
        value->literal = Value(*number);
        ++at_;
        return value;
      }
      case TokenKind::real:
        value->literal = Value(parse_double(token.text).value_or(0));
        ++at_;
        return value;
      default:
        break;
    }
    if (symbol("(")) return bracketed();
    if (symbol("[")) {
      ExpressionPtr list = make(EKind::list);
      while (!symbol("]")) {
        list->children.push_back(expression());
        if (!symbol(",") && !is(TokenKind::symbol, "]")) fault("expected ',' or ']'");
      }
      return list;
    }
    if (symbol("{")) {
      ExpressionPtr dict = make(EKind::dict);
      while (!symbol("}")) {
        dict->children.push_back(expression());
        need(":");
        dict->children.push_back(expression());
        if (!symbol(",") && !is(TokenKind::symbol, "}")) fault("expected ',' or '}'");
      }
      return dict;
    }
    fault(format("unexpected '{}'", token.kind == TokenKind::end ? "end" : token.text));
  }

  ExpressionPtr named_value() {
    ExpressionPtr value = make(EKind::literal);
    const std::string text = name();
    if (text == "true" || text == "True") {
      value->literal = Value(true);
    } else if (text == "false" || text == "False") {
      value->literal = Value(false);
    } else if (text != "none" && text != "None") {
      value->kind = EKind::name;
      value->name = text;
    }
    return value;
  }

  ExpressionPtr bracketed() {
    if (symbol(")")) return make_tuple();
    ExpressionPtr first = expression();
    if (symbol(")")) return first;
    ExpressionPtr tuple = make_tuple();
    tuple->children.push_back(std::move(first));
    while (!symbol(")")) {
      need(",");
      if (symbol(")")) break;
      tuple->children.push_back(expression());
    }
    return tuple;
  }

  ExpressionPtr postfix(ExpressionPtr value) {
    for (;;) {
      if (symbol(".")) {
        ExpressionPtr member = join(EKind::attribute, std::move(value), nullptr);
        if (now().kind == TokenKind::integer) {
          member->kind = EKind::item;
          ExpressionPtr index = make(EKind::literal);
          index->literal = Value(parse_int(now().text).value_or(0));
          ++at_;
          member->children.push_back(std::move(index));
        } else {
          member->name = name();
        }
        value = std::move(member);
      } else if (symbol("[")) {
        value = subscript(std::move(value));
      } else if (symbol("(")) {
        value = join(EKind::call, std::move(value), nullptr);
        arguments(*value);
      } else {
        return value;
      }
    }
  }

  ExpressionPtr subscript(ExpressionPtr value) {
    std::array<ExpressionPtr, 3> parts{};
    std::size_t colons = 0;
    for (;;) {
      if (symbol("]")) break;
      if (symbol(":")) {
        if (++colons > 2) fault("a slice has at most two ':'");
      } else if (parts[colons]) {
        fault("expected ']'");
      } else {
        parts[colons] = expression();
      }
    }
    if (colons == 0) {
      if (!parts[0]) fault("an empty subscript");
      return join(EKind::item, std::move(value), std::move(parts[0]));
    }
    ExpressionPtr slice = join(EKind::slice, std::move(value), nullptr);
    for (ExpressionPtr& part : parts) {
      slice->children.push_back(part ? std::move(part) : make(EKind::literal));
    }
    return slice;
  }

  // Reads arguments after '('.
  void arguments(Expression& call) {
    while (!symbol(")")) {
      const bool keyword = now().kind == TokenKind::name &&
                           tokens_[at_ + 1].kind == TokenKind::symbol &&
                           tokens_[at_ + 1].text == "=";
      if (keyword) {
        std::string key = name();
        ++at_;
        call.named.emplace_back(std::move(key), expression());
      } else {
        call.children.push_back(expression());
      }
      if (!symbol(",") && !is(TokenKind::symbol, ")")) fault("expected ',' or ')'");
    }
  }

  ExpressionPtr filters(ExpressionPtr value) {
    for (;;) {
      if (symbol("|")) {
        value = join(EKind::filter, std::move(value), nullptr, dotted());
        if (symbol("(")) arguments(*value);
      } else if (word("is")) {
        const bool negative = word("not");
        value = join(EKind::test, std::move(value), nullptr, dotted());
        value->negative = negative;
        if (symbol("(")) {
          arguments(*value);
        } else if (test_argument_follows()) {
          value->children.push_back(postfix(primary()));
        }
      } else if (is(TokenKind::symbol, "(")) {
        ++at_;
        value = join(EKind::call, std::move(value), nullptr);
        arguments(*value);
      } else {
        return value;
      }
    }
  }

  // True for "x is divisibleby 3": a test may take one argument without brackets.
  bool test_argument_follows() const {
    const Token& token = now();
    if (token.kind == TokenKind::string || token.kind == TokenKind::integer ||
        token.kind == TokenKind::real) {
      return true;
    }
    if (token.kind == TokenKind::symbol) return token.text == "[" || token.text == "{";
    constexpr std::array<std::string_view, 7> kWords = {"else", "or", "and", "is",
                                                        "if",   "in", "not"};
    return token.kind == TokenKind::name &&
           std::find(kWords.begin(), kWords.end(), token.text) == kWords.end();
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string end_{};
};

}  // namespace

Body parse(std::string_view source) { return Parser(tokenize(source)).run(); }

}  // namespace assay::text::jinja
