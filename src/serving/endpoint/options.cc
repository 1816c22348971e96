#include "endpoint/options.h"

#include "base/format.h"
#include "base/text.h"

namespace assay::endpoint {

Result<void> set_osl(EndpointOptions& options, std::string_view text) {
  options.osl_is_limit = trim(text) == "max";
  if (options.osl_is_limit) return {};
  ASSIGN_OR_RETURN(options.osl, dataset::parse_length(text));
  return {};
}

Result<void> check(const EndpointOptions& options) {
  constexpr std::uint32_t kThreadsMax = 256;
  constexpr std::uint32_t kEventsPerWriteMax = 1024;
  if (options.threads < 1 || options.threads > kThreadsMax) {
    return invalid(format("--threads: must be from 1 to {}", kThreadsMax));
  }
  if (options.truth_holds && options.truth_log.empty()) {
    return invalid("--truth-holds: writes to the truth log; name its file with --truth-log");
  }
  if (options.concurrency != 0 && options.concurrency < options.threads) {
    return invalid(format("--concurrency {}: must be at least --threads {}, which share it",
                          options.concurrency, options.threads));
  }
  if (options.events_per_write < 1 || options.events_per_write > kEventsPerWriteMax) {
    return invalid(format("--events-per-write: must be from 1 to {}", kEventsPerWriteMax));
  }
  if (options.tokens_per_event < 1) return invalid("--tokens-per-event: must be at least 1");
  if (!(options.reasoning >= 0 && options.reasoning < 1)) {
    return invalid("--reasoning: must be at least 0 and below 1");
  }
  if (options.model.empty()) return invalid("--model: must not be empty");
  if (options.kv_tokens < 1) return invalid("--kv-tokens: must be at least 1");
  if (options.tls && !options.unix_path.empty()) {
    return invalid("--tls: not with --uds, which needs none");
  }
  return {};
}

}  // namespace assay::endpoint
