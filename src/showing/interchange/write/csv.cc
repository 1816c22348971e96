// One query a row, in the order of their ends. Instants are seconds on the run's clock, as in the
// event log.
#include "base/format.h"
#include "domain/query.h"
#include "interchange/write/exporter.h"
#include "metrics/definitions/definition.h"

namespace assay::interchange {
namespace {

constexpr std::string_view kHead =
    "request_id,query,sample,endpoint,outcome,http_status,finish_reason,due_s,sent_s,ttft_ms,"
    "ttft_due_ms,ttft_visible_ms,tpot_ms,latency_ms,latency_due_ms,input_tokens,output_tokens,"
    "reasoning_tokens,cached_tokens,fragments,token_source,detail\n";

std::string seconds_text(Instant at) {
  return at.known() ? format("{:.9f}", static_cast<double>(at.ns) * 1e-9) : std::string();
}

std::string ms(Instant from, Instant to) {
  return from.known() && to.known() ? format("{:.6f}", (to - from).ms()) : std::string();
}

std::string ms(const std::optional<double>& ns) {
  return ns ? format("{:.6f}", *ns * 1e-6) : std::string();
}

std::string count(std::int32_t tokens) { return tokens < 0 ? "" : std::to_string(tokens); }

// RFC 4180: quotes only where needed.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

class CsvExporter final : public Exporter {
 public:
  explicit CsvExporter(const RunInfo& info) : Exporter(info), run_key_(info.run_key) {}

  std::string finish(const metrics::Point&) override { return std::string(kHead) + rows_; }

 private:
  void add(const metrics::Reply& reply) override {
    const Event& e = reply.event;
    figures_.clear();
    metrics::kAssayDefinition.measure(reply, figures_);
    const QueryUuid uuid = query_uuid(run_key_, e.query.phase, e.query.index);
    const bool ok = e.outcome == Outcome::ok;
    const Instant done = ok ? e.done : Instant::none();
    const Instant first = ok && e.streamed ? e.first_token : Instant::none();
    const Instant visible = ok && e.streamed ? e.first_visible : Instant::none();
    rows_ += format("{},{},{},{},{},{},{},{},{},", std::string_view(uuid.data(), uuid.size()),
                    e.query.index, e.query.sample, e.endpoint, to_string(e.outcome), e.http_status,
                    to_string(e.finish), seconds_text(e.due), seconds_text(e.sent));
    rows_ += format("{},{},{},{},{},{},", ms(e.sent, first), ms(e.due, first), ms(e.sent, visible),
                    ok ? ms(figures_.tpot) : std::string(), ms(e.sent, done), ms(e.due, done));
    rows_ += format("{},{},{},{},{},{},{}\n", count(e.usage.prompt_tokens),
                    count(e.usage.completion_tokens), count(e.usage.reasoning_tokens),
                    count(e.usage.cached_tokens), e.fragments, to_string(token_basis(reply)),
                    field(reply.detail));
  }

  std::uint64_t run_key_;
  metrics::Figures figures_{};
  std::string rows_{};
};

}  // namespace

std::unique_ptr<Exporter> make_csv_exporter(const RunInfo& info) {
  return std::make_unique<CsvExporter>(info);
}

}  // namespace assay::interchange
