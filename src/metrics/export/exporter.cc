#include "metrics/export/exporter.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace assay::metrics {
namespace {

constexpr std::array<std::string_view, kExportFormats> kNames = {"vllm",       "aiperf", "otlp",
                                                                 "prometheus", "hdr",    "csv"};

}  // namespace

std::string_view to_string(ExportFormat format) { return kNames[static_cast<std::size_t>(format)]; }

std::optional<ExportFormat> export_format_from(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ExportFormat>(found - kNames.begin());
}

std::unique_ptr<Exporter> make_exporter(ExportFormat format, const RunInfo& info) {
  switch (format) {
    case ExportFormat::vllm:
      return make_vllm_exporter(info);
    case ExportFormat::aiperf:
      return make_aiperf_exporter(info);
    case ExportFormat::otlp:
      return make_otlp_exporter(info);
    case ExportFormat::prometheus:
      return make_prometheus_exporter(info);
    case ExportFormat::hdr:
      return make_hdr_exporter(info);
    case ExportFormat::csv:
      return make_csv_exporter(info);
  }
  CHECK(false && "no such ExportFormat");
  return nullptr;
}

}  // namespace assay::metrics
