#include "campaign/profiler.h"

#include <algorithm>

#include "base/clock.h"
#include "base/format.h"
#include "base/json_list.h"
#include "plan/saved_config.h"
#include "protocol/endpoint_capture.h"

namespace assay::campaign {
namespace {

constexpr Duration kProfilerCall = 2_s;

}  // namespace

Profiler::Profiler(const plan::Config& config, const plan::PlanBundle& bundle, std::string ca_file)
    : config_(config), plan_(bundle.plan), ca_file_(std::move(ca_file)) {
  const plan::Profiling& profiling = config.settings.profiling;
  if (profiling.engine.empty()) return;
  const bool measures =
      std::ranges::count(plan_.phases, PhaseKind::performance, &PhasePlan::kind) > 0;
  if (!measures) return;  // there is nothing to profile in an accuracy run
  urls_ = profiling.urls.empty() ? config.endpoint_config.endpoints : profiling.urls;
  warmed_ = !plan_.phases.empty() && plan_.phases.front().kind == PhaseKind::warmup;
}

Profiler::~Profiler() {
  if (!starter_.joinable()) return;
  step_.store(Step::over);
  step_.notify_all();
  starter_.join();
}

void Profiler::prepare() {
  if (!wanted()) return;
  if (!warmed_) return start_all();
  starter_ = std::thread([this] {
    step_.wait(Step::waiting);
    if (step_.load() == Step::started) start_all();
  });
}

void Profiler::on_phase(const PhaseMark& mark) {
  if (!starter_.joinable() || mark.step != PhaseStep::started) return;
  if (mark.phase >= plan_.phases.size() ||
      plan_.phases[mark.phase].kind != PhaseKind::performance) {
    return;
  }
  Step waiting = Step::waiting;
  if (step_.compare_exchange_strong(waiting, Step::started)) step_.notify_all();
}

Json Profiler::call(const std::string& url, bool start) const {
  const OsClock clock;
  protocol::ProbeQuestion question{.url = url,
                                   .api = config_.endpoint_config.api_type,
                                   .described = config_.endpoint_config.described};
  question.api_key = config_.endpoint_config.api_key;
  question.headers = config_.endpoint_config.headers;
  question.insecure = config_.settings.client.insecure;
  question.ca_file = ca_file_;
  question.timeout = kProfilerCall;
  Json out;
  const std::int64_t sent = clock.now().ns;
  const std::string when = rfc3339(wall_now());
  const protocol::ProfilerReply reply = protocol::call_profiler(question, start, clock);
  const Json status = reply.status > 0 ? Json(reply.status) : Json();
  std::string error = reply.trouble;
  if (reply.status > 0 && reply.status != 200) error = format("HTTP {}", reply.status);
  out.set("url", plan::redact_url(reply.url.empty() ? url : reply.url))
      .set("sent_at_ns", sent)
      .set("sent_at_iso", when)
      .set("status", status)
      .set("error", error.empty() ? Json() : Json(error));
  return out;
}

void Profiler::start_all() {
  for (const std::string& url : urls_) starts_.push_back(call(url, true));
}

void Profiler::stop(bool complete) {
  if (!wanted()) return;
  if (starter_.joinable()) {
    Step waiting = Step::waiting;
    step_.compare_exchange_strong(waiting, Step::over);
    step_.notify_all();
    starter_.join();
  }
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i]["status"].as_int() != 200) continue;
    stops_.push_back(call(urls_[i], false).set("stop_reason", complete ? "phase_end" : "abort"));
  }
}

Json Profiler::record() const {
  return Json()
      .set("engine", config_.settings.profiling.engine)
      .set("starts", json_list(starts_))
      .set("stops", json_list(stops_));
}

std::vector<std::string> Profiler::troubles() const {
  std::vector<std::string> out;
  for (const std::vector<Json>* const calls : {&starts_, &stops_}) {
    for (const Json& call : *calls) {
      if (call["status"].as_int() == 200) continue;
      const bool missing = call["status"].as_int() == 404;
      out.push_back(format("the server's profiler: {}: {}{}", call["url"].as_string(),
                           call["error"].as_string(),
                           missing ? "; the server was started without its profiler" : ""));
    }
  }
  return out;
}

}  // namespace assay::campaign
