// LoadGen's configuration files: lines of `model.scenario.key = value`, with `*` for any model or
// any scenario, and how they become TestSettings. Grammar and order of look-up are LoadGen's:
//
//   - a line is cut at white space: a key, an equals sign, values. A lone `#` where a key or an
//     equals sign is due ends the line. Behind a value there is no comment: each further word is
//     one more value, and the last one counts, as does the last of several lines with one key.
//   - a value is a whole number (0x and leading 0 as in C) or a decimal. A decimal under a key of
//     whole numbers is cut where the number ends: 1.9 is 1 and 1e6 is 1.
//   - the first of these counts: model.scenario, *.scenario, model.*, *.* . A line for all models
//     in one scenario so outranks a line for one model in all scenarios.
//   - a key that no setting has is ignored; unused_keys() names them.
//
// Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/settings.h"

namespace assay::loadgen {

// Which keys a file may set: seeds and the probability of the accuracy log are for the built-in
// file alone.
enum class ConfKind { built_in, user };

class ConfFile {
 public:
  // Every wrong line is named, one a line of the message.
  static Result<ConfFile> parse(std::string_view text);

  // Sets what the file has for this model and scenario. The model may be "*", as an audit's is.
  // Fails on a mode above 3.
  Result<void> apply(std::string_view model, Scenario scenario, ConfKind kind,
                     TestSettings& settings) const;

  // The keys, whole, that no test can read: unknown names, unknown scenarios.
  std::vector<std::string> unused_keys() const;
  const std::map<std::string, std::string, std::less<>>& lines() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_{};
};

}  // namespace assay::loadgen
