#include "plan/flag_table.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "plan/settings.h"

namespace assay::plan {
namespace {

FlagRow row(std::string_view name, std::string_view value, std::string path, Take take,
            std::string_view help, std::vector<std::string_view> aliases = {}) {
  FlagRow out;
  out.info = {.name = name,
              .aliases = std::move(aliases),
              .value = value,
              .help = help,
              .repeatable = take == Take::list};
  out.path = std::move(path);
  out.take = take;
  return out;
}

FlagRow hide(FlagRow flag) {
  flag.info.hidden = true;
  return flag;
}

std::vector<FlagRow> target_rows() {
  return {
      row("--endpoint", "URL", "endpoint_config.endpoints", Take::list,
          "the endpoint; several are asked in turn", {"--endpoints"}),
      row("--model", "NAME", "model_params.name", Take::plain, "the model, as the server knows it"),
      row("--api-type", "API", "endpoint_config.api_type", Take::plain,
          "the kind of API: openai (chat), openai_responses, anthropic_messages, ollama_chat, … "
          "(openai)"),
      row("--kind", "FILE", "endpoint_config.kind", Take::own,
          "a kind of API that this file describes (docs/formats/kind.md), in place of --api-type"),
      row("--api-key-env", "NAME", "endpoint_config.api_key_env", Take::plain,
          "the environment variable that holds the key"),
      hide(row("--api-key", "KEY", "endpoint_config.api_key", Take::plain,
               "the key itself; other users of this machine can see it")),
      row("--header", "'K: V'", "endpoint_config.headers", Take::own, "a further header"),
      row("--insecure", "", "settings.client.insecure", Take::on_off,
          "do not verify certificates; recorded with the result"),
      row("--no-request-ids", "", "endpoint_config.request_ids", Take::off,
          "do not send each query's id as x-request-id"),
      row("--http", "VERSION", "settings.client.http", Take::plain, "auto, 1.1 or 2 (auto)"),
      row("--poll-interval", "TIME", "settings.client.poll_interval_s", Take::timed,
          "between two looks at a job (1s)"),
      row("--no-fetch", "", "settings.client.fetch_artefacts", Take::off,
          "end a job's query where it is completed, and do not fetch what it made"),
  };
}

std::vector<FlagRow> load_rows() {
  return {
      row("--concurrency", "N", "settings.load_pattern.target_concurrency", Take::own,
          "closed loop: keep N queries in flight", {"--target-concurrency"}),
      row("--rate", "R", "settings.load_pattern.target_qps", Take::own,
          "open loop: R queries a second, Poisson unless --load-pattern says otherwise",
          {"--target-qps"}),
      row("--load-pattern", "NAME", "settings.load_pattern.type", Take::plain,
          "max_throughput, concurrency, poisson, constant, gamma, ramp or trace"),
      row("--speedup", "X", "settings.load_pattern.speedup", Take::plain,
          "replay a trace so much faster (1)"),
      row("--burstiness", "K", "settings.load_pattern.burstiness", Take::own,
          "gamma's shape: 1 is Poisson, less is burstier"),
      row("--ramp", "OF:FROM-TO", "settings.load_pattern.ramp", Take::own,
          "linear steps: concurrency:1-64,steps=8,step=30s or rate:1-100"),
      row("--max-in-flight", "N", "settings.load_pattern.max_in_flight", Take::plain,
          "a cap on queries in flight, whatever the load"),
      row("--samples", "N", "settings.runtime.n_samples_to_issue", Take::own,
          "send exactly N queries", {"--num-samples"}),
      row("--passes", "N", "settings.runtime.passes", Take::own, "send the dataset N times, whole"),
      row("--duration", "TIME", "settings.runtime.duration_ms", Take::own,
          "issue queries for so long: 30s, 10m"),
      row("--min-duration", "TIME", "settings.runtime.min_duration_ms", Take::timed,
          "at least so long, in whole passes over the dataset"),
      row("--max-duration", "TIME", "settings.runtime.max_duration_ms", Take::timed,
          "issue no query after this"),
      row("--query-timeout", "TIME", "settings.runtime.query_timeout_s", Take::timed,
          "one query's limit"),
      row("--idle-timeout", "TIME", "settings.runtime.no_progress_timeout_s", Take::timed,
          "stop when nothing has come for so long"),
      row("--timeout", "TIME", "settings.timeouts.run_timeout_s", Take::own,
          "stop the whole run after this, as interrupted"),
      row("--warmup", "", "settings.warmup.enabled", Take::on_off,
          "send queries before the measured ones"),
      row("--warmup-requests", "N", "settings.warmup.n_requests", Take::own,
          "how many (the dataset once)"),
      row("--warmup-salt", "", "settings.warmup.salt", Take::on_off,
          "salt their prompts against prefix caches"),
      row("--warmup-drain", "", "settings.warmup.drain", Take::on_off,
          "wait for their replies before measuring"),
      hide(row("--warmup-seed", "N", "settings.warmup.warmup_random_seed", Take::plain,
               "seed of the warm-up")),
      row("--mode", "MODE", "mode", Take::plain, "perf, acc or both (what the datasets ask for)"),
      hide(row("--accuracy-only", "", "mode", Take::own, "as --mode acc")),
  };
}

std::vector<FlagRow> guard_rows() {
  return {
      row("--preflight", "", "settings.guard.preflight", Take::on_off,
          "a test query before the load, in no count (on; --no-preflight)"),
      row("--max-failures", "N|P%", "settings.guard.max_failures", Take::plain,
          "stop when more queries failed, or a larger share of them"),
      row("--max-tokens-total", "N", "settings.guard.max_tokens_total", Take::plain,
          "stop before prompts and replies come to more tokens"),
      row("--max-cost", "X", "settings.guard.max_cost", Take::plain,
          "stop before they cost more, by --price-in and --price-out"),
      row("--price-in", "X", "settings.guard.price_in", Take::plain,
          "of a million tokens of prompts"),
      row("--price-out", "X", "settings.guard.price_out", Take::plain,
          "of a million tokens of replies"),
      row("--memory-max", "SIZE|P%", "settings.client.memory_max", Take::plain,
          "what replies may hold in memory, all connections together (25%)"),
      row("--retry-after", "", "settings.guard.honour_retry_after", Take::on_off,
          "back off for as long as a reply's Retry-After says", {"--backoff"}),
      row("--on-disk-full", "stop|go-on", "settings.guard.on_disk_full", Take::plain,
          "when the run folder's disk takes no more (stop)"),
  };
}

std::vector<FlagRow> asked_rows() {
  return {
      row("--dataset", "SPEC", "datasets", Take::own,
          "[perf:|acc:]FILE[,key=value]…; without one, synthetic prompts are asked"),
      row("--task", "TASK", "datasets", Take::own,
          "ask a task's prompts and score the replies, after the measurement; a name (assay tasks) "
          "or a FILE.yaml"),
      row("--isl", "LENGTH", "datasets[].synthetic.isl", Take::own,
          "synthetic prompts' tokens: 512, uniform:100-200, normal:512,64, lognormal:512,0.5 "
          "(256)"),
      row("--osl", "LENGTH", "datasets[].synthetic.osl", Take::own,
          "output tokens, written as --isl (--max-output-tokens)"),
      row("--shared-prefix", "TREE", "datasets[].synthetic.shared_prefix", Take::own,
          "prefixes that synthetic prompts share: 1000x4,200x8 (tokens x branches)"),
      row("--salt", "", "settings.runtime.salt", Take::on_off,
          "64 random bits in each measured prompt, against prefix caches"),
      hide(row("--salt-seed", "N", "settings.runtime.salt_random_seed", Take::plain,
               "seed of the salts")),
      row("--class", "CLASS", "datasets[].synthetic.classes", Take::own,
          "a class of traffic, once for each: NAME,share=0.7,isl=200,osl=50 (or "
          "rate=20,law=gamma/0.5, or concurrency=8,think=2s) "
          "and model, priority, "
          "slo=ttft<=500ms&tpot<=20ms as far as they differ"),
      row("--prompts", "N", "datasets[].synthetic.count", Take::own,
          "how many different synthetic prompts"),
      row("--max-output-tokens", "N", "model_params.max_new_tokens", Take::plain,
          "output limit (1024)"),
      hide(row("--min-output-tokens", "N", "model_params.osl_distribution.min", Take::plain,
               "accepted; it has no effect")),
      row("--streaming", "MODE", "model_params.streaming", Take::plain, "auto, on or off (auto)"),
      row("--temperature", "T", "model_params.temperature", Take::plain, "sampling temperature"),
      row("--top-p", "P", "model_params.top_p", Take::plain, "nucleus sampling"),
      row("--top-k", "K", "model_params.top_k", Take::plain, "top-k sampling"),
      row("--ignore-eos", "", "model_params.ignore_eos", Take::on_off,
          "generate to the limit, whatever the model says"),
      row("--extra-body", "JSON", "model_params.extra_body", Take::json,
          "merged into each request's body"),
      row("--no-include-usage", "", "model_params.include_usage", Take::off,
          "do not ask for token counts at a stream's end"),
      row("--tokenizer", "DIR", "model_params.tokenizer_name", Take::plain,
          "the tokenizer that counts tokens"),
      row("--seed", "N", "model_params.seed", Take::plain, "the server's sampling seed"),
      row("--run-seed", "N", "settings.runtime.scheduler_random_seed", Take::own,
          "seed of arrivals, sample order, warm-up and synthetic prompts (42)"),
  };
}

std::vector<FlagRow> result_rows() {
  return {
      row("--name", "NAME", "name", Take::plain, "what the run is called"),
      row("--report-dir", "DIR", "report_dir", Take::plain, "the folder for results"),
      row("--keep-text", "MODE", "settings.recording.keep_text", Take::plain,
          "the replies' text in the event log: auto, on or off (auto)"),
      row("--keep-artefacts", "", "settings.recording.keep_artefacts", Take::on_off,
          "keep the pictures, videos and sounds of replies in the run folder, for scorers"),
      row("--events-jsonl", "", "settings.recording.events_jsonl", Take::on_off,
          "write the reference client's events.jsonl too"),
      hide(row("--early-stopping", "", "settings.early_stopping.enabled", Take::on_off,
               "report the early-stopping estimates")),
      hide(row("--use-legacy-loadgen-qps-metrics", "",
               "settings.load_pattern.use_legacy_loadgen_qps_metrics", Take::on_off,
               "the older LoadGen's rate")),
      hide(row("--enable-cpu-affinity", "", "enable_cpu_affinity", Take::on_off, "pin threads")),
      hide(row("--workers", "N", "settings.client.num_workers", Take::plain, "accepted",
               {"--num-workers"})),
      hide(row("--max-connections", "N", "settings.client.max_connections", Take::plain,
               "at most so many connections")),
      hide(row("--max-concurrent-warmup-connects", "N",
               "settings.client.max_concurrent_warmup_connects", Take::plain, "accepted")),
      hide(row("--connect-timeout", "TIME", "settings.client.connect_timeout_s", Take::timed,
               "give up on a connection")),
      hide(row("--warmup-drain-timeout", "TIME", "settings.drain.warmup_timeout_s", Take::own,
               "wait for the warm-up's replies")),
      hide(row("--performance-drain-timeout", "TIME", "settings.drain.performance_timeout_s",
               Take::own, "wait for the last replies")),
      hide(row("--accuracy-drain-timeout", "TIME", "settings.drain.accuracy_timeout_s", Take::own,
               "wait for accuracy replies")),
      hide(row("--metrics-drain-timeout", "S", "settings.drain.metrics_drain_timeout_s",
               Take::plain, "accepted")),
      hide(row("--metrics-tokenizer-workers", "N", "settings.drain.metrics_tokenizer_workers",
               Take::plain, "accepted")),
      row("--profile", "ENGINE", "settings.profiling.engine", Take::plain,
          "start and stop the server's profiler: vllm"),
      hide(row("--profile-urls", "URL", "settings.profiling.urls", Take::list, "where it listens")),
      row("--metrics", "URL", "settings.telemetry.metrics", Take::list,
          "read this page of metrics beside the load: the server's /metrics, a DCGM exporter's"),
      row("--meter", "KIND", "settings.telemetry.meters", Take::list,
          "read this machine's own meters: nvml (NVIDIA's cards), rapl (CPUs), host; a "
          "power analyzer: ptd:HOST:PORT"),
      row("--meter-command", "COMMAND", "settings.telemetry.command", Take::plain,
          "any other meter: prints {\"ts\": S, \"value\": WATTS} a line"),
      row("--metrics-interval", "TIME", "settings.telemetry.interval_s", Take::timed,
          "between two readings (1s)"),
      row("--prefix-reuse", "TOKENS", "settings.prefix_reuse.block_tokens", Take::plain,
          "account for prefix caching in the server's blocks (16: vLLM): what the prompts "
          "offered, what was delivered"),
      row("--chaos", "FILE", "settings.chaos", Take::own,
          "acts on the server at instants of the run (commands, calls, signals, pauses), and what "
          "each one broke"),
      hide(row("--service-ready-timeout", "S", "settings.service_ready_timeout_s", Take::plain,
               "accepted")),
  };
}

// Writes --runtime.min-duration-ms for settings.runtime.min_duration_ms.
std::string dotted_name(std::string_view path) {
  constexpr std::string_view kPrefix = "settings.";
  if (path.starts_with(kPrefix)) path.remove_prefix(kPrefix.size());
  std::string name = "--" + std::string(path);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// The names of hidden rows are made here and live as long as the table.
void add_dotted(const Part& part, const std::string& path, std::vector<std::string>& names,
                std::vector<FlagRow>& rows) {
  for (const Setting& setting : part) {
    if (setting.list) continue;
    const std::string here = path.empty() ? setting.name : format("{}.{}", path, setting.name);
    if (setting.part != nullptr) {
      add_dotted(*setting.part, here, names, rows);
      continue;
    }
    if (here.find('.') == std::string::npos) continue;  // top level: only by the names above
    const std::string name = dotted_name(here);
    const bool taken = std::any_of(rows.begin(), rows.end(),
                                   [&](const FlagRow& other) { return other.info.name == name; });
    if (taken) continue;
    names.push_back(name);
    const Take take = setting.type == "map" ? Take::json : Take::plain;
    rows.push_back(hide(row({}, "VALUE", here, take, setting.help)));
  }
}

struct Table {
  std::vector<std::string> names{};
  std::vector<FlagRow> rows{};
};

const Table& table() {
  static const Table made = [] {
    Table out;
    const auto add = [&](std::string_view group, std::vector<FlagRow> rows) {
      for (FlagRow& flag : rows) {
        flag.info.group = group;
        out.rows.push_back(std::move(flag));
      }
    };
    add("Endpoint", target_rows());
    add("Load", load_rows());
    add("Guard", guard_rows());
    add("What is asked", asked_rows());
    add("Results", result_rows());
    const std::size_t first_dotted = out.rows.size();
    add_dotted(config_part(), "", out.names, out.rows);
    for (std::size_t i = 0; i < out.names.size(); ++i) {
      out.rows[first_dotted + i].info.name = out.names[i];
    }
    return out;
  }();
  return made;
}

}  // namespace

const std::vector<FlagRow>& flag_rows() { return table().rows; }

const FlagRow* find_flag(std::string_view name) {
  for (const FlagRow& flag : table().rows) {
    const auto& aliases = flag.info.aliases;
    const bool alias = std::find(aliases.begin(), aliases.end(), name) != aliases.end();
    if (flag.info.name == name || alias) return &flag;
  }
  return nullptr;
}

}  // namespace assay::plan
