// Fields: reads the members of one map of a catalogue or scenario file, and remembers the keys that
// were read, so that a misspelt key is an error with a suggestion and not a silent default.
//
// Keeps the first mistake; reading goes on with fallbacks, and done() returns the mistake. A value
// belongs to one thread and must not outlive the Json it reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::sim {

class Fields {
 public:
  // `where`: the map's name in errors: "hardware/h200-sxm.yaml: scale_up".
  Fields(const Json& map, std::string where);

  bool has(std::string_view key) const;
  // Required unless a fallback is given. Numbers must be finite and >= `lowest`.
  double number(std::string_view key, std::optional<double> fallback = {}, double lowest = 0);
  // A number, or a duration: 250us, 50ms, 1.5s. A bare number counts seconds.
  double seconds(std::string_view key, std::optional<double> fallback = {});
  std::uint32_t count(std::string_view key, std::optional<std::uint32_t> fallback = {});
  bool flag(std::string_view key, std::optional<bool> fallback = {});
  std::string text(std::string_view key, std::optional<std::string> fallback = {});
  // One of `words`; returns its index.
  std::size_t choice(std::string_view key, const std::vector<std::string_view>& words,
                     std::optional<std::size_t> fallback = {});
  std::vector<std::string> texts(std::string_view key);
  // The member, unchanged; a null value when it is missing.
  const Json& value(std::string_view key);
  // A nested map; an empty one when it is missing and not required.
  Fields map(std::string_view key, bool required = true);
  std::string where(std::string_view key) const;
  void fail(std::string message);
  // Takes over another reader's first mistake.
  void absorb(Fields& other);

  // The first mistake, or a key that was never read.
  Result<void> done();

 private:
  const Json* member(std::string_view key, bool required);

  const Json* map_;
  std::string where_;
  std::vector<std::string> asked_{};
  std::optional<std::string> failure_{};
};

}  // namespace assay::sim
