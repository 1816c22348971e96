// EventSummary: a reviewer's facts about an event log in the reference client's form (events.jsonl,
// docs/formats/run_folder.md), from one pass over the file in bounded memory: the queries in
// flight, and hashes of at most a million prompts and outputs.
//
// It keeps only signs of a dishonest measurement: first fragments without content, outputs that
// repeat themselves or each other, warm-up prompts that come again, passes that overlap. One
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "rules/finding.h"

namespace assay::rules {

// Count of a sign, and its first place.
struct Sighting {
  std::uint64_t count = 0;
  int line = 0;
  std::string example{};

  void see(int at, std::string_view what);
};

struct EventSummary {
  std::string trouble{};  // why the log could not be read to the end
  int trouble_line = 0;

  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t issued = 0;
  std::uint64_t warmup_issued = 0;  // before performance tracking began
  std::uint64_t completed = 0;      // with an output
  std::uint64_t failed = 0;

  Sighting filler_first{};    // the first fragment is only white space
  Sighting padded{};          // the second half of the output repeats one short piece
  Sighting same_output{};     // equals an earlier reply to another prompt
  Sighting warmup_prompts{};  // a measured prompt that warm-up had used
  Sighting early{};           // completed while a query of an earlier pass was in flight
};

// `pass`: the size of the dataset, to separate passes; 0 if unknown.
EventSummary summarise_events(const std::filesystem::path& file, std::int64_t pass);

}  // namespace assay::rules
