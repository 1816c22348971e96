// What a test of LoadGen's asks, and the verdict on one that was recorded, as words and JSON: the
// settings in force, the queries in their order and at their times. `assay loadgen` is the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "loadgen/builtin_conf.h"

namespace assay::loadgen {

// No built-in file is read.
inline constexpr std::string_view kNoBuiltIn = "none";

struct ShownTest {
  std::string what{};
  std::optional<std::string> record{};
  std::optional<std::string> config{};
  std::optional<std::string> audit{};
  std::string edition{kNewestConf};
  std::string model = "*";
  std::string scenario = "SingleStream";
  std::optional<std::string> mode{};
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> loaded{};
  std::uint64_t queries = 10;
  bool json = false;
};

// options.what: plan or summary. Returns the exit code.
Result<int> show_test(const ShownTest& options, const Talk& talk);

}  // namespace assay::loadgen
