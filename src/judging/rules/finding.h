// Finding: what one rule says about one place of a submission, in words that need no second look:
// which rule, by which clause, what was found, what was expected, in which file and line, and how
// to mend it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::rules {

enum class Severity : std::uint8_t { info, warning, error };
std::string_view to_string(Severity severity);

// What the rules' own table does with a submission that fails. A local error may be a mere flag
// there, and the other way round.
enum class Action : std::uint8_t { none, flag, reject_points, reject_submission };
std::string_view to_string(Action action);

struct Place {
  std::string file{};  // below the submission's root, with /
  int line = 0;        // from 1; 0: the file as a whole
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
