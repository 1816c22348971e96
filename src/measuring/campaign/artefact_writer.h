// ArtefactWriter: keeps what replies made (pictures, videos, sounds) in a run folder:
//
//   artefacts/SHA256.ENDING   one file for equal bytes, however many replies had them
//   artefacts/index.jsonl     a line a reply and artefact: {"phase", "query", "sample", "file",
//                             "sha256", "bytes", "type"}; `file` is below the run folder
//
// A thread of its own decodes, hashes and writes, so that the measuring threads only copy bytes;
// what waits for it is in the memory budget of replies. A disk that takes no more ends the keeping
// and not the load: what is lost is counted and named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/memory_budget.h"
#include "base/result.h"
#include "protocol/artefact_queue.h"

namespace assay::campaign {

struct ArtefactTally {
  std::uint64_t kept = 0;
  std::uint64_t files = 0;
  std::uint64_t lost = 0;  // replies whose artefacts are not in the folder
  std::string trouble{};   // why, for a person; "" if none is lost
};

class ArtefactWriter {
 public:
  // `phases`: those whose replies are kept. `budget` must outlive the writer.
  static Result<std::unique_ptr<ArtefactWriter>> open(const std::filesystem::path& run_folder,
                                                      std::vector<bool> phases,
                                                      MemoryBudget& budget);
  ~ArtefactWriter();

  protocol::ArtefactQueue& queue() { return queue_; }
  // Writes the rest; the measuring threads have ended. Call it once.
  ArtefactTally finish();

 private:
  ArtefactWriter(std::filesystem::path folder, std::vector<bool> phases, MemoryBudget& budget)
      : folder_(std::move(folder)), phases_(std::move(phases)), queue_(budget) {}
  void work();
  Result<void> keep(const protocol::ReplyBytes& reply);

  std::filesystem::path folder_;
  std::vector<bool> phases_;
  protocol::ArtefactQueue queue_;
  int index_ = -1;  // the open file
  ArtefactTally tally_{};
  std::thread thread_{};
};

// The artefacts of a run folder, by phase and query: lists of {"path", "sha256", "bytes", "type"},
// with absolute paths. Empty where none were kept.
using ArtefactsOf = std::map<std::pair<std::uint16_t, std::uint32_t>, Json>;
Result<ArtefactsOf> read_artefacts(const std::filesystem::path& run_folder);

}  // namespace assay::campaign
