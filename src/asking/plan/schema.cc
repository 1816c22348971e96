#include "plan/schema.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::plan {
namespace {

// Writes a number for help and messages: 10000000 and 0.1, not 1e+07.
std::string number_text(double value) {
  return value == std::trunc(value) ? format("{:.0f}", value) : format("{}", value);
}

std::string child(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : format("{}.{}", path, name);
}

// Suggests the intended key: a neighbour with a similar name, else the same key elsewhere.
std::string hint_for(const Part& part, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Setting& setting : part) names.push_back(setting.name);
  if (const std::string_view near = nearest(name, names); !near.empty()) {
    return format("did you mean \"{}\"?", near);
  }
  std::string list;
  for (const std::string_view known : names) {
    if (!list.empty()) list += ", ";
    list += known;
  }
  return format("known here: {}", list);
}

}  // namespace

std::string Reading::place(int line) const {
  if (flag_ || line == 0) return source_;
  return format("{}:{}", source_, line);
}

void Reading::wrong_at(int line, const std::string& path, std::string what, std::string hint) {
  problems.push_back({place(line), path, std::move(what), std::move(hint)});
}

void Reading::wrong(const yaml::Node& at, const std::string& path, std::string what,
                    std::string hint) {
  wrong_at(at.line, path, std::move(what), std::move(hint));
}

void Reading::wrong_setting(const std::string& path, std::string what, std::string hint) {
  std::string at = path;
  while (!places_.contains(at) && !at.empty()) {
    const std::size_t dot = at.find_last_of(".[");
    at.resize(dot == std::string::npos ? 0 : dot);
  }
  const auto found = places_.find(at);
  problems.push_back(
      {found == places_.end() ? "" : found->second, path, std::move(what), std::move(hint)});
}

void Reading::does_nothing(const std::string& path) { ignored.push_back(path); }

void read_part(const Part& part, const yaml::Node& node, void* object, const std::string& path,
               Reading& reading) {
  if (node.is_null()) return;
  if (!node.is_map()) {
    reading.wrong(node, path.empty() ? "config" : path,
                  format("expected a map of settings, found {}", node.kind_name()));
    return;
  }
  reading.saw_part(path, node);
  for (const auto& member : node.members) {
    const yaml::Key& key = member.first;
    const yaml::Node& value = member.second;
    const auto setting = std::find_if(part.begin(), part.end(),
                                      [&](const Setting& row) { return row.name == key.name; });
    if (setting == part.end()) {
      reading.wrong_at(key.line, child(path, key.name), "unknown key", hint_for(part, key.name));
      continue;
    }
    const std::string here = child(path, key.name);
    const yaml::Node placed{.line = value.line > 0 ? value.line : key.line};
    if (setting->part != nullptr) {
      reading.saw_part(here, placed);
    } else {
      reading.saw(here, placed);
    }
    if (setting->nothing) reading.does_nothing(here);
    setting->read(*setting, value, object, here, reading);
  }
}

namespace {

// The members that were changed of a part that some releases of the reference client do not have.
Json changed_of(const Part& part, const Json& value) {
  Json out = Json::object();
  for (const Setting& setting : part) {
    const Json* const member = value.find(setting.name);
    if (member == nullptr || (setting.fallback && *member == *setting.fallback)) continue;
    out.set(setting.name, *member);
  }
  return out;
}

}  // namespace

Json write_part(const Part& part, const void* object) {
  Json out = Json::object();
  for (const Setting& setting : part) {
    std::optional<Json> value = setting.write(setting, object);
    if (!value) continue;
    const bool unlisted = setting.ours || setting.newer;
    if (unlisted && setting.part != nullptr && value->is_object()) {
      value = changed_of(*setting.part, *value);
    }
    const bool empty_part = setting.part != nullptr && value->is_object() && value->size() == 0;
    if (empty_part || (unlisted && value == setting.fallback)) continue;
    out.make_object().emplace_back(setting.name, *std::move(value));
  }
  return out;
}

const Setting* find_setting(const Part& part, std::string_view path) {
  const std::size_t dot = path.find('.');
  std::string_view name = path.substr(0, dot);
  name = name.substr(0, name.find('['));
  for (const Setting& setting : part) {
    if (setting.name != name) continue;
    if (dot == std::string_view::npos) return &setting;
    return setting.part == nullptr ? nullptr : find_setting(*setting.part, path.substr(dot + 1));
  }
  return nullptr;
}

std::string bounds_text(const Setting& setting) {
  std::string out;
  if (std::isfinite(setting.at_least)) {
    out = format("{} {}", setting.above ? "above" : "at least", number_text(setting.at_least));
  }
  if (std::isfinite(setting.at_most)) {
    out += format("{}{} {}", out.empty() ? "" : " and ", setting.below ? "below" : "at most",
                  number_text(setting.at_most));
  }
  return out;
}

}  // namespace assay::plan
