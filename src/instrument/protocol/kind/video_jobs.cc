// OpenAI's videos: POST /v1/videos begins a job, GET /v1/videos/ID says how far it is, and GET
// /v1/videos/ID/content has the video. The request is a form: a prompt, and a row's further
// columns; a column `input_reference` is a picture. A reply is the video's bytes, which are not
// looked into, or the state of a job that ended; how a job is followed: job_transport.cc.
#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

constexpr std::size_t kIdBytesMax = 512;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

JobStanding standing_of(std::string_view status) {
  if (is_one_of(status, {"queued", "in_progress", "processing", "running", "pending"})) {
    return JobStanding::running;
  }
  if (is_one_of(status, {"completed", "succeeded"})) return JobStanding::completed;
  if (is_one_of(status, {"failed", "cancelled", "canceled", "expired"})) return JobStanding::failed;
  return JobStanding::unknown;
}

}  // namespace

Json video_job_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  body.set("prompt", prompt_of(sample, filler));
  set_from_row(body, sample, "seconds");
  set_from_row(body, sample, "size");
  set_if(body, "seed", generation.seed);
  set_rest_of_row(body, sample);
  return body;
}

JobAnswer read_job(std::string_view text) {
  const Json json = Json::parse(text).value_or(Json());
  JobAnswer out{.id = std::string(json["id"].as_string()),
                .standing = standing_of(json["status"].as_string())};
  if (out.id.empty() || out.id.size() > kIdBytesMax) return {};
  return out;
}

bool read_video_job(std::string_view text, ReplyFields& out) {
  // No file of a video begins with a blank or as a page does.
  const std::string_view words = trim(text);
  if (words.empty() || words.front() == '<') return false;
  if (words.front() != '{') {
    out.units = 1;
    out.has_choice = true;
    return true;
  }
  RawString status;
  const bool sound = read_root(text, out, [&](JsonCursor& at, const RawString& key) {
    if (is_key(key, "error")) return error_value(at, out.error);
    if (is_key(key, "status")) return at.string_or_skip(status);
    return at.skip();
  });
  const JobStanding standing = standing_of(status.view());
  if (standing == JobStanding::failed && out.error.empty()) {
    // Padded as the server's own words are: the decoder reads ahead.
    constexpr std::string_view kWords = R"("the job failed, and says no error")";
    static const std::string kPadded = std::string(kWords) + std::string(kDecodePadding, '\0');
    out.error = std::string_view(kPadded).substr(0, kWords.size());
  }
  out.has_choice = standing == JobStanding::completed;
  out.units = out.has_choice ? 1 : 0;
  return sound;
}

}  // namespace assay::protocol
