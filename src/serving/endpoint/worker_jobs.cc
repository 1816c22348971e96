// The worker's video jobs: begun by a POST, moved on by the engine, and answered for by every
// worker. A fault of a job is seen where a client would meet it: a job that fails (error), a state
// that is no JSON (garbage), a video that is cut (truncate, reset), a job that never ends (stall).
#include <utility>

#include "base/format.h"
#include "endpoint/worker.h"
#include "net/http_reply.h"

namespace assay::endpoint {
namespace {

constexpr std::string_view kJobJson = "application/json";
constexpr std::string_view kVideo = "video/mp4";

}  // namespace

void Worker::open_job(Stream& stream, const net::RequestHead& head) {
  OwnJob own;
  own.said = {.id = format("video_{:016x}", mix(stream.reply.state.id, thread_)),
              .model = ask_.model.empty() ? options_.model : ask_.model,
              .size = ask_.video.size,
              .seconds = ask_.video.seconds,
              .seed = mix(stream.reply.script.seed, stream.reply.own->vectors.inputs[0]),
              .tokens = stream.reply.script.tokens,
              .created_at = std::int64_t{stream.reply.state.created}};
  const std::uint64_t engine_id = stream.engine_id;
  const net::ConnectionId connection = stream.out.connection;
  std::swap(own.stream, stream);
  stream.clear();
  jobs_->put(own.said);
  respond(connection, head, 200, kJobJson, to_json(own.said));
  own_jobs_.emplace(engine_id, std::move(own));
}

void Worker::move_job_on(const sim::Emission& emission) {
  const auto found = own_jobs_.find(emission.request);
  if (found == own_jobs_.end()) return;
  VideoJob& job = found->second.said;
  Stream& stream = found->second.stream;
  if (job.made == 0) stats_.ttft.observe(emission.at - stream.arrived);
  job.made += emission.tokens;
  stream.reply.state.made = job.made;
  if (!emission.last) {
    job.state = JobState::in_progress;
    return jobs_->put(job);
  }
  job.fault = stream.fault.kind;
  if (job.fault != FaultKind::none) {
    count_fault(stream.fault);
    stream.fault_done = true;
  }
  job.state = job.fault == FaultKind::stall   ? JobState::in_progress
              : job.fault == FaultKind::error ? JobState::failed
                                              : JobState::completed;
  job.completed_at = wall_now().ns / 1'000'000'000;
  const Instant at = clock_.now();
  jobs_->put(job);
  stream.out.last_handed = at;
  stream.out.events = 1;
  stream.out.tokens = job.made;
  truth_.event({.number = stream.out.number,
                .tokens = static_cast<std::uint16_t>(std::min(job.made, 65'535u)),
                .category = Category::text,
                .at = at});
  if (!stream.fault_done) stats_.latency.observe(at - stream.arrived);
  end_stream(stream, stream.fault_done ? TruthOutcome::faulted : TruthOutcome::served);
  own_jobs_.erase(found);
}

void Worker::answer_job(net::ConnectionId connection, const net::RequestHead& head) {
  constexpr std::string_view kRoute = "/v1/videos/";
  constexpr std::string_view kContent = "/content";
  std::string_view id = head.path().substr(kRoute.size());
  const bool content = id.ends_with(kContent);
  if (content) id.remove_suffix(kContent.size());
  const bool get = head.method == "GET" || head.method == "HEAD";
  const bool erases = head.method == "DELETE" && !content;
  if (!get && !erases) {
    return respond_error(connection, head, {.status = 405, .message = "Use GET."}, "Allow: GET");
  }
  const auto job = jobs_->find(id);
  if (!job) {
    return respond_error(connection, head,
                         {.status = 404, .message = format("No video with id '{}' found.", id)});
  }
  if (erases) {
    jobs_->erase(id);
    const Json said =
        Json::object().set("id", job->id).set("object", "video.deleted").set("deleted", true);
    return respond(connection, head, 200, kJobJson, said.dump());
  }
  const bool ended = job->state == JobState::completed || job->state == JobState::failed;
  if (!content) {
    const bool garbage = ended && job->fault == FaultKind::garbage;
    return respond(connection, head, 200, kJobJson,
                   garbage ? std::string(R"({"id":"video_0","object":"vid)") : to_json(*job));
  }
  if (job->state != JobState::completed) {
    return respond_error(connection, head,
                         {.status = ended ? 422 : 404, .message = "The video is not ready."});
  }
  const std::string bytes = bytes_of(*job);
  if (job->fault != FaultKind::truncate && job->fault != FaultKind::reset) {
    return respond(connection, head, 200, kVideo, bytes);
  }
  std::string cut;
  net::append_head(cut, {.status = 200, .content_type = kVideo, .length = bytes.size()});
  cut += bytes.substr(0, bytes.size() / 2);
  if (server_->send(connection, cut) == net::HttpServer::Sent::gone) return;
  job->fault == FaultKind::reset ? server_->reset(connection) : server_->close(connection);
}

}  // namespace assay::endpoint
