// HdrHistogram's interval log, version 1.3: one line a series, tagged with its name, for the whole
// run. Values are ns; Interval_Max is in ms, as the log's own tools print it.
#include "base/display.h"
#include "base/format.h"
#include "interchange/write/exporter.h"
#include "interchange/write/hdr_histogram.h"
#include "metrics/definitions/definition.h"

namespace assay::interchange {
namespace {

constexpr std::int64_t kHighest = 86'400'000'000'000;  // a day

class HdrExporter final : public Exporter {
 public:
  using Exporter::Exporter;

  std::string finish(const metrics::Point& point) override {
    const double start = static_cast<double>(point.run.started.ns) * 1e-9;
    std::string out = format(
        "#[Assay {}, run {}; values in ns]\n"
        "#[Tokens: {}]\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: {:.3f} (seconds since epoch), {}]\n"
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
        "\"Interval_Compressed_Histogram\"\n",
        point.run.version, point.run.run_id, printable(metrics::token_source_text(point.tokens)),
        start, rfc3339(point.run.started));
    const double length =
        run_end().known() && run_end() > run_start() ? (run_end() - run_start()).seconds() : 0;
    for (const auto& [name, histogram] :
         {std::pair{"ttft", &ttft_}, {"tpot", &tpot_}, {"itl", &itl_}, {"latency", &latency_}}) {
      if (histogram->count() == 0) continue;
      out += format("Tag={},{:.3f},{:.3f},{:.3f},{}\n", name, 0.0, length,
                    static_cast<double>(histogram->max()) * 1e-6, histogram->encode());
    }
    return out;
  }

 private:
  void add(const metrics::Reply& reply) override {
    figures_.clear();
    metrics::kAssayDefinition.measure(reply, figures_);
    if (!figures_.measured) return;
    const auto add = [](HdrHistogram& to, double ns) {
      to.record(static_cast<std::int64_t>(ns + 0.5));
    };
    if (figures_.ttft) add(ttft_, *figures_.ttft);
    if (figures_.tpot) add(tpot_, *figures_.tpot);
    if (figures_.latency) add(latency_, *figures_.latency);
    for (const double gap : figures_.itl) add(itl_, gap);
  }

  metrics::Figures figures_{};
  HdrHistogram ttft_{kHighest};
  HdrHistogram tpot_{kHighest};
  HdrHistogram itl_{kHighest};
  HdrHistogram latency_{kHighest};
};

}  // namespace

std::unique_ptr<Exporter> make_hdr_exporter(const RunInfo& info) {
  return std::make_unique<HdrExporter>(info);
}

}  // namespace assay::interchange
