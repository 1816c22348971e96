#include "plan/own_lines.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::plan {
namespace {

constexpr std::string_view kMark = "#assay|";

Json take_of_items(const Part& part, Json& list) {
  Json out = Json::array();
  bool any = false;
  for (Json& item : list.make_array()) {
    Json own = item.is_object() ? take_own_keys(part, item) : Json::object();
    any = any || own.size() > 0;
    out.make_array().push_back(std::move(own));
  }
  return any ? out : Json::array();
}

void merge_items(yaml::Node& file, yaml::Node own, const std::string& path, Reading& reading) {
  if (own.items.size() > file.items.size()) {
    reading.wrong(own, path,
                  format("lines with {} have {} items, the file has {}", kMark, own.items.size(),
                         file.items.size()),
                  "one item each, {} for an item without such a key");
    return;
  }
  for (std::size_t i = 0; i < own.items.size(); ++i) {
    if (own.items[i].is_map() && own.items[i].members.empty()) continue;
    merge_own_lines(file.items[i], std::move(own.items[i]), format("{}[{}]", path, i), reading);
  }
}

}  // namespace

Json take_own_keys(const Part& part, Json& config) {
  Json own = Json::object();
  for (const Setting& setting : part) {
    Json* const value = config.find(setting.name);
    if (value == nullptr) continue;
    if (setting.ours) {
      own.set(setting.name, std::move(*value));
      config.erase(setting.name);
    } else if (setting.part != nullptr && (value->is_object() || value->is_array())) {
      Json below = value->is_array() ? take_of_items(*setting.part, *value)
                                     : take_own_keys(*setting.part, *value);
      if (below.size() == 0) continue;
      own.set(setting.name, std::move(below));
      if (value->size() == 0) config.erase(setting.name);
    }
  }
  return own;
}

std::string write_own_lines(const Json& own) {
  if (own.size() == 0) return "";
  std::string out = "# Keys that only Assay has, in lines that other clients skip:\n";
  const std::string text = yaml::write(own);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) out += format("{} {}\n", kMark, line);
  }
  return out;
}

Result<std::optional<yaml::Node>> read_own_lines(std::string_view text) {
  std::string marked;
  bool any = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(kMark)) {
      any = true;
      std::string_view rest = line.substr(kMark.size());
      // One space behind the mark is the margin.
      if (rest.starts_with(' ')) rest.remove_prefix(1);
      marked += rest;
    }
    marked += '\n';  // so that a line keeps its number
  }
  if (!any) return std::optional<yaml::Node>();
  ASSIGN_OR_RETURN(yaml::Node own, yaml::parse(marked));
  if (!own.is_map() && !own.is_null()) {
    return invalid(format("{}: expected a map of settings behind {}, found {}", own.line, kMark,
                          own.kind_name()));
  }
  return std::optional<yaml::Node>(std::move(own));
}

void merge_own_lines(yaml::Node& file, yaml::Node own, const std::string& path, Reading& reading) {
  if (file.is_list() && own.is_list()) {
    merge_items(file, std::move(own), path, reading);
    return;
  }
  if (!file.is_map() || !own.is_map()) {
    reading.wrong(own, path, format("this is given twice: in the file and behind {}", kMark),
                  "keep one of the two");
    return;
  }
  for (std::pair<yaml::Key, yaml::Node>& member : own.members) {
    const std::string& name = member.first.name;
    const auto same = std::ranges::find_if(
        file.members, [&](const auto& other) { return other.first.name == name; });
    if (same == file.members.end()) {
      file.members.push_back(std::move(member));
    } else {
      merge_own_lines(same->second, std::move(member.second),
                      path.empty() ? name : format("{}.{}", path, name), reading);
    }
  }
}

}  // namespace assay::plan
