// The flags of `assay run` as data: the name of each, its setting and how its text is read. In
// addition, every setting below the top level has a hidden flag in the reference client's spelling
// (--runtime.min-duration-ms). Constant once made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/config_reader.h"

namespace assay::plan {

// How a flag's text becomes its setting's value.
enum class Take : std::uint8_t {
  plain,   // as a file would hold it
  timed,   // a duration with its unit: a bare 10 could be s or ms
  on_off,  // a switch: nothing, or a truth value
  off,     // a switch that turns its setting off: its name begins with "no"
  json,    // an object in JSON
  list,    // adds to a list; the first one empties it first
  own,     // has its own code in flags.cc
};

struct FlagRow {
  FlagInfo info{};
  std::string path{};  // of the setting
  Take take = Take::plain;
};

const std::vector<FlagRow>& flag_rows();
// Finds a row by name or alias; nullptr: no such flag.
const FlagRow* find_flag(std::string_view name);

}  // namespace assay::plan
