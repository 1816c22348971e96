// Finding: what one rule reports about one place of a submission: the rule and its clause, what was
// found, what was expected, the file and line, and how to fix it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::rules {

enum class Severity : std::uint8_t { info, warning, error };
std::string_view to_string(Severity severity);

// The action of the rules' own table for a submission that fails. A local error may be only a flag
// there, and the other way round.
enum class Action : std::uint8_t { none, flag, reject_points, reject_submission };
std::string_view to_string(Action action);

struct Place {
  std::string file{};  // below the submission's root, with /
  int line = 0;        // from 1; 0: the whole file
};

struct Finding {
  std::string_view rule{};
  std::string_view clause{};
  Severity severity = Severity::error;
  Action action = Action::none;
  std::string found{};
  std::string expected{};
  Place where{};
  std::string fix{};
};

}  // namespace assay::rules
