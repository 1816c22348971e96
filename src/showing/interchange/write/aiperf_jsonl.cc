// AIPerf's profile_export.jsonl: one request a line, {metadata, metrics, error}; figures by
// AIPerf's definitions (metrics/definitions/aiperf.cc). Instants are ns since 1970, by the event
// log's mapping from its monotonic clock.
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/query.h"
#include "interchange/write/exporter.h"
#include "metrics/definitions/definition.h"

namespace assay::interchange {
namespace {

Json quantity(Json value, std::string_view unit) {
  return Json().set("value", std::move(value)).set("unit", unit);
}

// Adds the members that `to` lacks, also in nested objects.
void add_missing(const Json& from, Json& to) {
  for (const auto& [key, value] : from.members()) {
    Json* const there = to.find(key);
    if (there == nullptr) {
      to.set(key, value);
    } else if (there->is_object() && value.is_object()) {
      add_missing(value, *there);
    }
  }
}

class AiperfExporter final : public Exporter {
 public:
  explicit AiperfExporter(const RunInfo& info)
      : Exporter(info), run_key_(info.run_key), offset_(info.offset.wall_minus_monotonic) {}
  std::string finish(const metrics::Point&) override { return std::move(lines_); }
  // A line that is not JSON stays empty: the import skipped it too.
  void take_source(std::string_view text) override {
    for (const std::string_view line : split(text, '\n')) {
      if (trim(line).empty()) continue;
      source_.push_back(Json::parse(line).value_or(Json()));
    }
  }

 private:
  void add(const metrics::Reply& reply) override;
  Json wall(Instant at) const { return at.known() ? Json(at.ns + offset_.ns) : Json(nullptr); }
  Json metadata(const metrics::Reply& reply);
  Json metrics(const metrics::Reply& reply);

  std::uint64_t run_key_;
  Duration offset_;
  std::uint64_t number_ = 0;
  std::vector<Json> source_{};  // by Query.sample, the source line of a request
  metrics::Figures figures_{};
  std::string lines_{};
};

Json AiperfExporter::metadata(const metrics::Reply& reply) {
  const Event& event = reply.event;
  const QueryUuid uuid = query_uuid(run_key_, event.query.phase, event.query.index);
  const std::string id(uuid.data(), uuid.size());
  const Instant end = figures_.end.known() ? figures_.end : event.done;
  return Json()
      .set("session_num", number_++)
      .set("x_request_id", id)
      .set("x_correlation_id", id)
      .set("conversation_id", format("sample-{}", event.query.sample))
      .set("turn_index", 0)
      .set("request_start_ns", wall(figures_.start))
      .set("request_ack_ns", wall(event.first_byte))
      .set("request_end_ns", wall(end))
      .set("token_source", to_string(token_basis(reply)))
      .set("worker_id", "assay")
      .set("record_processor_id", "assay")
      .set("benchmark_phase", "profiling")
      .set("was_cancelled", event.outcome == Outcome::cancelled)
      .set("cancellation_time_ns",
           event.outcome == Outcome::cancelled ? wall(event.done) : Json(nullptr));
}

Json AiperfExporter::metrics(const metrics::Reply& reply) {
  const Event& event = reply.event;
  Json out = Json::object();
  const auto ms = [&out](std::string_view name, const std::optional<double>& ns) {
    if (ns) out.set(name, quantity(*ns * 1e-6, "ms"));
  };
  const auto tokens = [&out](std::string_view name, std::int64_t count) {
    if (count >= 0) out.set(name, quantity(count, "tokens"));
  };
  ms("time_to_first_token", figures_.ttft);
  if (event.first_visible.known()) {
    ms("time_to_first_output_token", metrics::span(figures_.start, event.first_visible));
  }
  ms("request_latency", figures_.latency);
  if (!figures_.itl.empty()) {
    ms("inter_token_latency", figures_.itl.front());
    if (figures_.itl.front() > 0) {
      out.set("output_token_throughput_per_user",
              quantity(1e9 / figures_.itl.front(), "tokens/sec/user"));
    }
  }
  std::vector<double> gaps;
  metrics::gaps_of(reply, is_fragment, gaps);
  if (!gaps.empty()) {
    Json list = Json::array();
    for (const double gap : gaps) list.push_back(gap * 1e-6);
    out.set("inter_chunk_latency", quantity(std::move(list), "ms"));
  }
  tokens("input_sequence_length", event.usage.prompt_tokens);
  tokens("output_sequence_length", event.usage.completion_tokens);
  tokens("reasoning_token_count", event.usage.reasoning_tokens);
  // A difference needs one source: the tokenizer's total and the server's part don't compare.
  const bool one_source =
      reply.counted == nullptr && reply.truth->contradiction == metrics::Contradiction::none;
  if (one_source && event.usage.completion_tokens >= 0 && event.usage.reasoning_tokens >= 0) {
    tokens("output_token_count", event.usage.completion_tokens - event.usage.reasoning_tokens);
  }
  return out;
}

void AiperfExporter::add(const metrics::Reply& reply) {
  const Event& event = reply.event;
  figures_.clear();
  metrics::kAiperfDefinition.measure(reply, figures_);
  Json line = Json().set("metadata", metadata(reply));
  if (event.outcome == Outcome::ok) {
    line.set("metrics", metrics(reply)).set("error", nullptr);
  } else {
    line.set("metrics", Json::object())
        .set("error", Json()
                          .set("code", event.http_status == 0 ? Json(nullptr)
                                                              : Json(unsigned{event.http_status}))
                          .set("type", to_string(event.outcome))
                          .set("message", reply.detail));
  }
  if (event.query.sample < source_.size()) add_missing(source_[event.query.sample], line);
  lines_ += line.dump() + "\n";
}

}  // namespace

std::unique_ptr<Exporter> make_aiperf_exporter(const RunInfo& info) {
  return std::make_unique<AiperfExporter>(info);
}

}  // namespace assay::interchange
