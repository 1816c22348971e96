// Exporters write a run in the formats of other tools. An exporter reads the run from its log and
// then returns one text; each format is one file of this folder. Figures in another tool's file
// follow that tool's definitions (metrics/definitions/), because its readers expect them. Token
// counts are the run's own (Point::tokens), and the file names their source.
//
//   vllm         the JSON of `vllm bench serve --save-result --save-detailed`
//   aiperf       AIPerf's profile_export.jsonl, one request a line
//   otlp         OpenTelemetry's GenAI client metrics, OTLP in JSON
//   prometheus   the text exposition format
//   hdr          HdrHistogram's log, version 1.3, of V2 histograms, one a series
//   csv          one query a row
//
// The whole text is in memory: a few hundred bytes a query. One thread.
// docs/formats/interchange.md.
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
  // Call it after the whole log was replayed. `point`: the Point of the same run.
  virtual std::string finish(const metrics::Point& point) = 0;
  // Takes the file that an imported run was read from. Call it before the replay. An exporter of
  // the same format then keeps the fields that we don't model.
  virtual void take_source(std::string_view /*text*/) {}

 protected:
  // The source of the token counts of a reply given to add().
  static metrics::TokenBasis token_basis(const metrics::Reply& reply);
  // Takes a reply whose `usage` holds the run's token counts: those counted here, where the run's
  // tokens were counted.
  virtual void add(const metrics::Reply& reply) = 0;

 private:
  void on_reply(const metrics::Reply& reply) final;
};

enum class ExportFormat : std::uint8_t { vllm, aiperf, otlp, prometheus, hdr, csv };
inline constexpr int kExportFormats = 6;
std::optional<ExportFormat> export_format_from(std::string_view name);

std::unique_ptr<Exporter> make_exporter(ExportFormat format, const RunInfo& info);

std::unique_ptr<Exporter> make_vllm_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_aiperf_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_otlp_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_prometheus_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_hdr_exporter(const RunInfo& info);
std::unique_ptr<Exporter> make_csv_exporter(const RunInfo& info);

}  // namespace assay::interchange
