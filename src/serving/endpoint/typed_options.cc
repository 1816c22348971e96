#include "endpoint/typed_options.h"

#include <signal.h>

#include <memory>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/talk.h"
#include "endpoint/endpoint.h"
#include "sim/live_cluster.h"

namespace assay::endpoint {
namespace {

Result<std::uint32_t> whole(std::string_view flag, std::int64_t value, std::int64_t max) {
  if (value < 0 || value > max) return invalid(format("{}: must be from 0 to {}", flag, max));
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Result<void> understand(const TypedEndpoint& typed, EndpointOptions& options) {
  constexpr std::int64_t kMax = 1'000'000'000;
  const auto delay = [](std::string_view flag, const std::string& text) {
    auto parsed = sim::parse_delay(text);
    return parsed ? parsed : Result<sim::Delay>(parsed.error().within(flag));
  };
  if (!typed.certificate.empty() && !options.tls) {
    return invalid("--certificate: there is one with --tls alone");
  }
  if (typed.scenario.empty() && (typed.speedup || !typed.catalogue.empty())) {
    return invalid("--speedup, --catalogue: apply only to a modelled system: --scenario FILE");
  }
  ASSIGN_OR_RETURN(const std::uint32_t port, whole("--port", typed.port, 65535));
  options.port = static_cast<std::uint16_t>(port);
  ASSIGN_OR_RETURN(options.ttft, delay("--ttft", typed.ttft));
  ASSIGN_OR_RETURN(options.itl, delay("--itl", typed.itl));
  if (const auto osl = set_osl(options, typed.osl); !osl) return osl.error().within("--osl");
  ASSIGN_OR_RETURN(options.tokens_per_event,
                   whole("--tokens-per-event", typed.tokens_per_event, kMax));
  ASSIGN_OR_RETURN(options.concurrency, whole("--concurrency", typed.concurrency, kMax));
  ASSIGN_OR_RETURN(options.threads, whole("--threads", typed.threads, kMax));
  ASSIGN_OR_RETURN(options.events_per_write,
                   whole("--events-per-write", typed.events_per_write, kMax));
  options.tools = typed.tools == "never" ? ToolPolicy::never : ToolPolicy::asked;
  options.any_model = !typed.strict_model;
  if (!typed.answers.empty()) {
    auto answers = read_answers(typed.answers, options.seed);
    if (!answers) return answers.error().within("--answers");
    options.answers = *std::move(answers);
  }
  options.truth_log = typed.truth_log;
  for (const std::string& fault : typed.faults) {
    if (const auto added = options.faults.add(fault); !added)
      return added.error().within("--fault");
  }
  for (const std::string& name : typed.quirks) {
    ASSIGN_OR_RETURN(const Quirk quirk, parse_quirk(name));
    options.quirks.add(quirk);
  }
  if (typed.always_usage) options.quirks.add(Quirk::always_usage);
  return {};
}

// A modelled cluster replaces the timing flags.
Result<void> use_scenario(const TypedEndpoint& typed, bool timed, EndpointOptions& options,
                          const Talk& talk) {
  if (timed) return invalid("--scenario: takes the place of --ttft, --itl and --concurrency");
  if (options.threads != 1) {
    return invalid("--scenario: one thread drives a modelled system; leave out --threads");
  }
  ASSIGN_OR_RETURN(sim::Scenario scenario, sim::read_scenario_file(typed.scenario));
  if (typed.speedup) scenario.speedup = *typed.speedup;
  if (!(scenario.speedup > 0)) return invalid("--speedup: must be above 0");
  sim::Catalogue catalogue = sim::Catalogue::builtin();
  for (const std::string& path : typed.catalogue) TRY(catalogue.add(path));
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, scenario));
  if (!typed.quiet) talk.say(format("modelled: {}", sim::describe(spec)));
  if (options.model == EndpointOptions{}.model) options.model = scenario.model;
  if (scenario.prefix_cache) {
    options.prefix_block_tokens = sim::LiveCluster(spec, scenario).cluster().prefix_block_tokens();
  }
  options.make_engine = [spec, scenario](std::uint32_t, std::uint32_t) {
    return std::make_unique<sim::LiveCluster>(spec, scenario);
  };
  return {};
}

Json to_json(const EndpointSummary& sum) {
  Json faults = Json::object();
  for (const auto& [name, count] : sum.faults) faults.set(name, count);
  return Json::object()
      .set("requests", sum.requests)
      .set("served", sum.served)
      .set("gone", sum.gone)
      .set("rejected", sum.rejected)
      .set("faulted", sum.faulted)
      .set("faults", faults)
      .set("prompt_tokens", sum.prompt_tokens)
      .set("output_tokens", sum.output_tokens)
      .set("events", sum.events)
      .set("late_us_p50", sum.late_us_p50)
      .set("late_us_p99", sum.late_us_p99)
      .set("kept_up", !sum.late)
      .set("truth_blocks_dropped", sum.truth_blocks_dropped);
}

}  // namespace assay::endpoint
