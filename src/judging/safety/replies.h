// Replies: the visible texts of a recorded run's replies, by row of its dataset, from the event
// log alone; so whatever was recorded before a kill is there. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace assay::safety {

struct RowReply {
  bool answered = false;        // a query of the row ended well; its text is `text`
  std::uint64_t failed = 0;     // queries of the row that failed
  std::uint64_t timed_out = 0;  // of these
  std::uint64_t answers = 0;    // queries of the row that ended well
  std::string text{};           // without reasoning
  bool operator==(const RowReply&) const = default;
};

// Reads all counted phases. The first good answer to a row is its reply. Rows whose queries have no
// end in the log are not there. `log_folder`: where events-N.alog are; none there: no replies.
Result<std::map<std::uint32_t, RowReply>> read_replies(const std::filesystem::path& log_folder);

}  // namespace assay::safety
