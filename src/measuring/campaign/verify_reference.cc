#include "campaign/verify_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "interchange/read/reference_run.h"
#include "metrics/result_json.h"
#include "metrics/series.h"

namespace assay::campaign {
namespace {

// The reference client's figures of the measured phase.
class ReferenceFigures final : public QuietSink {
 public:
  explicit ReferenceFigures(const RunInfo& info) : info_(info) {}

  void on_phase(const PhaseMark& mark) override {
    if (measured(mark.phase) && mark.step == PhaseStep::started) start_ = mark.at;
  }
  void on_sent(const Query& query, Instant, Instant sent) override {
    if (measured(query.phase)) issued(query, sent);
  }
  void on_stream_event(const Query& query, const StreamEvent& event, std::string_view) override {
    if (measured(query.phase) && is_fragment(event.category) && !first_.known()) {
      first_ = event.arrival;
    }
  }
  void on_done(const Event& event, std::string_view) override {
    const Instant first = first_;
    first_ = Instant::none();
    if (!measured(event.query.phase)) return;
    if (!event.sent.known()) issued(event.query, event.due);  // given up, and counted all the same
    ++completed_;
    if (event.outcome != Outcome::ok) ++failed_;
    if (event.finish != FinishReason::none) ++finish_[static_cast<std::size_t>(event.finish)];
    latency_.add(event.done - event.due);
    if (event.streamed && first.known()) ttft_.add(first - event.due);
    last_done_ = std::max(last_done_, event.done);
    if (!last_issued_.known() || event.due > last_issued_) {
      last_issued_ = event.due;
      last_issued_done_ = event.done;
    }
  }

  Json finish() {
    const Json& pattern = info_.facts["run_config"]["load_pattern"];
    Json out;
    out.set("n_samples_issued", issued_)
        .set("n_samples_completed", completed_)
        .set("n_samples_failed", failed_);
    const Duration duration = last_done_.known() ? last_done_ - start_ : Duration{};
    out.set("duration_ns", duration.ns > 0 ? Json(duration.ns) : Json());
    out.set("ttft", metrics::metric_block(ttft_.finish(false)));
    out.set("latency", metrics::metric_block(latency_.finish(false)));
    std::optional<Duration> legacy;
    if (pattern["type"].as_string() == "poisson" &&
        pattern["use_legacy_loadgen_qps_metrics"].as_bool(true) && completed_ >= 2 &&
        last_issued_done_ > first_issued_) {
      legacy = last_issued_done_ - first_issued_;
    }
    out.set("legacy_loadgen_window_duration_ns", legacy ? Json(legacy->ns) : Json());
    if (legacy) {
      out.set("qps", static_cast<double>(completed_ - 1) / legacy->seconds());
    } else if (duration.ns > 0) {
      out.set("qps", static_cast<double>(completed_) / duration.seconds());
    }
    Json reasons = Json::object();
    for (const FinishReason reason :
         {FinishReason::stop, FinishReason::length, FinishReason::tool_calls,
          FinishReason::content_filter, FinishReason::function_call, FinishReason::other}) {
      reasons.set(to_string(reason), finish_[static_cast<std::size_t>(reason)]);
    }
    return out.set("finish_reason_counts", std::move(reasons));
  }
  std::uint64_t completed() const { return completed_; }

 private:
  bool measured(std::uint16_t phase) const {
    return phase < info_.phases.size() && info_.phases[phase].kind == PhaseKind::performance;
  }
  void issued(const Query&, Instant at) {
    ++issued_;
    first_issued_ = std::min(first_issued_, at);
  }

  const RunInfo& info_;
  Instant start_{};
  Instant first_ = Instant::none();  // fragment of the present reply; replies come whole
  Instant first_issued_ = Instant::max();
  Instant last_issued_ = Instant::none();
  Instant last_issued_done_ = Instant::none();
  Instant last_done_ = Instant::none();
  std::uint64_t issued_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t failed_ = 0;
  std::array<std::uint64_t, kFinishReasons> finish_{};
  metrics::Series ttft_{};
  metrics::Series latency_{};
};

// Both sides compute in doubles, in another order.
bool same_number(double kept, double made) {
  constexpr double kRounding = 1e-9;
  return std::abs(kept - made) <= kRounding * std::max({std::abs(kept), std::abs(made), 1.0});
}

class SummaryCheck {
 public:
  SummaryCheck(std::string file, std::vector<Difference>& out)
      : file_(std::move(file)), out_(out) {}

  void number(const std::string& name, const Json& kept, const Json& made) {
    const bool same = kept.is_number() && made.is_number()
                          ? same_number(kept.as_double(), made.as_double())
                          : kept.is_null() && made.is_null();
    if (same) return;
    out_.push_back(
        {file_, format("{}: kept {}, from the events {}", name, kept.dump(), made.dump())});
  }

  // `percentiles`: they are exact there too.
  void series(const std::string& name, const Json& kept, const Json& made, bool percentiles) {
    // A series without values is {} there, or has estimates that are all null.
    if (made.size() == 0) {
      if (kept.find("total") != nullptr) number(name + ".total", kept["total"], Json());
      return;
    }
    for (const char* const key : {"total", "min", "max", "avg", "std_dev"}) {
      number(format("{}.{}", name, key), kept[key], made[key]);
    }
    if (!percentiles) return;
    for (const auto& [p, value] : made["percentiles"].members()) {
      number(format("{}.percentiles.{}", name, p), kept["percentiles"][p], value);
    }
  }

 private:
  std::string file_;
  std::vector<Difference>& out_;
};

}  // namespace

Result<VerifiedRun> verify_reference(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(interchange::ReferenceRun run, interchange::read_reference_run(folder));
  ReferenceFigures figures(run.info);
  TRY(interchange::replay_reference_run(run, figures));
  VerifiedRun out;
  const Json made = figures.finish();
  out.records = figures.completed();
  out.reference = true;
  if (run.end.state == RunState::crashed) {
    out.differences.push_back({run.events.string(), "the file has no end of the session"});
  } else if (run.end.state == RunState::interrupted) {
    out.notes.push_back("the run was interrupted: " + run.end.reason);
  }
  const Json& kept = run.summary;
  const std::string file = (folder / "performance/result_summary.json").string();
  if (kept.is_null()) {
    out.differences.push_back({file, "missing, or nothing in it"});
    return out;
  }
  SummaryCheck check(file, out.differences);
  for (const char* const key : {"n_samples_issued", "n_samples_completed", "n_samples_failed",
                                "duration_ns", "legacy_loadgen_window_duration_ns", "qps"}) {
    check.number(key, kept[key], made[key]);
  }
  for (const auto& [reason, count] : made["finish_reason_counts"].members()) {
    const Json& said = kept["finish_reason_counts"][reason];
    check.number("finish_reason_counts." + reason, said.is_null() ? Json(0) : said, count);
  }
  const bool percentiles = kept["state"].as_string("complete") == "complete";
  check.series("ttft", kept["ttft"], made["ttft"], percentiles);
  check.series("latency", kept["latency"], made["latency"], percentiles);
  out.notes.emplace_back(
      "token figures are not checked: the reference client's events have no token counts");
  for (const Json& lack : run.info.facts["imported"]["lacks"].items()) {
    out.notes.push_back(format("not in its files: {}", lack.as_string()));
  }
  return out;
}

}  // namespace assay::campaign
