#include "dataset/json_path.h"

#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

void all_below(const Json& json, std::vector<const Json*>& out) {
  out.push_back(&json);
  for (const Json& item : json.items()) all_below(item, out);
  for (const auto& [name, value] : json.members()) all_below(value, out);
}

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  const Error wrong =
      invalid(format("\"{}\" is not a JSONPath that is read; $, .name, ['name'], [0], "
                     "[*], .* and ..name are",
                     text));
  JsonPath out;
  std::string_view rest = trim(text);
  if (rest.starts_with('$')) rest.remove_prefix(1);
  bool first = true;
  while (!rest.empty()) {
    if (rest.starts_with("..")) {
      out.steps_.push_back({.kind = Step::Kind::deep});
      rest.remove_prefix(2);
      if (rest.starts_with('[')) continue;
    } else if (rest.starts_with('.')) {
      rest.remove_prefix(1);
    } else if (rest.starts_with('[')) {
      const std::size_t end = rest.find(']');
      if (end == std::string_view::npos) return wrong;
      const std::string_view inside = trim(rest.substr(1, end - 1));
      rest.remove_prefix(end + 1);
      first = false;
      if (inside == "*") {
        out.steps_.push_back({.kind = Step::Kind::all});
      } else if (inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"') &&
                 inside.back() == inside.front()) {
        out.steps_.push_back(
            {.kind = Step::Kind::name, .name = std::string(inside.substr(1, inside.size() - 2))});
      } else {
        const auto index = parse_int(inside);
        if (!index) return wrong;
        out.steps_.push_back({.kind = Step::Kind::index, .index = *index});
      }
      continue;
    } else if (!first) {
      return wrong;
    }
    first = false;
    const std::size_t end = rest.find_first_of(".[");
    const std::string_view name = rest.substr(0, end);
    if (name.empty() || name.find_first_of("]()?@") != std::string_view::npos) return wrong;
    rest.remove_prefix(name.size());
    if (name == "*") {
      out.steps_.push_back({.kind = Step::Kind::all});
    } else {
      out.steps_.push_back({.kind = Step::Kind::name, .name = std::string(name)});
    }
  }
  return out;
}

std::vector<const Json*> JsonPath::find(const Json& json) const {
  std::vector<const Json*> at{&json};
  for (const Step& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* value : at) {
      switch (step.kind) {
        case Step::Kind::name:
          if (const Json* member = value->find(step.name)) next.push_back(member);
          break;
        case Step::Kind::index: {
          const auto size = static_cast<std::int64_t>(value->items().size());
          const std::int64_t index = step.index < 0 ? size + step.index : step.index;
          if (index >= 0 && index < size) {
            next.push_back(&value->items()[static_cast<std::size_t>(index)]);
          }
          break;
        }
        case Step::Kind::all:
          for (const Json& item : value->items()) next.push_back(&item);
          for (const auto& [name, member] : value->members()) next.push_back(&member);
          break;
        case Step::Kind::deep:
          all_below(*value, next);
          break;
      }
    }
    at = std::move(next);
  }
  return at;
}

}  // namespace assay::dataset
