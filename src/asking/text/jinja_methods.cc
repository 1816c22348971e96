#include "text/jinja_methods.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/format.h"
#include "text/unicode.h"

namespace assay::text::jinja {
namespace {

// Upper bound on the cost of std::string's backward search: it compares at every place.
std::uint64_t backward_cost(std::string_view text, std::string_view what) {
  return text.size() / 16 * std::min(what.size(), text.size());
}

bool is_python_space(char32_t c) { return is_space(c) || (c >= 0x1C && c <= 0x1F); }

List split(const std::string& text, const Value& separator, std::int64_t times_max) {
  List out;
  const std::int64_t most = times_max < 0 ? std::numeric_limits<std::int64_t>::max() : times_max;
  std::size_t at = 0;
  if (!separator.is_none()) {
    const std::string& by = separator.string();
    if (by.empty()) fail("split: the separator is empty");
    for (std::int64_t n = 0; n < most; ++n) {
      const std::size_t next = find_text(text, by, at);
      if (next == std::string::npos) break;
      spend(Value::kCost);
      out.emplace_back(text.substr(at, next - at));
      at = next + by.size();
    }
    out.emplace_back(text.substr(at));
    return out;
  }
  const auto skip = [&](bool spaces) {
    while (at < text.size()) {
      const CodePoint c = decode_at(text, at);
      if (is_python_space(c.value) != spaces) break;
      at += c.bytes;
    }
  };
  for (skip(true); at < text.size(); skip(true)) {
    const std::size_t begin = at;
    spend(Value::kCost);
    if (static_cast<std::int64_t>(out.size()) == most) {
      out.emplace_back(strip(std::string_view(text).substr(begin), Value(), false, true));
      break;
    }
    skip(false);
    out.emplace_back(text.substr(begin, at - begin));
  }
  return out;
}

List split_from_right(const std::string& text, const std::string& by, std::int64_t times_max) {
  if (by.empty()) fail("rsplit: the separator is empty");
  spend(backward_cost(text, by));
  List out;
  std::size_t end = text.size();
  for (std::int64_t n = 0; n != times_max && end >= by.size(); ++n) {
    const std::size_t at = text.rfind(by, end - by.size());
    if (at == std::string::npos) break;
    spend(Value::kCost);
    out.emplace_back(text.substr(at + by.size(), end - at - by.size()));
    end = at;
  }
  out.emplace_back(text.substr(0, end));
  std::reverse(out.begin(), out.end());
  return out;
}

List split_lines(const std::string& text, bool keep_ends) {
  List out;
  for (std::size_t at = 0; at < text.size();) {
    spend(Value::kCost);
    std::size_t end = text.find_first_of("\n\r\v\f", at);
    const bool last = end == std::string::npos;
    if (last) end = text.size();
    std::size_t next = last ? end : end + 1;
    if (!last && text[end] == '\r' && next < text.size() && text[next] == '\n') ++next;
    out.emplace_back(text.substr(at, (keep_ends ? next : end) - at));
    at = next;
  }
  return out;
}

bool affix(const std::string& text, const Value& what, bool front) {
  const auto one = [&](const Value& value) {
    return front ? text.starts_with(value.string()) : text.ends_with(value.string());
  };
  if (what.is_string()) return one(what);
  if (!what.is_list()) fail("startswith and endswith take a string or a tuple of them");
  return std::any_of(what.list().begin(), what.list().end(), one);
}

bool all_of(const std::string& text, bool (*predicate)(char32_t)) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    if (!predicate(c.value)) return false;
    at += c.bytes;
  }
  return !text.empty();
}

bool is_letter(char32_t c) {
  const GeneralCategory kind = category(c);
  return kind >= GeneralCategory::lu && kind <= GeneralCategory::lo;
}

Value join_list(const std::string& between, const Value& list) {
  std::string out;
  bool first = true;
  for (const Value& one : list.items()) {
    if (!one.is_string()) fail(format("join: an item is {}, not str", one.type_name()));
    spend(between.size() + one.string().size());
    if (!first) out += between;
    out += one.string();
    first = false;
  }
  return out;
}

std::int64_t find_characters(const std::string& text, const std::string& what, bool last) {
  if (last) spend(backward_cost(text, what));
  const std::size_t at = last ? text.rfind(what) : find_text(text, what, 0);
  if (at == std::string::npos) return -1;
  return static_cast<std::int64_t>(Value(text.substr(0, at)).length());
}

std::int64_t count_of(const std::string& text, const std::string& what) {
  if (what.empty()) return static_cast<std::int64_t>(Value(text).length()) + 1;
  std::int64_t n = 0;
  for (std::size_t at = 0; (at = find_text(text, what, at)) != std::string::npos; at += what.size())
    ++n;
  return n;
}

// Evaluates "{} {0} {name}".format(…), without format specifications.
Value format_braces(const std::string& pattern, Call& call) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      out += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = pattern.find('}', i);
      if (end == std::string::npos) fail("format: a '{' is not closed");
      const std::string name = pattern.substr(i + 1, end - i - 1);
      const bool number = name.find_first_not_of("0123456789") == std::string::npos;
      const std::size_t place = name.empty() ? next++
                                : number && name.size() < 9
                                    ? static_cast<std::size_t>(std::stoul(name))
                                    : call.positional.size();
      const std::string text = call.required(place, number ? " " : name).text();
      spend(text.size());
      out += text;
      i = end;
    } else {
      out += c;
    }
  }
  return out;
}

using Method = Value (*)(const std::string&, Call&);

struct Named {
  std::string_view name{};
  Method method = nullptr;
};

constexpr Named kStringMethods[] = {
    {"strip",
     [](const std::string& s, Call& c) -> Value {
       return strip(s, c.argument(0, "chars", {}), true, true);
     }},
    {"lstrip",
     [](const std::string& s, Call& c) -> Value {
       return strip(s, c.argument(0, "chars", {}), true, false);
     }},
    {"rstrip",
     [](const std::string& s, Call& c) -> Value {
       return strip(s, c.argument(0, "chars", {}), false, true);
     }},
    {"split",
     [](const std::string& s, Call& c) -> Value {
       return split(s, c.argument(0, "sep", {}),
                    c.argument(1, "maxsplit", std::int64_t{-1}).integer());
     }},
    {"rsplit",
     [](const std::string& s, Call& c) -> Value {
       const Value by = c.argument(0, "sep", {});
       const std::int64_t most = c.argument(1, "maxsplit", std::int64_t{-1}).integer();
       if (by.is_none() && most < 0) return split(s, by, -1);
       if (by.is_none()) fail("rsplit: needs a separator");
       return split_from_right(s, by.string(), most);
     }},
    {"splitlines",
     [](const std::string& s, Call& c) -> Value {
       return split_lines(s, c.argument(0, "keepends", false).truth());
     }},
    {"startswith",
     [](const std::string& s, Call& c) -> Value {
       return affix(s, c.required(0, "prefix"), true);
     }},
    {"endswith",
     [](const std::string& s, Call& c) -> Value {
       return affix(s, c.required(0, "suffix"), false);
     }},
    {"removeprefix",
     [](const std::string& s, Call& c) -> Value {
       const std::string front = c.required(0, "prefix").string();
       return s.starts_with(front) ? s.substr(front.size()) : s;
     }},
    {"removesuffix",
     [](const std::string& s, Call& c) -> Value {
       const std::string back = c.required(0, "suffix").string();
       return s.ends_with(back) ? s.substr(0, s.size() - back.size()) : s;
     }},
    {"replace",
     [](const std::string& s, Call& c) -> Value {
       return replace(s, c.required(0, "old").string(), c.required(1, "new").string(),
                      c.argument(2, "count", std::int64_t{-1}).integer());
     }},
    {"upper", [](const std::string& s, Call&) -> Value { return upper_case(s); }},
    {"lower", [](const std::string& s, Call&) -> Value { return lower_case(s); }},
    {"capitalize", [](const std::string& s, Call&) -> Value { return capitalize(s); }},
    {"title", [](const std::string& s, Call&) -> Value { return title(s, false); }},
    {"join",
     [](const std::string& s, Call& c) -> Value { return join_list(s, c.required(0, "list")); }},
    {"find",
     [](const std::string& s, Call& c) -> Value {
       return find_characters(s, c.required(0, "sub").string(), false);
     }},
    {"rfind",
     [](const std::string& s, Call& c) -> Value {
       return find_characters(s, c.required(0, "sub").string(), true);
     }},
    {"index",
     [](const std::string& s, Call& c) -> Value {
       const std::int64_t at = find_characters(s, c.required(0, "sub").string(), false);
       if (at < 0) fail("index: substring not found");
       return at;
     }},
    {"count",
     [](const std::string& s, Call& c) -> Value {
       return count_of(s, c.required(0, "sub").string());
     }},
    {"format", [](const std::string& s, Call& c) -> Value { return format_braces(s, c); }},
    {"isdigit", [](const std::string& s, Call&) -> Value { return all_of(s, is_numeric); }},
    {"isspace", [](const std::string& s, Call&) -> Value { return all_of(s, is_python_space); }},
    {"isalpha", [](const std::string& s, Call&) -> Value { return all_of(s, is_letter); }},
    {"isupper",
     [](const std::string& s, Call&) -> Value { return upper_case(s) == s && lower_case(s) != s; }},
    {"islower",
     [](const std::string& s, Call&) -> Value { return lower_case(s) == s && upper_case(s) != s; }},
};

Value dict_method(const Value& value, std::string_view name) {
  if (name == "items") {
    return Function([value](Call&) -> Value {
      List out;
      spend(2 * copy_cost(value.dict()));
      for (const auto& [key, one] : value.dict()) {
        out.push_back(Value::tuple({key.value(), one}));
      }
      return out;
    });
  }
  if (name == "keys") {
    return Function([value](Call&) -> Value { return value.items(); });
  }
  if (name == "values") {
    return Function([value](Call&) -> Value {
      List out;
      spend(copy_cost(value.dict()));
      for (const auto& [key, one] : value.dict()) out.push_back(one);
      return out;
    });
  }
  if (name == "get") {
    return Function([value](Call& call) -> Value {
      const Value key = call.required(0, "key");
      if (key.is_undefined()) return call.argument(1, "default", {});
      static_cast<void>(Key::of(key));  // fails where Python does
      const Value* found = value.find_key(key);
      return found != nullptr ? *found : call.argument(1, "default", {});
    });
  }
  if (name == "copy") {
    return Function([value](Call&) -> Value {
      spend(copy_cost(value.dict()));
      return Dict(value.dict());
    });
  }
  return Value::undefined(std::string(name));
}

Value list_method(const Value& value, std::string_view name) {
  if (name == "index") {
    return Function([value](Call& call) -> Value {
      const Value what = call.required(0, "value");
      const List& list = value.list();
      const auto at = std::find(list.begin(), list.end(), what);
      if (at == list.end()) fail("index: not in the list");
      return std::int64_t{at - list.begin()};
    });
  }
  if (name == "count") {
    return Function([value](Call& call) -> Value {
      const Value what = call.required(0, "value");
      return std::int64_t{std::count(value.list().begin(), value.list().end(), what)};
    });
  }
  if (name == "append" || name == "extend" || name == "insert" || name == "pop") {
    return Function([method = std::string(name)](Call&) -> Value {
      fail(format("list.{}: the sandbox forbids changing a list", method));
    });
  }
  return Value::undefined(std::string(name));
}

// markupsafe's methods that give markup again. The text that they put in is escaped before.
Value markup_method(const std::string& text, const Named& one, Call& call) {
  constexpr std::array<std::string_view, 14> kKeep = {
      "strip", "lstrip", "rstrip",     "upper",        "lower",        "capitalize", "title",
      "split", "rsplit", "splitlines", "removeprefix", "removesuffix", "replace",    "join"};
  const bool format = one.name == "format";
  if (!format && std::find(kKeep.begin(), kKeep.end(), one.name) == kKeep.end()) {
    return one.method(text, call);
  }
  if (one.name == "replace" && call.positional.size() > 1) {
    call.positional[1] = call.positional[1].escaped();
  }
  if (one.name == "join" && !call.positional.empty()) {
    List escaped;
    for (const Value& part : call.positional[0].items()) escaped.emplace_back(part.escaped());
    call.positional[0] = std::move(escaped);
  }
  if (format) {
    for (Value& argument : call.positional) argument = argument.escaped();
    for (auto& [key, argument] : call.named) argument = argument.escaped();
  }
  const Value made = one.method(text, call);
  if (made.is_string()) return Value::markup(made.string());
  List parts;
  for (const Value& part : made.list()) parts.push_back(Value::markup(part.string()));
  return parts;
}

}  // namespace

Value method_of(const Value& value, std::string_view name) {
  if (value.is_dict()) return dict_method(value, name);
  if (value.is_list()) return list_method(value, name);
  if (value.is_string()) {
    for (const Named& one : kStringMethods) {
      if (one.name != name) continue;
      spend(value.copy_cost());
      return Function([value, method = &one](Call& call) -> Value {
        return value.is_markup() ? markup_method(value.string(), *method, call)
                                 : method->method(value.string(), call);
      });
    }
  }
  return Value::undefined(std::string(name));
}

std::size_t find_text(std::string_view text, std::string_view what, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const void* const at = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  const std::size_t end =
      at == nullptr ? text.size()
                    : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
  spend((end - from + what.size()) / 16);
  return at == nullptr ? std::string_view::npos : end;
}

std::string strip(std::string_view text, const Value& chars, bool left, bool right) {
  const auto goes = [&chars](std::string_view one) {
    if (chars.is_none()) return is_python_space(decode_at(one, 0).value);
    return chars.string().find(one) != std::string::npos;
  };
  while (left && !text.empty()) {
    const std::size_t length = utf8_length(static_cast<unsigned char>(text[0]));
    if (!goes(text.substr(0, length))) break;
    text.remove_prefix(length);
  }
  while (right && !text.empty()) {
    const std::size_t last = previous(text, text.size());
    if (!goes(text.substr(last))) break;
    text.remove_suffix(text.size() - last);
  }
  return std::string(text);
}

std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    std::int64_t times_max) {
  constexpr std::size_t kReplacedBytesMax = std::size_t{64} << 20;
  std::string out;
  const auto most = [&](std::int64_t done) { return times_max >= 0 && done >= times_max; };
  if (from.empty()) {
    std::int64_t done = 0;
    for (std::size_t at = 0;; ++done) {
      spend(to.size());
      if (!most(done)) out += to;
      if (at >= text.size() || out.size() > kReplacedBytesMax) break;
      const std::size_t length = utf8_length(static_cast<unsigned char>(text[at]));
      out += text.substr(at, length);
      at += length;
    }
    return out;
  }
  std::size_t at = 0;
  for (std::int64_t done = 0; !most(done); ++done) {
    const std::size_t next = find_text(text, from, at);
    if (next == std::string_view::npos) break;
    spend(next - at + to.size());
    out += text.substr(at, next - at);
    out += to;
    if (out.size() > kReplacedBytesMax) fail("replace: the result is too large");
    at = next + from.size();
  }
  out += text.substr(at);
  return out;
}

std::string capitalize(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t length = utf8_length(static_cast<unsigned char>(text[0]));
  return upper_case(text.substr(0, length)) + lower_case(text.substr(length));
}

// Python's title() begins a word after every non-letter; Jinja's filter only after spaces, dashes
// and opening brackets.
std::string title(std::string_view text, bool jinja) {
  std::string out;
  bool begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const std::string_view one = text.substr(at, c.bytes);
    out += begins ? upper_case(one) : lower_case(one);
    begins =
        jinja ? is_python_space(c.value) ||
                    (c.value < 0x80 && std::string_view("-({[<").find(static_cast<char>(c.value)) !=
                                           std::string_view::npos)
              : !is_letter(c.value);
    at += c.bytes;
  }
  return out;
}

}  // namespace assay::text::jinja
