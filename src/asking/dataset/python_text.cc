#include "dataset/python_text.h"

#include <cstdint>
#include <string_view>

#include "base/format.h"
#include "text/python_quote.h"

namespace assay::dataset {
namespace {

// Takes the next code point of valid UTF-8.
std::uint32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  std::uint32_t code = size == 1 ? first : first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size && i < text.size(); ++i) code = code << 6 | (byte(i) & 0x3FU);
  text.remove_prefix(std::min(size, text.size()));
  return code;
}

void append_ascii(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::uint32_t code = take(text);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\r') {
      out += "\\r";
    } else if (code == '\t') {
      out += "\\t";
    } else if (code == '\b') {
      out += "\\b";
    } else if (code == '\f') {
      out += "\\f";
    } else if (code >= 0x20 && code < 0x7F) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      out += format("\\u{:04x}", code);
    } else {
      const std::uint32_t rest = code - 0x10000;
      out += format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  out += '"';
}

void append_python(std::string& out, const Json& value, bool repr) {
  const auto text = [&](std::string_view of) {
    if (repr) {
      out += text::python_quoted(of);
    } else {
      append_ascii(out, of);
    }
  };
  if (value.is_null()) {
    out += repr ? "None" : "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? (repr ? "True" : "true") : (repr ? "False" : "false");
  } else if (value.is_string()) {
    text(value.as_string());
  } else if (value.is_array()) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ", ";
      append_python(out, value[i], repr);
    }
    out += ']';
  } else if (value.is_object()) {
    out += '{';
    bool first = true;
    for (const auto& [key, member] : value.members()) {
      if (!first) out += ", ";
      first = false;
      text(key);
      out += ": ";
      append_python(out, member, repr);
    }
    out += '}';
  } else {
    out += value.dump();
  }
}

}  // namespace

std::string python_json(const Json& value) {
  std::string out;
  append_python(out, value, false);
  return out;
}

std::string python_repr(const Json& value) {
  std::string out;
  append_python(out, value, true);
  return out;
}

}  // namespace assay::dataset
