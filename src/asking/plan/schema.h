// Schema: the table of settings of one part of the config, one row a key. The reader, the bounds,
// "did you mean", the saved config, the notes about keys without effect and the guide
// (docs/guide/config.md) come from it; each fact about a key is written once.
//
// Part<S>::add(name, &S::field, help) makes a row; its methods refine it (at_least, unit_s, …). A
// row reads a yaml::Node into its field of a given struct and writes the field as JSON. Rows never
// change once made. Any thread may read them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "base/yaml.h"

namespace assay::plan {

// What was wrong, where, and what to do.
struct Problem {
  std::string place{};  // "config.yaml:14", "--rate"; "" without a place
  std::string path{};   // "settings.load_pattern.type"
  std::string what{};
  std::string hint{};  // one line; may be empty
};

// Collects problems during a reading, and the place where each setting was given.
class Reading {
 public:
  void enter(std::string source, bool flag) {
    source_ = std::move(source);
    flag_ = flag;
  }
  void wrong(const yaml::Node& at, const std::string& path, std::string what,
             std::string hint = {});
  void wrong_at(int line, const std::string& path, std::string what, std::string hint = {});
  // Reports a rule about the whole config: the place is where `path`, or its parent, was given.
  void wrong_setting(const std::string& path, std::string what, std::string hint = {});
  void saw(const std::string& path, const yaml::Node& node) { places_[path] = place(node.line); }
  // A flag gives one setting, and not the maps around it.
  void saw_part(const std::string& path, const yaml::Node& node) {
    if (!flag_) saw(path, node);
  }
  void forget(const std::string& path) { places_.erase(path); }
  bool given(const std::string& path) const { return places_.contains(path); }
  void does_nothing(const std::string& path);
  void note(std::string text) { notes.push_back(std::move(text)); }

  std::vector<Problem> problems{};
  std::vector<std::string> notes{};
  std::vector<std::string> ignored{};  // paths of keys that were given and have no effect

 private:
  std::string place(int line) const;

  std::string source_{};
  bool flag_ = false;
  std::map<std::string, std::string> places_{};
};

// Units of a Duration in the file. An empty value, or zero if marked so, means "no limit".
enum class Unit : std::uint8_t { ms, s };

struct Setting {
  std::string name{};
  std::string help{};
  std::string type{};                          // for people: "number", "one of: a, b"
  std::optional<Json> fallback{};              // the value written when it is not given
  const std::vector<Setting>* part = nullptr;  // the rows of a nested map
  bool list = false;                           // the nested map is an item of a list
  bool ours = false;                           // Assay's own key: saved only if it was changed
  // A key that only newer releases of the reference client have: saved only if it was changed, so
  // that the older ones read the config too.
  bool newer = false;
  bool nothing = false;  // accepted and without effect here
  bool secret = false;

  double at_least = -std::numeric_limits<double>::infinity();
  double at_most = std::numeric_limits<double>::infinity();
  bool above = false;  // at_least itself is not allowed
  bool below = false;  // at_most itself is not allowed
  Unit unit = Unit::s;
  bool zero_is_none = false;
  bool null_is_none = false;

  std::function<void(const Setting&, const yaml::Node&, void* object, const std::string& path,
                     Reading&)>
      read{};
  // nullopt: write nothing. A JSON null is written; it means "no limit".
  std::function<std::optional<Json>(const Setting&, const void* object)> write{};
};
using Part = std::vector<Setting>;

// Reads a map into `object`, a struct that the rows of `part` describe.
void read_part(const Part& part, const yaml::Node& node, void* object, const std::string& path,
               Reading& reading);
// The object as JSON in the order of the rows, without empty fields and Assay's own defaults.
Json write_part(const Part& part, const void* object);
// Finds the row of "settings.load_pattern.type"; nullptr: none. A list's index may be left out.
const Setting* find_setting(const Part& part, std::string_view path);

// Returns "at least 1", "above 0 and at most 1"; "" without bounds.
std::string bounds_text(const Setting& setting);

}  // namespace assay::plan
