// The flags of `assay run` as data: what each is called, what it sets and how its text is read.
// Apart from the flags named here, every setting below the top level has a hidden flag, spelled as
// the reference client spells them (--runtime.min-duration-ms). Constant once made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/config_reader.h"

namespace assay::plan {

// How a flag's text is turned into its setting's value.
enum class Take : std::uint8_t {
  plain,   // as a file would hold it
  timed,   // a duration, which must name its unit: 10 is seconds to some and ms to others
  on_off,  // a switch: nothing, or a truth value
  off,     // a switch that turns its setting off: its name begins with no
  json,    // an object in JSON
  list,    // adds to a list; the first of them empties it
  own,     // has its own few lines below
};

struct FlagRow {
  FlagInfo info{};
  std::string path{};  // of the setting
  Take take = Take::plain;
};

const std::vector<FlagRow>& flag_rows();
// By name or alias; nullptr: there is none.
const FlagRow* find_flag(std::string_view name);

}  // namespace assay::plan
