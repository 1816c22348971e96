// ArtefactQueue: replies whose bytes are kept as files (pictures, videos, sounds), on their way
// from the measuring threads to the thread that writes them. A measuring thread copies a reply's
// bytes and goes on; what is in them is looked for by the writer.
//
// put(): any measuring thread; it never waits for the disk. Bytes that the memory budget has no
// room for are lost, and counted. take(): one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "base/mutex.h"
#include "domain/api.h"
#include "domain/query.h"

namespace assay::protocol {

// The whole body of a reply, or the bytes of its sound.
struct ReplyBytes {
  Query query{};
  Api api = Api::openai;
  std::string bytes{};
};

class ArtefactQueue {
 public:
  // `budget` must outlive the queue.
  explicit ArtefactQueue(MemoryBudget& budget) : budget_(budget) {}
  ~ArtefactQueue();
  ArtefactQueue(const ArtefactQueue&) = delete;
  ArtefactQueue& operator=(const ArtefactQueue&) = delete;

  void put(const Query& query, Api api, std::string_view bytes);
  // Nothing is put after it.
  void close();
  // Waits for the next reply, and gives the memory of the one before back. False after the last.
  bool take(ReplyBytes& out);
  std::uint64_t lost() const;

 private:
  MemoryBudget& budget_;
  mutable Mutex mutex_{};
  Condition wake_{};
  std::deque<ReplyBytes> waiting_ GUARDED_BY(mutex_){};
  std::uint64_t held_ GUARDED_BY(mutex_) = 0;  // of the reply that the writer has
  std::uint64_t lost_ GUARDED_BY(mutex_) = 0;
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace assay::protocol
