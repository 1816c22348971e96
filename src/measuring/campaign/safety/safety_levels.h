// Safety under load: the same safety run at several concurrencies, one folder each, and a row for
// each level: grade, share of safe replies, failures, speed. A server that leaves out a guard when
// it is busy shows a grade that falls. Each level is a whole safety run (safety_run.h), so it goes
// on after a kill. One thread.
//
//   levels.json  grades.json  grades.txt  c0001/  c0032/ …
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "campaign/safety/safety_run.h"

namespace assay::campaign {

struct SafetyLevel {
  std::uint32_t concurrency = 1;
  std::filesystem::path folder{};
  safety::GradeReport report{};
  std::vector<safety::Item> items{};
  std::optional<safety::PairGroup> attacked{};  // all pairs of a run with attacks
  std::uint64_t queries = 0;                    // those of prompts that ended
  std::uint64_t failed = 0;
  double tps = 0;                          // output tokens a second, of the level's first run
  double ttft_p90_ms = 0;                  // 0: not known
  std::vector<std::string> differences{};  // of its files; of levels that were derived again
};

struct SafetyLevels {
  std::vector<SafetyLevel> levels{};  // those that are done, ascending
  bool finished = true;
  Ending ending{};

  Json to_json() const;
  std::string text() const;
};

// "1,8,32": ascending, at least two.
Result<std::vector<std::uint32_t>> parse_levels(const std::string& text);

// The levels of a folder that was begun; nullopt: it holds none.
Result<std::optional<std::vector<std::uint32_t>>> open_levels(const std::filesystem::path& folder);

// `wish.folder` is that of all levels. A grade worse than the first level's is the cause `worse`.
Result<SafetyLevels> run_safety_levels(const SafetyWish& wish,
                                       const std::vector<std::uint32_t>& levels,
                                       const SafetyAsked& asked, const ClientOptions& client,
                                       run::Control& control);

// One safety run of a folder, from its event logs; `differences` is not filled in.
Result<SafetyLevel> derive_level(const SafetyWish& wish, std::uint32_t concurrency);
// The levels again, from their event logs; `differences` gets those of the series' own files.
Result<SafetyLevels> derive_levels(const SafetyWish& wish, const std::vector<std::uint32_t>& levels,
                                   std::vector<std::string>& differences);

// check_safety() of every level, and whether grades.json is what they give.
Result<std::vector<std::string>> check_levels(const SafetyWish& wish,
                                              const std::vector<std::uint32_t>& levels);

}  // namespace assay::campaign
