// Exporters: a run in the formats that other tools read. An exporter hears the run from its log and
// then gives one text; each format is one file of this folder. Figures in another tool's file are
// by that tool's definitions (metrics/definitions/), since its readers will take them for that. Its
// numbers of tokens are the run's own (Point::tokens), and the file says whose those are.
//
//   vllm         the JSON of `vllm bench serve --save-result --save-detailed`
//   aiperf       AIPerf's profile_export.jsonl, one request a line
//   otlp         OpenTelemetry's GenAI client metrics, OTLP in JSON
//   prometheus   the text exposition format
//   hdr          HdrHistogram's log, version 1.3, of V2 histograms, one a series
//   csv          one query a row
//
// The whole text is in memory: some hundred bytes a query. One thread. docs/formats/interchange.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/definitions/definition.h"
#include "metrics/point.h"
#include "metrics/reply_fold.h"

namespace assay::interchange {

class Exporter : public metrics::ReplyFold {
 public:
  using metrics::ReplyFold::ReplyFold;
  // After the whole run was told. `point`: the same run's.
  virtual std::string finish(const metrics::Point& point) = 0;
  // Of a run that was imported: the file it was read from, before the run is told. What it says
  // beyond what we know is then written again, where the format is the same.
  virtual void take_source(std::string_view /*text*/) {}

 protected:
  // Whose numbers of tokens a reply has that was given to add().
  static metrics::TokenBasis token_basis(const metrics::Reply& reply);
  // A reply whose `usage` is what the run counts by: of a run whose tokens were counted, those.
  virtual void add(const metrics::Reply& reply) = 0;

 private:
  void on_reply(const metrics::Reply& reply) final;
};

enum class ExportFormat : std::uint8_t { vllm, aiperf, otlp, prometheus, hdr, csv };
inline constexpr int kExportFormats = 6;
std::string_view to_string(ExportFormat format);
std::optional<ExportFormat> export_format_from(std::string_view name);

std::unique_ptr<Exporter> make_exporter(ExportFormat format, const RunInfo& info);

std::unique_ptr<Exporter> make_vllm_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_aiperf_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_otlp_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_prometheus_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_hdr_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_csv_exporter(const RunInfo& info);

}  // namespace assay::interchange
