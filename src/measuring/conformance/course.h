// A round of conformance, from what was asked to its page: which peers, the jobs one after another,
// the result as text, table, JSON and HTML. `assay conformance` is its command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "conformance/conformance.h"

namespace assay::conformance {

struct ConformanceOptions {
  std::vector<std::string> peers{};
  std::string streams = "1,16,256";
  std::uint64_t tokens = 64;
  std::uint64_t rounds = 4;
  std::uint64_t repeat = 1;
  std::string folder{};
  std::string html{};
  std::string from{};
  bool list = false;
  bool table = false;
  bool json = false;
  bool quiet = false;
  Settings settings{};
};

// Lists the peers, makes the page of an earlier result, or measures. Returns the exit code.
Result<int> run_conformance(ConformanceOptions options, const Talk& talk);

}  // namespace assay::conformance
