#include "text/jinja_eval.h"

#include <algorithm>

#include "base/format.h"
#include "text/jinja_builtins.h"

namespace assay::text::jinja {
namespace {

enum class Flow : std::uint8_t { next, break_loop, continue_loop };

class Evaluator final : public Engine {
 public:
  Evaluator(Dict globals, const Limits& limits) : limits_(limits) {
    globals.emplace_back("range", Function([](Call& call) { return make_range(call); }));
    globals.emplace_back("namespace", Function([](Call& call) {
                           Dict members = call.named;
                           for (const Value& one : call.positional) {
                             if (!one.is_dict()) fail("namespace: not a dict");
                             spend(copy_cost(one.dict()));
                             members.insert(members.begin(), one.dict().begin(), one.dict().end());
                           }
                           return Value::name_space(std::move(members));
                         }));
    globals.emplace_back("dict", Function([](Call& call) -> Value {
                           Dict made;
                           for (const Value& one : call.positional) {
                             if (!one.is_dict()) continue;
                             spend(copy_cost(one.dict()));
                             made = one.dict();
                           }
                           for (const auto& [key, value] : call.named) {
                             set_in(made, key.text(), value);
                           }
                           return made;
                         }));
    globals.emplace_back(
        "raise_exception", Function([](Call& call) -> Value {
          fail(format("the template refuses: {}", call.required(0, "message").text()));
        }));
    scopes_.push_back(std::move(globals));
    scopes_.emplace_back();
  }

  std::string run(const Body& body) {
    try {
      std::string out;
      block(body, out);
      return out;
    } catch (Fault& fault) {
      if (fault.line == 0) fault.line = line_;
      throw;
    }
  }

  Value filter(std::string_view name, const Value& value, Call& call) override {
    return apply_filter(*this, name, value, call);
  }
  bool test(std::string_view name, const Value& value, Call& call) override {
    return apply_test(name, value, call);
  }

 private:
  static void set_in(Dict& dict, const std::string& name, Value value) {
    spend(dict.size() * 4);
    const auto at = std::find_if(dict.begin(), dict.end(),
                                 [&name](const auto& one) { return one.first == name; });
    if (at == dict.end()) {
      dict.emplace_back(name, std::move(value));
    } else {
      at->second = std::move(value);
    }
  }

  // As in Python, a key that equals an earlier one (1 and True) gives it another value.
  static void set_key(Dict& dict, const Value& key, Value value) {
    spend(dict.size() * 4);
    Key made = Key::of(key);
    const auto at = std::find_if(dict.begin(), dict.end(),
                                 [&key](const auto& one) { return one.first.is(key); });
    if (at == dict.end()) {
      dict.emplace_back(std::move(made), std::move(value));
    } else {
      at->second = std::move(value);
    }
  }

  void step(int line) {
    if (line > 0) line_ = line;
    if (++steps_ > limits_.steps_max) {
      fail(format("the template takes more than {} steps: does it loop?", limits_.steps_max));
    }
  }

  class Deeper {
   public:
    explicit Deeper(Evaluator& self) : self_(self) {
      if (++self_.depth_ > self_.limits_.depth_max) {
        --self_.depth_;
        fail("the template's calls or blocks are nested too deeply");
      }
    }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --self_.depth_; }

   private:
    Evaluator& self_;
  };

  void put(std::string& out, std::string_view text) const {
    if (out.size() + text.size() > limits_.output_bytes_max) {
      fail(format("the template makes more than {} bytes", limits_.output_bytes_max));
    }
    out += text;
  }

  Value look_up(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      spend(scope->size());
      for (const auto& [key, value] : *scope) {
        if (key == name) return value;
      }
    }
    return Value::undefined(name);
  }

  // --- nodes ---

  Flow block(const Body& body, std::string& out) {
    const Deeper deeper(*this);
    for (const Node& node : body) {
      const Flow flow = one(node, out);
      if (flow != Flow::next) return flow;
    }
    return Flow::next;
  }

  // Runs the body in its own scope.
  Flow scoped(const Body& body, std::string& out) {
    scopes_.emplace_back();
    const Flow flow = block(body, out);
    scopes_.pop_back();
    return flow;
  }

  Flow one(const Node& node, std::string& out) {
    step(node.line);
    switch (node.kind) {
      case Node::Kind::text:
        put(out, node.text);
        break;
      case Node::Kind::print:
        put(out, eval(*node.expression).text());
        break;
      case Node::Kind::branch:
        return branch(node, out);
      case Node::Kind::loop:
        loop(node, out);
        break;
      case Node::Kind::set:
        assign(node, eval(*node.expression));
        break;
      case Node::Kind::set_block: {
        std::string text;
        scoped(node.bodies[0], text);
        assign(node, node.expression ? filtered(*node.expression, text) : Value(std::move(text)));
        break;
      }
      case Node::Kind::filter_block: {
        std::string text;
        scoped(node.bodies[0], text);
        put(out, filtered(*node.expression, text).text());
        break;
      }
      case Node::Kind::macro:
        set_in(scopes_.back(), node.text, macro(node));
        break;
      case Node::Kind::call_block:
        put(out, call_block(node).text());
        break;
      case Node::Kind::body:
        return scoped(node.bodies[0], out);
      case Node::Kind::break_loop:
        return Flow::break_loop;
      case Node::Kind::continue_loop:
        return Flow::continue_loop;
    }
    return Flow::next;
  }

  Flow branch(const Node& node, std::string& out) {
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      const bool chosen = i >= node.tests.size() || eval(*node.tests[i]).truth();
      if (chosen) return block(node.bodies[i], out);
    }
    return Flow::next;
  }

  void assign(const Node& node, Value value) {
    if (!node.text.empty()) {
      const Value target = look_up(node.names[0]);
      if (!target.is_namespace()) {
        fail(format("only a namespace's attributes can be set, and '{}' is {}", node.names[0],
                    target.type_name()));
      }
      Value::check_member(value);
      set_in(target.members(), node.text, std::move(value));
      return;
    }
    unpack(node.names, std::move(value));
  }

  void unpack(const std::vector<std::string>& names, Value value) {
    if (names.size() == 1) {
      set_in(scopes_.back(), names[0], std::move(value));
      return;
    }
    const List parts = value.items();
    if (parts.size() != names.size()) {
      fail(format("{} names for {} values", names.size(), parts.size()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) set_in(scopes_.back(), names[i], parts[i]);
  }

  void loop(const Node& node, std::string& out) {
    if (node.recursive) fail("recursive loops are not supported");
    const Value over = eval(*node.expression);
    List items = over.items();
    if (node.filter) {
      List kept;
      for (const Value& item : items) {
        scopes_.emplace_back();
        unpack(node.names, item);
        const bool good = eval(*node.filter).truth();
        scopes_.pop_back();
        if (good) kept.push_back(item);
      }
      items = std::move(kept);
    }
    if (items.empty()) {
      if (node.bodies.size() > 1) scoped(node.bodies[1], out);
      return;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      step(node.line);
      spend(items[i].copy_cost());
      scopes_.emplace_back();
      set_in(scopes_.back(), "loop", loop_facts(items, i));
      unpack(node.names, items[i]);
      const Flow flow = block(node.bodies[0], out);
      scopes_.pop_back();
      if (flow == Flow::break_loop) break;
    }
  }

  static Value loop_facts(const List& items, std::size_t i) {
    const auto number = [](std::size_t n) { return Value(static_cast<std::int64_t>(n)); };
    const std::size_t n = items.size();
    return Value::facts({
        {"index", number(i + 1)},
        {"index0", number(i)},
        {"revindex", number(n - i)},
        {"revindex0", number(n - i - 1)},
        {"first", Value(i == 0)},
        {"last", Value(i + 1 == n)},
        {"length", number(n)},
        {"previtem", i > 0 ? items[i - 1] : Value::undefined("loop.previtem")},
        {"nextitem", i + 1 < n ? items[i + 1] : Value::undefined("loop.nextitem")},
        {"cycle", Function([i](Call& call) -> Value {
           if (call.positional.empty()) fail("loop.cycle: nothing to cycle through");
           return call.positional[i % call.positional.size()];
         })},
    });
  }

  // Applies the outer filters of the chain to `text`.
  Value filtered(const Expression& chain, const std::string& text) {
    scopes_.emplace_back();
    set_in(scopes_.back(), " body", text);
    Value value = eval(chain);
    scopes_.pop_back();
    return value;
  }

  // Defines a macro. It sees its arguments and the template's top-level names, not its caller's.
  Value macro(const Node& node) {
    return Function([this, &node](Call& call) -> Value {
      const Deeper deeper(*this);
      Dict arguments;
      if (call.positional.size() > node.names.size()) {
        fail(format("{}: more than {} arguments", node.text, node.names.size()));
      }
      for (std::size_t i = 0; i < node.names.size(); ++i) {
        arguments.emplace_back(node.names[i], argument_of(node, call, i));
      }
      for (const auto& [key, value] : call.named) {
        if (key == "caller") {
          arguments.emplace_back(key, value);
        } else if (std::find(node.names.begin(), node.names.end(), key) == node.names.end()) {
          fail(format("{}: no argument '{}'", node.text, key.text()));
        }
      }
      std::vector<Dict> outer(std::make_move_iterator(scopes_.begin() + 2),
                              std::make_move_iterator(scopes_.end()));
      scopes_.resize(2);
      scopes_.push_back(std::move(arguments));
      std::string out;
      block(node.bodies[0], out);
      scopes_.resize(2);
      scopes_.insert(scopes_.end(), std::make_move_iterator(outer.begin()),
                     std::make_move_iterator(outer.end()));
      return out;
    });
  }

  Value argument_of(const Node& node, const Call& call, std::size_t i) {
    const std::string& name = node.names[i];
    Value value = call.argument(i, name, Value::undefined(name));
    if (!value.is_undefined()) return value;
    for (const auto& [key, expression] : node.defaults) {
      if (key == name) return eval(*expression);
    }
    return value;
  }

  Value call_block(const Node& node) {
    if (node.expression->kind != Expression::Kind::call) fail("{% call %} needs a call");
    Call call = arguments(*node.expression, 1);
    call.named.emplace_back("caller", Function([this, &node](Call& inner) -> Value {
                              const Deeper deeper(*this);
                              scopes_.emplace_back();
                              for (std::size_t i = 0; i < node.names.size(); ++i) {
                                set_in(scopes_.back(), node.names[i], argument_of(node, inner, i));
                              }
                              std::string out;
                              block(node.bodies[0], out);
                              scopes_.pop_back();
                              return out;
                            }));
    return invoke(eval(*node.expression->children[0]), call);
  }

  // --- expressions ---

  Call arguments(const Expression& expression, std::size_t from) {
    Call call;
    for (std::size_t i = from; i < expression.children.size(); ++i) {
      call.positional.push_back(eval(*expression.children[i]));
    }
    for (const auto& [name, value] : expression.named) call.named.emplace_back(name, eval(*value));
    return call;
  }

  static Value invoke(const Value& callee, Call& call) {
    if (callee.is_undefined()) fail(format("'{}' is undefined", callee.name()));
    if (!callee.is_function()) fail(format("{} cannot be called", callee.type_name()));
    return callee.function()(call);
  }

  Value eval(const Expression& e) {
    step(e.line);
    Value value = value_of(e);
    if (value.is_string()) spend(value.string().size());
    return value;
  }

  Value value_of(const Expression& e) {
    using Kind = Expression::Kind;
    const auto child = [&](std::size_t i) { return eval(*e.children[i]); };
    switch (e.kind) {
      case Kind::literal:
        return e.literal;
      case Kind::name:
        return look_up(e.name);
      case Kind::list: {
        List list;
        for (const ExpressionPtr& one : e.children) list.push_back(eval(*one));
        return e.name.empty() ? Value(std::move(list)) : Value::tuple(std::move(list));
      }
      case Kind::dict: {
        Dict dict;
        for (std::size_t i = 0; i + 1 < e.children.size(); i += 2) {
          const Value key = child(i);
          set_key(dict, key, child(i + 1));
        }
        return dict;
      }
      case Kind::attribute:
        return attribute(child(0), e.name);
      case Kind::item:
        return item(child(0), child(1));
      case Kind::slice:
        return slice(child(0), child(1), child(2), child(3));
      case Kind::call: {
        const Value callee = child(0);
        Call call = arguments(e, 1);
        return invoke(callee, call);
      }
      case Kind::filter: {
        const Value value = child(0);
        Call call = arguments(e, 1);
        return filter(e.name, value, call);
      }
      case Kind::test: {
        const Value value = child(0);
        Call call = arguments(e, 1);
        return test(e.name, value, call) != e.negative;
      }
      case Kind::unary:
        return negate(e.name, child(0));
      case Kind::binary:
        return binary(e.name, child(0), child(1));
      case Kind::compare:
        return compare(e);
      case Kind::logic_and: {
        const Value left = child(0);
        return left.truth() ? child(1) : left;
      }
      case Kind::logic_or: {
        const Value left = child(0);
        return left.truth() ? left : child(1);
      }
      case Kind::logic_not:
        return !child(0).truth();
      case Kind::conditional:
        if (child(0).truth()) return child(1);
        return e.children.size() > 2 ? child(2) : Value::undefined("the other case");
    }
    return {};
  }

  static Value negate(std::string_view op, const Value& value) {
    if (op == "+") return value;
    return value.is_float() ? Value(-value.number()) : binary("-", Value(std::int64_t{0}), value);
  }

  Value compare(const Expression& e) {
    Value left = eval(*e.children[0]);
    for (std::size_t i = 0; i < e.operators.size(); ++i) {
      Value right = eval(*e.children[i + 1]);
      const std::string& op = e.operators[i];
      const bool good = op == "=="   ? left == right
                        : op == "!=" ? !(left == right)
                        : op == "<"  ? left < right
                        : op == ">"  ? right < left
                        : op == "<=" ? !(right < left)
                        : op == ">=" ? !(left < right)
                        : op == "in" ? contains(right, left)
                                     : !contains(right, left);
      if (!good) return false;
      left = std::move(right);
    }
    return true;
  }

  const Limits limits_;
  std::vector<Dict> scopes_{};
  std::uint64_t steps_ = 0;
  int depth_ = 0;
  int line_ = 0;
};

}  // namespace

std::string render(const Body& body, Dict globals, const Limits& limits) {
  const Budget budget(limits.work_bytes_max);
  return Evaluator(std::move(globals), limits).run(body);
}

}  // namespace assay::text::jinja
