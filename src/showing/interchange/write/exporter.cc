#include "interchange/write/exporter.h"

#include "base/check.h"
#include "base/enum_name.h"

namespace assay::interchange {
std::optional<ExportFormat> export_format_from(std::string_view name) {
  return enum_named<ExportFormat>(name);
}

metrics::TokenBasis Exporter::token_basis(const metrics::Reply& reply) {
  return reply.event.usage.completion_tokens < 0 ? metrics::TokenBasis::none : reply.truth->basis;
}

void Exporter::on_reply(const metrics::Reply& reply) {
  const bool by_usage = reply.truth->basis == metrics::TokenBasis::usage;
  const bool silent =
      reply.counted == nullptr && reply.truth->contradiction == metrics::Contradiction::none;
  if (reply.counted == nullptr && (by_usage || silent)) {
    add(reply);
    return;
  }
  Event event = reply.event;
  event.usage.prompt_tokens = reply.truth->count.input;
  if (!by_usage) event.usage.completion_tokens = reply.truth->count.output;
  add({event, reply.events, reply.text, reply.detail, reply.counted, reply.truth});
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

}  // namespace assay::interchange
