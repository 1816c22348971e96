#include "endpoint/job_book.h"

#include <algorithm>

#include "base/enum_name.h"
#include "base/json.h"
#include "base/rng.h"

namespace assay::endpoint {
namespace {

constexpr std::uint32_t kTokensMax = 64 * 1024;  // and so 64 MiB
constexpr std::size_t kBytesAToken = 1024;

void put_big_endian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255);
}

}  // namespace

std::string_view to_string(JobState state) { return enum_name(state); }

std::string to_json(const VideoJob& job) {
  const bool completed = job.state == JobState::completed;
  Json error;
  if (job.state == JobState::failed) {
    error = Json::object()
                .set("code", "internal_error")
                .set("message", "The job was aborted by the server.");
  }
  // A job is at 100 only when it is completed.
  const std::uint32_t share = std::min(99u, 100 * job.made / std::max(1u, job.tokens));
  return Json::object()
      .set("id", job.id)
      .set("object", "video")
      .set("model", job.model)
      .set("status", to_string(job.state))
      .set("progress", completed ? 100u : share)
      .set("created_at", job.created_at)
      .set("completed_at", completed ? Json(job.completed_at) : Json())
      .set("expires_at", nullptr)
      .set("error", std::move(error))
      .set("prompt", nullptr)
      .set("remixed_from_video_id", nullptr)
      .set("seconds", job.seconds)
      .set("size", job.size)
      .dump();
}

std::string bytes_of(const VideoJob& job) {
  const std::size_t size = std::min(job.tokens, kTokensMax) * kBytesAToken;
  std::string out;
  put_big_endian(out, 16);
  out += "ftypisom";
  put_big_endian(out, 0);
  put_big_endian(out, static_cast<std::uint32_t>(size + 8));
  out += "mdat";
  Rng rng(job.seed);
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = rng.next();
    for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(word >> shift & 255);
  }
  return out;
}

void JobBook::put(const VideoJob& job) {
  const Lock lock(mutex_);
  if (jobs_.insert_or_assign(job.id, job).second) order_.push_back(job.id);
  if (order_.size() <= kJobsMax) return;
  jobs_.erase(order_.front());
  order_.pop_front();
}

std::optional<VideoJob> JobBook::find(std::string_view id) const {
  const Lock lock(mutex_);
  const auto found = jobs_.find(std::string(id));
  if (found == jobs_.end()) return std::nullopt;
  return found->second;
}

bool JobBook::erase(std::string_view id) {
  const Lock lock(mutex_);
  std::erase(order_, id);
  return jobs_.erase(std::string(id)) > 0;
}

}  // namespace assay::endpoint
