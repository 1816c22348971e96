// A template's syntax tree, and its parser: the part of Jinja2 that chat templates use, with the
// settings of the public libraries (trim_blocks, lstrip_blocks, loop controls, `generation`
// blocks). Errors carry line numbers. Limits: 1 MiB of text, nesting 100.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja_value.h"

namespace assay::text::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : std::uint8_t {
    literal,
    name,
    list,
    dict,
    attribute,
    item,
    slice,
    call,
    filter,
    test,
    unary,
    binary,
    compare,
    logic_and,
    logic_or,
    logic_not,
    conditional
  };
  Kind kind = Kind::literal;
  int line = 0;
  Value literal{};
  std::string name{};     // name, attribute, filter, test, operator; "tuple": a tuple
  bool negative = false;  // "is not"
  std::vector<ExpressionPtr> children{};  // operands; list items; dict keys and values in turn
  std::vector<std::string> operators{};   // compare: one for each pair of neighbours
  std::vector<std::pair<std::string, ExpressionPtr>> named{};  // keyword arguments
};

struct Node;
using Body = std::vector<Node>;

struct Node {
  enum class Kind : std::uint8_t {
    text,
    print,
    branch,
    loop,
    set,
    set_block,
    macro,
    call_block,
    filter_block,
    break_loop,
    continue_loop,
    body
  };
  Kind kind = Kind::text;
  int line = 0;
  std::string text{};                  // text; the macro's name; the set's attribute
  std::vector<std::string> names{};    // targets of set and loop; the macro's arguments
  std::vector<ExpressionPtr> tests{};  // branch: a condition for each body, except a last else
  ExpressionPtr expression{};          // print, set; the sequence of a loop; a call; a filter
  ExpressionPtr filter{};              // loop: the "if" after it
  std::vector<std::pair<std::string, ExpressionPtr>> defaults{};  // macro
  std::vector<Body> bodies{};                                     // branch; loop: body, else
  bool recursive = false;                                         // loop
};

// Throws Fault.
Body parse(std::string_view source);

}  // namespace assay::text::jinja
