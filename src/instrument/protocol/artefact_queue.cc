#include "protocol/artefact_queue.h"

#include <utility>

namespace assay::protocol {

ArtefactQueue::~ArtefactQueue() {
  const Lock lock(mutex_);
  for (const ReplyBytes& one : waiting_) budget_.give_back(one.bytes.size());
  budget_.give_back(held_);
}

void ArtefactQueue::put(const Query& query, Api api, std::string_view bytes) {
  const bool fits = budget_.take(bytes.size());
  ReplyBytes copy{.query = query, .api = api};
  if (fits) copy.bytes = bytes;
  const Lock lock(mutex_);
  if (!fits) {
    ++lost_;
    return;
  }
  waiting_.push_back(std::move(copy));
  wake_.notify_one();
}

void ArtefactQueue::close() {
  const Lock lock(mutex_);
  closed_ = true;
  wake_.notify_one();
}

bool ArtefactQueue::take(ReplyBytes& out) {
  out = {};
  Lock lock(mutex_);
  budget_.give_back(std::exchange(held_, 0));
  while (waiting_.empty() && !closed_) wake_.wait(lock);
  if (waiting_.empty()) return false;
  out = std::move(waiting_.front());
  waiting_.pop_front();
  held_ = out.bytes.size();
  return true;
}

std::uint64_t ArtefactQueue::lost() const {
  const Lock lock(mutex_);
  return lost_;
}

}  // namespace assay::protocol
