// AskedSeries: rows that are asked until each has an answer, in as many ordinary runs as it takes.
// A folder holds, for run N, what was asked (NN.jsonl) and its run folder (NN); nothing else is
// kept, so that a series which was killed goes on from its event logs, and gives what it would have
// given. Safety runs ask their prompts and their judges through it. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "campaign/recorded_run.h"
#include "plan/config.h"
#include "run/run.h"

namespace assay::campaign {

struct AskedRow {
  std::string uid{};
  Json row{};  // of the dataset
};

struct AskedReply {
  bool answered = false;
  // Answered, and the text is what was wanted. Else `text` is the last one that was not.
  bool accepted = false;
  std::uint64_t asked = 0;      // queries with an end
  std::uint64_t timed_out = 0;  // of these
  std::string text{};
};

struct SeriesWish {
  std::filesystem::path folder{};
  plan::Config config{};      // the endpoint and the load; its dataset is replaced
  std::uint64_t retries = 1;  // of a row whose query failed, or whose answer was not accepted
  std::function<bool(const std::string& uid, const std::string& text)> accepts{};  // none: all are
  std::vector<std::string> command{};
  // The rows and replies are secret: NN.jsonl has uids alone, the event log no words, and NN.sealed
  // the replies (sealed_replies.h).
  std::optional<SealKey> seal{};
};

struct SeriesEnd {
  bool finished = true;  // false: a run was stopped, and `ending` says why
  Ending ending{};
};

// The replies by uid that the folder's event logs have.
Result<std::map<std::string, AskedReply>> load_series(const SeriesWish& wish);
// Whether each run of the folder asked what was open before it, in order, each row at most once,
// and nothing is open at the end: sentences on what is not so. A series that was killed and went on
// has no difference.
Result<std::vector<std::string>> check_series(const SeriesWish& wish,
                                              const std::vector<AskedRow>& rows);
// Asks what has no accepted answer and may be asked again.
Result<SeriesEnd> ask_series(const SeriesWish& wish, const std::vector<AskedRow>& rows,
                             const ClientOptions& client, Preflight& preflight,
                             run::Control& control);

}  // namespace assay::campaign
