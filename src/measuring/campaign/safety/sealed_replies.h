// SealedReplies: the texts of a run's replies in a file that only the key's holder can read. A run
// over sealed prompts keeps no text in its event log, because a reply may repeat its prompt. Each
// reply is a line of a journal (record/journal.h): row and text in a box. So a kill loses only
// replies that had no end yet, and those that were being written; they are asked again.
//
// Several measuring threads may call its EventSink functions at once. They lock and allocate, which
// other sinks must not: a safety run's figures of speed are taken at its own loads,
// and a lock is a microsecond. A thread of its own seals and writes.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/aead.h"
#include "base/flat_map.h"
#include "base/mutex.h"
#include "base/result.h"
#include "domain/plan.h"
#include "domain/quiet_sink.h"
#include "record/journal.h"

namespace assay::campaign {

class SealedReplies final : public QuietSink {
 public:
  static Result<std::unique_ptr<SealedReplies>> open(const std::filesystem::path& file, SealKey key,
                                                     const Plan& plan);
  ~SealedReplies() override;
  SealedReplies(const SealedReplies&) = delete;
  SealedReplies& operator=(const SealedReplies&) = delete;

  // After the run: waits until all is on disk.
  Result<void> finish();

  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

 private:
  SealedReplies(record::Journal journal, std::string name, SealKey key, std::vector<bool> counted);
  void write_all();

  record::Journal journal_;
  const std::string name_;
  const SealKey key_;
  const std::vector<bool> counted_;
  Mutex mutex_;
  Condition changed_;
  FlatMap<std::string> open_ GUARDED_BY(mutex_){256};
  std::deque<std::pair<std::uint32_t, std::string>> ended_ GUARDED_BY(mutex_){};
  bool over_ GUARDED_BY(mutex_) = false;
  Result<void> written_{};  // of the writer's thread, until it is joined
  std::thread writer_;
};

// The texts by row; the first of each. No file: none.
Result<std::map<std::uint32_t, std::string>> read_sealed_replies(const std::filesystem::path& file,
                                                                 const SealKey& key);

}  // namespace assay::campaign
