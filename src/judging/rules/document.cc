#include "rules/document.h"

#include <algorithm>

#include "base/enum_name.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::rules {
namespace {

const Json kNull;

// Removes "name" from "/name/rest" and undoes its escapes.
std::string take_step(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::size_t end = std::min(pointer.find('/'), pointer.size());
  std::string name;
  for (std::size_t i = 0; i < end; ++i) {
    const bool escape = pointer[i] == '~' && i + 1 < end;
    name += escape ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
  }
  pointer.remove_prefix(end);
  return name;
}

std::string_view parent_of(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : pointer.substr(0, slash);
}

}  // namespace

std::string_view to_string(Severity severity) { return enum_name(severity); }

std::string_view to_string(Action action) { return enum_name(action); }

Document Document::failed(std::string name, std::string trouble, int line) {
  Document document(State::broken, std::move(name));
  document.trouble_ = std::move(trouble);
  document.trouble_line_ = line;
  return document;
}

Document Document::read(const std::filesystem::path& root, std::string name) {
  const std::filesystem::path path = root / name;
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::not_found) return Document(State::absent, name);
  if (kind != std::filesystem::file_type::regular) {
    return failed(std::move(name), "not a file that can be read", 0);
  }
  auto text = read_file(path, kDocumentBytesMax);
  if (!text) return failed(std::move(name), text.error().message, 0);
  return name.ends_with(".json") ? parse_json(std::move(name), std::move(*text))
                                 : parse_yaml(std::move(name), *text);
}

Document Document::parse_json(std::string name, std::string text) {
  auto root = Json::parse(text);
  if (!root) return failed(std::move(name), root.error().message, 0);
  Document document(State::good, std::move(name));
  document.root_ = std::move(*root);
  document.text_ = std::move(text);
  return document;
}

Document Document::parse_yaml(std::string name, const std::string& text) {
  auto tree = read_yaml(text);
  if (!tree) {
    const std::string_view message = tree.error().message;
    const auto line = parse_int(message.substr(0, message.find(':')));
    return failed(std::move(name), std::string(message.substr(message.find(' ') + 1)),
                  line ? static_cast<int>(*line) : 0);
  }
  Document document(State::good, std::move(name));
  document.root_ = std::move(tree->root);
  document.lines_ = std::move(tree->lines);
  return document;
}

const Json* find(const Json& json, std::string_view pointer) {
  const Json* here = &json;
  while (!pointer.empty() && here != nullptr) {
    const std::string name = take_step(pointer);
    if (here->is_array()) {
      const auto index = parse_uint(name);
      here = index && *index < here->size() ? &here->items()[*index] : nullptr;
    } else {
      here = here->find(name);
    }
  }
  return here;
}

const Json& Document::at(std::string_view pointer) const {
  const Json* found = find(root_, pointer);
  return found != nullptr ? *found : kNull;
}

bool Document::has(std::string_view pointer) const { return find(root_, pointer) != nullptr; }

Place Document::place(std::string_view pointer) const {
  if (broken()) return {name_, trouble_line_};
  while (!pointer.empty() && !has(pointer)) pointer = parent_of(pointer);
  if (pointer.empty()) return {name_, 0};
  if (!text_.empty()) return {name_, line_in_json(text_, pointer)};
  const auto line = lines_.find(pointer);
  return {name_, line == lines_.end() ? 0 : line->second};
}

std::string pointer_to(std::string_view base, std::string_view name) {
  std::string out(base);
  out += '/';
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string pointer_to(std::string_view base, std::size_t index) {
  return format("{}/{}", base, index);
}

std::string spoken(std::string_view pointer) {
  std::string out;
  while (!pointer.empty()) {
    const std::string name = take_step(pointer);
    const bool index =
        !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (index && !out.empty()) {
      out += "[" + name + "]";
    } else {
      out += (out.empty() ? "" : ".") + name;
    }
  }
  return out;
}

std::string said(const Json& value) {
  constexpr std::size_t kLongest = 60;
  if (value.is_null()) return "nothing";
  if (value.is_array()) return format("a list of {}", value.size());
  if (value.is_object()) return format("a map of {}", value.size());
  std::string text = value.dump();
  if (text.size() > kLongest) {
    // Do not cut inside a character.
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + "…";
  }
  return text;
}

}  // namespace assay::rules
