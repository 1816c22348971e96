// OpenTelemetry's GenAI client metrics as one OTLP/JSON ExportMetricsServiceRequest, as a collector
// accepts on /v1/metrics or a file exporter writes. Histograms have the convention's boundaries and
// are cumulative over the run; figures follow its definitions (metrics/definitions/otel.cc). 64-bit
// integers are strings, as protobuf's JSON mapping requires. The duration includes failed
// operations, with error.type.
#include <algorithm>
#include <array>
#include <map>

#include "base/json.h"
#include "base/json_list.h"
#include "interchange/write/exporter.h"
#include "metrics/definitions/definition.h"

namespace assay::interchange {
namespace {

constexpr std::array kSecondBounds{0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                   1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
constexpr std::array<double, 14> kTokenBounds{
    1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};

struct Buckets {
  std::array<std::uint64_t, 15> counts{};
  std::uint64_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;

  // A value equal to a bound belongs to the bucket below it.
  void add(double value, const std::array<double, 14>& bounds) {
    const auto at = std::ranges::lower_bound(bounds, value) - bounds.begin();
    ++counts[static_cast<std::size_t>(at)];
    min = count == 0 ? value : std::min(min, value);
    max = count == 0 ? value : std::max(max, value);
    sum += value;
    ++count;
  }
};

Json attribute(std::string_view key, Json value) {
  const bool whole = value.is_integer();
  Json wrapped =
      whole ? Json().set("intValue", value.dump()) : Json().set("stringValue", std::move(value));
  return Json().set("key", key).set("value", std::move(wrapped));
}

class OtlpExporter final : public Exporter {
 public:
  using Exporter::Exporter;
  std::string finish(const metrics::Point& point) override;

 private:
  void add(const metrics::Reply& reply) override;
  Json data_point(const Buckets& buckets, const std::array<double, 14>& bounds,
                  std::string_view extra_key, std::string_view extra) const;

  metrics::Figures figures_{};
  std::map<std::string, Buckets> duration_{};  // by error.type; "" for successes
  Buckets first_chunk_{};
  Buckets per_chunk_{};
  Buckets input_{};
  Buckets output_{};
  const metrics::Point* point_ = nullptr;
};

void OtlpExporter::add(const metrics::Reply& reply) {
  const Event& event = reply.event;
  figures_.clear();
  metrics::kOtelDefinition.measure(reply, figures_);
  const std::string error(figures_.success ? "" : to_string(event.outcome));
  if (figures_.latency) duration_[error].add(*figures_.latency * 1e-9, kSecondBounds);
  if (figures_.ttft) first_chunk_.add(*figures_.ttft * 1e-9, kSecondBounds);
  for (const double gap : figures_.itl) per_chunk_.add(gap * 1e-9, kSecondBounds);
  if (event.usage.prompt_tokens >= 0) input_.add(event.usage.prompt_tokens, kTokenBounds);
  if (event.usage.completion_tokens >= 0) output_.add(event.usage.completion_tokens, kTokenBounds);
}

Json OtlpExporter::data_point(const Buckets& buckets, const std::array<double, 14>& bounds,
                              std::string_view extra_key, std::string_view extra) const {
  const RunInfo& run = point_->run;
  const std::string_view api = run.facts["api"].as_string();
  Json attributes = Json::array();
  const bool completes = api == "openai_completions" || api == "ollama_generate";
  attributes.push_back(attribute("gen_ai.operation.name", completes ? "text_completion" : "chat"));
  attributes.push_back(
      attribute("gen_ai.provider.name", api == "anthropic_messages" ? "anthropic" : "openai"));
  attributes.push_back(attribute("gen_ai.request.model", run.facts["model"].as_string()));
  if (!extra.empty()) attributes.push_back(attribute(extra_key, extra));
  const auto wall = [&run](Instant at) {
    return std::to_string(at.ns + run.offset.wall_minus_monotonic.ns);
  };
  const bool any = run_end().known();
  return Json()
      .set("attributes", std::move(attributes))
      .set("startTimeUnixNano", any ? wall(run_start()) : std::to_string(run.started.ns))
      .set("timeUnixNano", any ? wall(run_end()) : std::to_string(run.started.ns))
      .set("count", std::to_string(buckets.count))
      .set("sum", buckets.sum)
      .set("bucketCounts",
           json_list(buckets.counts, [](std::uint64_t count) { return std::to_string(count); }))
      .set("explicitBounds", json_list(bounds))
      .set("min", buckets.min)
      .set("max", buckets.max);
}

Json histogram(std::string_view name, std::string_view unit, std::string_view about, Json points) {
  return Json()
      .set("name", name)
      .set("description", about)
      .set("unit", unit)
      .set("histogram", Json()
                            .set("dataPoints", std::move(points))
                            .set("aggregationTemporality", 2));  // cumulative
}

std::string OtlpExporter::finish(const metrics::Point& point) {
  point_ = &point;
  Json metrics = Json::array();
  Json durations = Json::array();
  for (const auto& [error, buckets] : duration_) {
    durations.push_back(data_point(buckets, kSecondBounds, "error.type", error));
  }
  if (durations.size() > 0) {
    metrics.push_back(histogram("gen_ai.client.operation.duration", "s",
                                "GenAI operation duration.", std::move(durations)));
  }
  if (first_chunk_.count > 0) {
    metrics.push_back(histogram(
        "gen_ai.client.operation.time_to_first_chunk", "s", "Time to receive the first chunk.",
        Json::array().push_back(data_point(first_chunk_, kSecondBounds, "", ""))));
  }
  if (per_chunk_.count > 0) {
    metrics.push_back(
        histogram("gen_ai.client.operation.time_per_output_chunk", "s",
                  "Time per output chunk after the first.",
                  Json::array().push_back(data_point(per_chunk_, kSecondBounds, "", ""))));
  }
  Json usage = Json::array();
  for (const auto& [type, buckets] : {std::pair{"input", &input_}, {"output", &output_}}) {
    if (buckets->count == 0) continue;
    usage.push_back(data_point(*buckets, kTokenBounds, "gen_ai.token.type", type));
  }
  if (usage.size() > 0) {
    metrics.push_back(histogram("gen_ai.client.token.usage", "{token}",
                                "Number of input and output tokens used.", std::move(usage)));
  }
  Json resource = Json::array();
  resource.push_back(attribute("service.name", "assay"));
  resource.push_back(attribute("service.version", point.run.version));
  resource.push_back(attribute("assay.run.id", point.run.run_id));
  resource.push_back(attribute("assay.token_source", metrics::token_source_text(point.tokens)));
  Json scope_metrics =
      Json()
          .set("scope", Json().set("name", "assay").set("version", point.run.version))
          .set("metrics", std::move(metrics));
  Json whole = Json()
                   .set("resource", Json().set("attributes", std::move(resource)))
                   .set("scopeMetrics", Json::array().push_back(std::move(scope_metrics)));
  return Json().set("resourceMetrics", Json::array().push_back(std::move(whole))).dump() + "\n";
}

}  // namespace

std::unique_ptr<Exporter> make_otlp_exporter(const RunInfo& info) {
  return std::make_unique<OtlpExporter>(info);
}

}  // namespace assay::interchange
