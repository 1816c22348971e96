// JobBook: the jobs of the endpoint's videos route, by their ids. The worker that took a job moves
// it on; any worker answers for it, because a client may look from another connection.
//
// Any thread. It keeps kJobsMax jobs, and forgets the oldest first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "endpoint/fault.h"

namespace assay::endpoint {

enum class JobState : std::uint8_t { queued, in_progress, completed, failed };
std::string_view to_string(JobState state);

struct VideoJob {
  std::string id{};
  std::string model{};
  std::string size{};
  std::string seconds{};
  std::uint64_t seed = 0;    // of its bytes
  std::uint32_t tokens = 1;  // its work; it is what --osl says
  std::uint32_t made = 0;
  std::int64_t created_at = 0;  // seconds since 1970
  std::int64_t completed_at = 0;
  JobState state = JobState::queued;
  FaultKind fault = FaultKind::none;  // which its answers show, once it has ended
};
// As OpenAI's API has it.
std::string to_json(const VideoJob& job);
// The video: the beginning of an MP4, and 1 KiB a token that depends only on the seed.
std::string bytes_of(const VideoJob& job);

class JobBook {
 public:
  static constexpr std::size_t kJobsMax = 10'000;

  // Adds the job, or replaces the one of its id.
  void put(const VideoJob& job);
  std::optional<VideoJob> find(std::string_view id) const;
  bool erase(std::string_view id);

 private:
  mutable Mutex mutex_{};
  std::unordered_map<std::string, VideoJob> jobs_ GUARDED_BY(mutex_){};
  std::deque<std::string> order_ GUARDED_BY(mutex_){};
};

}  // namespace assay::endpoint
