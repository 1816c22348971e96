// The rows of `settings`: settings of a run.
#include "plan/config.h"
#include "plan/settings.h"
#include "plan/words.h"

namespace assay::plan {
namespace {

const Part& runtime_part() {
  static const Part part = [] {
    using R = Runtime;
    PartOf<R> rows;
    rows.add("min_duration_ms", &R::min_duration,
             "A floor: issue whole passes over the dataset until this has passed. For poisson the "
             "schedule is the reference client's (1.1 times as many queries as fit, in whole "
             "passes). 0: the dataset once. Where a file says nothing of how long a run lasts, it "
             "is 600000, as there.")
        .unit_ms()
        .at_least(0);
    rows.add("max_duration_ms", &R::max_duration,
             "Issue no query of the performance phase after this. 0: no limit.")
        .unit_ms()
        .zero_is_none()
        .null_is_none()
        .at_least(0);
    rows.add("n_samples_to_issue", &R::n_samples_to_issue,
             "Send exactly so many queries. Goes before every other rule for a run's length.")
        .at_least(1)
        .at_most(4'000'000'000.0);
    rows.add("scheduler_random_seed", &R::scheduler_random_seed,
             "Seed of the arrival gaps; 64 bits, unsigned.");
    rows.add("dataloader_random_seed", &R::dataloader_random_seed,
             "Seed of the order in which rows are asked; 64 bits, unsigned.");
    rows.add("no_progress_timeout_s", &R::no_progress_timeout,
             "Stop the run when queries are in flight and nothing has come for so long. Empty: "
             "never.")
        .above(0)
        .null_is_none()
        .newer();
    rows.add("enable_live_metrics", &R::enable_live_metrics, "Accepted; see --quiet.")
        .newer()
        .nothing();
    rows.add("passes", &R::passes, "Send the dataset so many times, whole.").at_least(1).ours();
    rows.add("duration_ms", &R::duration,
             "Issue queries for this long, not in whole passes; what is in flight then is waited "
             "for.")
        .unit_ms()
        .above(0)
        .ours();
    rows.add(
            "salt", &R::salt,
            "Put 64 random bits between the system prompt and what the user asks, in each query of "
            "the measurement, so that no prefix cache knows it; token ids get eight marker tokens. "
            "Accuracy is asked without.")
        .ours();
    rows.add("salt_random_seed", &R::salt_random_seed, "Seed of the salts; 64 bits, unsigned.")
        .ours();
    rows.add("query_timeout_s", &R::query_timeout,
             "One query's limit, from its last byte sent to its reply's end; a query over it has "
             "failed as timed_out. Empty: none.")
        .above(0)
        .null_is_none()
        .ours();
    return rows.take();
  }();
  return part;
}

const Part& ramp_part() {
  static const Part part = [] {
    PartOf<Ramp> rows;
    rows.add("of", &Ramp::of, "What rises: rate (queries a second) or concurrency.");
    rows.add("from", &Ramp::from, "The first step's level.").at_least(0);
    rows.add("to", &Ramp::to, "The last step's level. Required.").above(0);
    rows.add("steps", &Ramp::steps, "How many steps, both ends included.")
        .at_least(1)
        .at_most(100'000);
    rows.add("step_s", &Ramp::step_duration, "How long each step lasts.").above(0);
    return rows.take();
  }();
  return part;
}

const Part& load_pattern_part() {
  static const Part part = [] {
    using L = LoadPattern;
    PartOf<L> rows;
    rows.add("type", &L::type,
             "max_throughput: all queries at once. poisson: open loop, exponential gaps. "
             "concurrency: closed loop, a fixed number in flight. constant: open loop, equal gaps. "
             "gamma: open loop, gaps as bursty as `burstiness` says. ramp: linear steps of rate or "
             "concurrency. trace: open loop, at the dataset's own timestamps. agentic_inference: "
             "conversations. burst and step are names only.");
    rows.add("target_qps", &L::target_qps, "Queries a second: poisson, constant, gamma.")
        .above(0)
        .at_most(1e9);
    rows.add("target_concurrency", &L::target_concurrency,
             "Queries in flight: concurrency, agentic_inference.")
        .at_least(1);
    rows.add("use_legacy_loadgen_qps_metrics", &L::use_legacy_loadgen_qps_metrics,
             "Report the older LoadGen's rate for poisson runs: all but the first completed query "
             "over the time in which they were issued.");
    rows.add("burstiness", &L::burstiness,
             "gamma's shape k: the gaps' variance is 1/k of Poisson's. 1 is Poisson, 0.25 twice as "
             "bursty by deviation, 100 nearly even.")
        .at_least(0.001)
        .at_most(1e6)
        .ours();
    rows.add("max_in_flight", &L::max_in_flight,
             "Never more queries in flight, whatever the pattern; a query that is due waits, and "
             "its latency from due shows it. Empty: no cap.")
        .at_least(1)
        .ours();
    rows.add_part("ramp", &L::ramp, ramp_part(), "The steps of a ramp.").ours();
    rows.add("speedup", &L::speedup,
             "trace: how much faster than it was recorded; 0.5 is half as fast.")
        .above(0)
        .at_most(1e6)
        .ours();
    return rows.take();
  }();
  return part;
}

const Part& transport_part() {
  static const Part part = [] {
    using T = Transport;
    const char* help = "Accepted; there are no worker processes to talk to.";
    PartOf<T> rows;
    rows.add("type", &T::type, help);
    rows.add("recv_buffer_size", &T::recv_buffer_size, help);
    rows.add("send_buffer_size", &T::send_buffer_size, help);
    rows.add("io_threads", &T::io_threads, help);
    rows.add("worker_io_threads", &T::worker_io_threads, help);
    rows.add("high_water_mark", &T::high_water_mark, help);
    rows.add("linger", &T::linger, help);
    rows.add("immediate", &T::immediate, help);
    return rows.take();
  }();
  return part;
}

// Settings of the client that Assay adds to the reference's.
void add_own(PartOf<Client>& rows) {
  using C = Client;
  rows.add("http", &C::http, "The HTTP version: auto, 1.1 or 2.").ours();
  rows.add("connect_timeout_s", &C::connect_timeout, "Give up on a connection after this.")
      .above(0)
      .ours();
  rows.add("poll_interval_s", &C::poll_interval,
           "Of a kind whose queries are jobs (openai_videos): the time from an answer to the next "
           "look at the job. A latency is uncertain by it, and says so.")
      .above(0)
      .ours();
  rows.add("fetch_artefacts", &C::fetch_artefacts,
           "Of a kind whose queries are jobs: fetch what a completed job made, so that its last "
           "byte ends the query. false: the query ends where the job is seen completed.")
      .ours();
  rows.add("memory_max", &C::memory_max,
           "What replies may hold in memory, all connections together: a size such as 512M, or a "
           "share such as 10% of what this process may use (the machine's, or its control "
           "group's). Empty: 25%. A reply that would go over it fails as over_memory, and its "
           "connection is closed.")
      .ours();
}

const Part& client_part() {
  static const Part part = [] {
    using C = Client;
    PartOf<C> rows;
    rows.add("num_workers", &C::num_workers,
             "Accepted and checked (-1, or a multiple of the number of endpoints); there are no "
             "worker processes here.")
        .at_least(-1)
        .nothing();
    rows.add("log_level", &C::log_level, "Accepted.").nothing();
    rows.add("warmup_connections", &C::warmup_connections, "Accepted; connections open on demand.")
        .at_least(-1)
        .nothing();
    rows.add("auto_warmup_budget_fraction", &C::auto_warmup_budget_fraction, "Accepted.")
        .above(0)
        .at_most(1)
        .nothing();
    rows.add("max_concurrent_warmup_connects", &C::max_concurrent_warmup_connects, "Accepted.")
        .at_least(1)
        .nothing();
    rows.add("max_connections", &C::max_connections,
             "At most so many connections; -1: as many as ports and descriptors allow. A query "
             "that finds none free waits, and its latency shows it.")
        .at_least(-1);
    rows.add_part("transport", &C::transport, transport_part(), "Accepted.").nothing();
    rows.add("stream_all_chunks", &C::stream_all_chunks,
             "Accepted; every stream event is always recorded here.")
        .nothing();
    rows.add("worker_initialization_timeout", &C::worker_initialization_timeout, "Accepted.")
        .nothing();
    rows.add("worker_graceful_shutdown_wait", &C::worker_graceful_shutdown_wait, "Accepted.")
        .nothing();
    rows.add("worker_force_kill_timeout", &C::worker_force_kill_timeout, "Accepted.").nothing();
    rows.add("insecure", &C::insecure, "Do not verify certificates. Recorded with the result.");
    rows.add("max_idle_time", &C::max_idle_time,
             "A connection idle for longer is closed rather than used again, so that a query never "
             "meets a connection that the server is just closing.")
        .at_least(0);
    rows.add("min_required_connections", &C::min_required_connections, "Accepted.")
        .at_least(-1)
        .nothing();
    rows.add("worker_gc_mode", &C::worker_gc_mode, "Accepted.").nothing();
    rows.add("transport_max_retries", &C::transport_max_retries,
             "Accepted; here only what a server left unprocessed is sent again, because any other "
             "retry would hide a failure.")
        .at_least(0)
        .at_most(5)
        .newer()
        .nothing();
    add_own(rows);
    return rows.take();
  }();
  return part;
}

const Part& drain_part() {
  static const Part part = [] {
    using D = Drain;
    PartOf<D> rows;
    rows.add("warmup_timeout_s", &D::warmup_timeout,
             "How long to wait for the warm-up's last replies, where warmup.drain is on. Empty: "
             "for ever.")
        .above(0)
        .null_is_none();
    rows.add("performance_timeout_s", &D::performance_timeout,
             "How long to wait for what is in flight when the last query is issued; what is left "
             "then is cancelled and counted as such. Empty: for ever.")
        .above(0)
        .null_is_none();
    rows.add("accuracy_timeout_s", &D::accuracy_timeout, "The same for accuracy phases.")
        .above(0)
        .null_is_none();
    rows.add("metrics_drain_timeout_s", &D::metrics_drain_timeout_s,
             "Accepted; figures are complete when the run ends.")
        .at_least(0)
        .nothing();
    rows.add("metrics_tokenizer_workers", &D::metrics_tokenizer_workers, "Accepted.")
        .at_least(0)
        .nothing();
    return rows.take();
  }();
  return part;
}

const Part& timeouts_part() {
  static const Part part = [] {
    using T = Timeouts;
    PartOf<T> rows;
    rows.add("run_timeout_s", &T::run_timeout,
             "Stop the whole run after this; the result says interrupted. Empty: never.")
        .above(0)
        .null_is_none();
    rows.add("interrupted_teardown_grace_s", &T::interrupted_teardown_grace, "Accepted.")
        .at_least(0)
        .null_is_none()
        .nothing();
    rows.add("service_ready_timeout_s", &T::service_ready_timeout, "Accepted.")
        .at_least(0)
        .null_is_none()
        .nothing();
    rows.add("warmup_drain_timeout_s", &T::warmup_drain_timeout,
             "As drain.warmup_timeout_s; 0: do not wait.")
        .at_least(0)
        .null_is_none();
    rows.add("performance_drain_timeout_s", &T::performance_drain_timeout,
             "As drain.performance_timeout_s; 0: do not wait.")
        .at_least(0)
        .null_is_none();
    rows.add("accuracy_drain_timeout_s", &T::accuracy_drain_timeout,
             "As drain.accuracy_timeout_s; 0: do not wait.")
        .at_least(0)
        .null_is_none();
    rows.add("metrics_drain_timeout_s", &T::metrics_drain_timeout, "Accepted.")
        .at_least(0)
        .null_is_none()
        .nothing();
    return rows.take();
  }();
  return part;
}

const Part& warmup_part() {
  static const Part part = [] {
    using W = Warmup;
    PartOf<W> rows;
    rows.add("enabled", &W::enabled,
             "Send queries before the measured ones, in the same pattern; they are logged and "
             "never measured.");
    rows.add("n_requests", &W::n_requests, "How many; empty: the dataset once.")
        .at_least(1)
        .at_most(4'000'000'000.0);
    rows.add("salt", &W::salt,
             "Begin each prompt with 16 random hex digits, so that the warm-up does not fill the "
             "prefix cache with the prompts that are measured. Text prompts only.");
    rows.add("drain", &W::drain,
             "Wait for the warm-up's replies before measuring; otherwise they overlap.");
    rows.add("warmup_random_seed", &W::warmup_random_seed,
             "s: gaps from s, order from s + 1, salts from s + 2.");
    return rows.take();
  }();
  return part;
}

const Part& profiling_part() {
  static const Part part = [] {
    PartOf<Profiling> rows;
    rows.add("engine", &Profiling::engine,
             "Empty, or vllm: POST to its /start_profile when the measured phase begins, and to "
             "its /stop_profile after the run. profiling.json has the calls.");
    rows.add("urls", &Profiling::urls, "Where the profiler listens; empty: the endpoints.");
    return rows.take();
  }();
  return part;
}

const Part& telemetry_part() {
  static const Part part = [] {
    PartOf<TelemetryConfig> rows;
    rows.add("metrics", &TelemetryConfig::metrics,
             "Pages in Prometheus' text format that are read beside the load: the server's "
             "/metrics, a DCGM exporter's. A URL without a path means /metrics.");
    rows.add("meters", &TelemetryConfig::meters,
             "This machine's own: nvml (NVIDIA's cards), rapl (energy of the CPUs), host (CPU "
             "time, TCP). nvml:LIBRARY, rapl:FOLDER and host:FOLDER name another place. "
             "ptd:HOST:PORT is a power analyzer behind PTDaemon, with ranges Auto; "
             "ptd:HOST:PORT/VOLTS/AMPS with these. nvml:0,2 reads two cards alone. query:URL is a "
             "query of a Prometheus server, watts a series: "
             "query:http://HOST:9090/api/v1/query?query=QUERY.");
    rows.add("command", &TelemetryConfig::command,
             "Any other meter: a shell command that prints one JSON object a line, {\"ts\": "
             "seconds since 1970, \"value\": watts, \"label\": text}; with \"kind\": \"energy\" "
             "joules of a counter.");
    rows.add("interval_s", &TelemetryConfig::interval, "Between two readings of a source.");
    rows.add("after_s", &TelemetryConfig::after,
             "Go on reading this long after the load, for a source that lags behind it.");
    return rows.take();
  }();
  return part;
}

const Part& power_part() {
  static const Part part = [] {
    PartOf<PowerConfig> rows;
    rows.add("source", &PowerConfig::source,
             "nvidia_smi (the cards; options.gpu_indices), prometheus (options.url and "
             "options.query, watts a series) or command (options.argv). Empty: none.");
    rows.add("interval_s", &PowerConfig::interval, "Between two readings.");
    rows.add("options", &PowerConfig::options, "Of the source.");
    rows.add("value_kind", &PowerConfig::value_kind, "Empty, or power: readings in watts.");
    rows.add("env", &PowerConfig::env, "Variables of the command's environment.").secret();
    return rows.take();
  }();
  return part;
}

const Part& prefix_reuse_part() {
  static const Part part = [] {
    PartOf<PrefixReuseConfig> rows;
    rows.add("block_tokens", &PrefixReuseConfig::block,
             "The block of the server's prefix cache: 16 for vLLM, 32 for TensorRT-LLM, 1 for "
             "SGLang. After the run the report says what reuse the sent prompts offered, what the "
             "choice of endpoint kept together and what the server delivered. 0: no account.")
        .at_least(0)
        .at_most(65536);
    return rows.take();
  }();
  return part;
}

const Part& early_stopping_part() {
  static const Part part = [] {
    PartOf<EarlyStopping> rows;
    rows.add("enabled", &EarlyStopping::enabled,
             "Report the percentiles' early-stopping estimates.");
    return rows.take();
  }();
  return part;
}

const Part& recording_part() {
  static const Part part = [] {
    PartOf<Recording> rows;
    rows.add("keep_text", &Recording::keep_text,
             "Keep the replies' text in the event log. auto: where a tokenizer or a scorer is "
             "going to want it.");
    rows.add("events_jsonl", &Recording::events_jsonl,
             "Write the reference client's events.jsonl too.");
    rows.add("keep_artefacts", &Recording::keep_artefacts,
             "Keep the pictures, videos and sounds of counted replies as files in the run folder, "
             "by their SHA-256, and hand them to scorers. Of kinds that answer with them.");
    return rows.take();
  }();
  return part;
}

const Part& guard_part() {
  static const Part part = [] {
    using G = Guarding;
    PartOf<G> rows;
    rows.add("preflight", &G::preflight,
             "Send one test query before the load, in no count. A refusal (key, model, path, a "
             "field) ends the run before it begins, with what to change. A field that Assay sends "
             "unasked and that is refused, such as ignore_eos, is left out of every request.");
    rows.add("stop_when_refused", &G::stop_when_refused,
             "Stop when 20 queries in a row got the same fatal answer (no connection, no TLS, HTTP "
             "400 to 405, 410, 415, 422, 501 or a redirection): at once where none has succeeded, "
             "else after 5 s of it.");
    rows.add("max_failures", &G::max_failures,
             "Stop when more queries than this failed: a number, or a share such as 5% of the "
             "queries that ended, which is judged from 20 queries on (from 100 for 1%). Empty: no "
             "limit.");
    rows.add("max_tokens_total", &G::max_tokens_total,
             "Stop before the prompts and replies come to more tokens than this, as the endpoint "
             "counts them; a reply without a count counts its fragments. What is in flight is "
             "taken to need what the replies so far needed on average.")
        .at_least(1);
    rows.add("max_cost", &G::max_cost,
             "The same in money, at the two prices. At least one of them must be given.")
        .above(0);
    rows.add("price_in", &G::price_in,
             "What a million tokens of prompts cost; where only the other price is given, nothing.")
        .at_least(0);
    rows.add("price_out", &G::price_out,
             "What a million tokens of replies cost; where only the other price is given, nothing.")
        .at_least(0);
    rows.add("honour_retry_after", &G::honour_retry_after,
             "After a reply with a Retry-After (429, 503), send nothing until then. The time is "
             "reported apart, and no query waits in it as late.");
    rows.add(
        "on_disk_full", &G::on_disk_full,
        "What the load does when the run folder's disk takes no more: stop, or go-on without a "
        "record of the rest. Either way what was recorded is reported, with the cause.");
    return rows.take();
  }();
  return part;
}

}  // namespace

const Part& settings_part() {
  static const Part part = [] {
    using S = Settings;
    PartOf<S> rows;
    rows.add_part("runtime", &S::runtime, runtime_part(), "Which queries, and for how long.");
    rows.add_part("load_pattern", &S::load_pattern, load_pattern_part(), "When they are sent.");
    rows.add_part("client", &S::client, client_part(), "Connections.");
    rows.add_part("drain", &S::drain, drain_part(), "How long to wait at a phase's end.");
    rows.add_part("timeouts", &S::timeouts, timeouts_part(),
                  "The newer spelling of drain; where it is given, it alone counts.");
    rows.add_part("warmup", &S::warmup, warmup_part(), "Queries before the measured ones.");
    rows.add_part("profiling", &S::profiling, profiling_part(), "The server's profiler.");
    rows.add_part("power", &S::power, power_part(),
                  "A source of power readings beside the load, for power.json; settings.telemetry "
                  "has more.")
        .newer();
    rows.add_part("early_stopping", &S::early_stopping, early_stopping_part(),
                  "Estimates by the older benchmark's statistics.");
    rows.add("service_ready_timeout_s", &S::service_ready_timeout_s, "Accepted.")
        .at_least(0)
        .nothing();
    rows.add("metrics_tokenizer_workers", &S::metrics_tokenizer_workers, "Accepted.")
        .at_least(0)
        .newer()
        .nothing();
    rows.add_part("recording", &S::recording, recording_part(), "What is kept.").ours();
    rows.add_part("telemetry", &S::telemetry, telemetry_part(), "What is read beside the load.")
        .ours();
    rows.add_part("prefix_reuse", &S::prefix_reuse, prefix_reuse_part(),
                  "An account of the prefix cache.")
        .ours();
    rows.add("chaos", &S::chaos,
             "Acts at stated instants of the measured phase, as {file: PATH}, or {acts: [...]} as "
             "in the file: a command, an HTTP call, a signal, a pause of a process. The "
             "report then says for each what failed, what slowed and when it was whole again.")
        .ours();
    rows.add_part("guard", &S::guard, guard_part(), "What keeps a load from doing harm.").ours();
    return rows.take();
  }();
  return part;
}

}  // namespace assay::plan
