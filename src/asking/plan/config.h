// Config: a user's settings, complete and checked, nested as in the YAML. plan/ makes a Plan of it;
// no later code checks it again.
//
// The keys are the reference client's, so its files work unchanged; Assay's own keys stand beside
// them and are marked "Assay". Every key, with its rules and a paragraph for users, is one row of
// the tables in settings*.cc. The reader, the checks, "did you mean", the help, the saved config
// and docs/guide/config.md come from these tables. A field is an optional if "not given" differs
// from every value. Durations have the unit of the key's name only in the file; here they are
// Durations, and Duration::max() means "no limit".
//
// Plain data; any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "dataset/length.h"
#include "domain/request_spec.h"

namespace assay::plan {

enum class RunType : std::uint8_t { offline, online, eval, submission };
enum class BenchmarkMode : std::uint8_t { offline, online };
enum class DatasetType : std::uint8_t { performance, accuracy };
// Which datasets to run: performance, accuracy, or both.
enum class Mode : std::uint8_t { perf, acc, both };
// `automatic` is spelled "auto"; a checked config has only on and off.
enum class Switch : std::uint8_t { automatic, on, off };

enum class Pattern : std::uint8_t {
  max_throughput,     // all queries at once
  poisson,            // open loop, exponential gaps
  concurrency,        // closed loop: a fixed number in flight
  agentic_inference,  // conversations, turn by turn
  burst,              // known by name only, as in the reference client
  step,               // known by name only, as in the reference client
  constant,           // Assay: open loop, equal gaps
  gamma,              // Assay: open loop, gamma gaps of a chosen burstiness
  ramp,               // Assay: linear steps of rate or of concurrency
  trace,              // Assay: open loop, at the dataset's own timestamps
};
enum class RampOf : std::uint8_t { rate, concurrency };

struct SubmissionRef {
  std::string model{};
  std::string ruleset{};  // pins the seeds; see rulesets.h
};

struct OslDistribution {  // accepted; neither client uses it
  std::string type = "original";
  std::optional<double> mean{};
  std::optional<double> std{};
  std::int64_t min = 1;
  std::int64_t max = 2048;
};

// How replies are generated. Empty fields are not sent.
struct ModelParams {
  std::string name{};  // body "model"; also the tokenizer's name, if none is given
  std::optional<double> temperature{};
  std::optional<std::int64_t> seed{};  // the server's sampling seed, not ours
  std::optional<std::int64_t> top_k{};
  std::optional<double> top_p{};
  std::optional<double> repetition_penalty{};
  std::optional<double> presence_penalty{};
  std::optional<double> frequency_penalty{};
  Json chat_template_kwargs{};         // an object, or null
  std::int64_t max_new_tokens = 1024;  // a row's own limit replaces it
  std::int64_t min_new_tokens = 1;     // openai_completions only
  bool skip_special_tokens = true;     // openai_completions only
  std::optional<OslDistribution> osl_distribution{};
  Switch streaming = Switch::automatic;
  std::string tokenizer_name{};      // a Hugging Face id or a folder
  std::optional<bool> ignore_eos{};  // Assay: generate to the limit; ignore end tokens
  Json extra_body{};                 // Assay: merged into each body last; an object, or null
  bool include_usage = true;         // Assay: ask for token counts at a stream's end
};

struct AccuracyConfig {
  std::string eval_method{};   // the scorer
  std::string ground_truth{};  // the column; empty: the scorer's own
  std::string extractor{};
  std::uint32_t num_repeats = 1;
  Json extras{};  // an object, or null
};

struct AgenticConfig {
  Duration turn_timeout{86'400'000'000'000};
  bool enable_salt = false;
  bool inject_tool_delay = false;
  Duration idle_cap = Duration::max();  // Assay: longest delay that is waited
  std::vector<std::string> routing_headers{"X-Session-ID"};
  std::optional<std::uint64_t> num_trajectories_to_issue{};
  bool stop_issuing_on_first_user_complete = false;
};

// Assay: prompts made from a seed instead of a file.
struct SyntheticConfig {
  std::optional<dataset::LengthSpec> isl{};  // nullopt: 256
  std::optional<dataset::LengthSpec> osl{};  // nullopt: model_params.max_new_tokens
  std::optional<std::uint32_t> count{};      // distinct prompts; nullopt: 1000, or what is asked
  std::uint64_t seed = 42;
  // on: token ids; off: text; automatic: ids for the APIs that take them.
  Switch token_ids = Switch::automatic;
  std::string shared_prefix{};  // "1000x4,200x8": a tree of shared prefixes
  std::string tokenizer{};      // a path: text prompts have exact lengths by it
  // Traffic classes, each as dataset/mix.h reads it; empty: one kind of prompt.
  std::vector<std::string> classes{};
};

enum class Turns : std::uint8_t { first, all };

struct DatasetConfig {
  std::string name{};  // empty: the file's stem
  DatasetType type = DatasetType::performance;
  std::string path{};
  std::string format{};
  std::optional<std::uint64_t> samples{};  // accepted; neither client uses it: see rows_max
  std::string eval_method{};               // accepted; neither client uses it
  std::vector<std::pair<std::string, std::string>> parser{};  // our column, the file's column
  Json generate_params{};                                     // an object, or null
  std::optional<AccuracyConfig> accuracy_config{};
  std::optional<AgenticConfig> agentic_inference{};
  Json generation_config_override{};  // some keys of model_params for this dataset, or null
  std::uint64_t rows_max = 0;         // Assay: only the first rows; 0: all
  std::string prompt_format{};        // Assay: "{question}\nAnswer:"; empty: the column prompt
  Turns turns = Turns::first;         // Assay: which turns of a conversation
  std::optional<SyntheticConfig> synthetic{};  // Assay
  // Not a key of a file: the task that makes the prompts (task_dataset.h), or null. It is the one
  // of accuracy_config, unless the replies are judged again by another.
  Json asking_task{};
};

// Which queries, and for how long. The first one given decides: n_samples_to_issue, passes,
// duration, min_duration, else the dataset once (docs/decisions: how long a run lasts).
struct Runtime {
  std::optional<Duration> min_duration{};   // a minimum, in whole passes over the dataset
  Duration max_duration = Duration::max();  // of issuing, performance phase only; 0 in the file
  std::optional<std::uint64_t> n_samples_to_issue{};  // exact
  std::uint64_t scheduler_random_seed = 42;           // arrival gaps
  std::uint64_t dataloader_random_seed = 42;          // sample order
  Duration no_progress_timeout = Duration::max();     // stop after this time without replies
  bool enable_live_metrics = true;                    // accepted
  std::optional<std::uint64_t> passes{};     // Assay: whole passes over the dataset, exactly
  std::optional<Duration> duration{};        // Assay: time to issue, not in whole passes
  Duration query_timeout = Duration::max();  // Assay: one query, from sent to done
  bool salt = false;                         // Assay: add a salt to each measured prompt
  std::uint64_t salt_random_seed = 42;       // Assay
};

struct Ramp {
  RampOf of = RampOf::concurrency;
  double from = 1;
  double to = 0;  // REQUIRED
  std::uint32_t steps = 10;
  Duration step_duration{30'000'000'000};
};

struct LoadPattern {
  Pattern type = Pattern::max_throughput;
  std::optional<double> target_qps{};                 // poisson, constant, gamma
  std::optional<std::uint32_t> target_concurrency{};  // concurrency, agentic_inference
  bool use_legacy_loadgen_qps_metrics = true;
  double burstiness = 1.0;  // Assay: gamma's shape k; 1: Poisson, below 1: more bursts
  std::optional<std::uint32_t> max_in_flight{};  // Assay: a limit for every pattern
  std::optional<Ramp> ramp{};                    // Assay
  double speedup = 1.0;                          // Assay: speed of trace's clock
};

struct Transport {  // accepted; Assay has no such transports
  std::string type = "zmq";
  std::int64_t recv_buffer_size = 16'777'216;
  std::int64_t send_buffer_size = 16'777'216;
  std::int64_t io_threads = 4;
  std::int64_t worker_io_threads = 1;
  std::int64_t high_water_mark = 0;
  std::int64_t linger = -1;
  std::int64_t immediate = 1;
};

struct Client {
  std::int64_t num_workers = -1;  // accepted: our client has no worker processes
  std::string log_level = "INFO";
  std::int64_t warmup_connections = -1;
  double auto_warmup_budget_fraction = 0.25;
  std::int64_t max_concurrent_warmup_connects = 128;
  std::int64_t max_connections = -1;  // −1: as many as ports and descriptors allow
  Transport transport{};
  bool stream_all_chunks = false;
  double worker_initialization_timeout = 60.0;
  double worker_graceful_shutdown_wait = 0.5;
  double worker_force_kill_timeout = 0.5;
  bool insecure = false;
  Duration max_idle_time{4'000'000'000};  // an idle connection older than this is not reused
  std::int64_t min_required_connections = -1;
  std::string worker_gc_mode = "relaxed";
  std::int64_t transport_max_retries = 0;     // accepted: a retry would hide a failure
  HttpVersion http = HttpVersion::automatic;  // Assay
  Duration connect_timeout{10'000'000'000};   // Assay
  Duration poll_interval{1'000'000'000};      // Assay: between two looks at a job
  bool fetch_artefacts = true;                // Assay: of jobs
  std::string memory_max{};                   // Assay: "512M", "25%"; empty: a quarter
};

// How long to wait for queries in flight after a phase's last query was issued. max(): no limit.
struct Drain {
  Duration warmup_timeout{240'000'000'000};
  Duration performance_timeout{240'000'000'000};
  Duration accuracy_timeout = Duration::max();
  double metrics_drain_timeout_s = 0.0;  // accepted
  std::int64_t metrics_tokenizer_workers = 4;
};

// The reference client's newer spelling of `drain` and `timeout`; it replaces them when given.
// Zero: do not wait.
struct Timeouts {
  Duration run_timeout = Duration::max();
  Duration interrupted_teardown_grace{30'000'000'000};
  Duration service_ready_timeout{30'000'000'000};
  Duration warmup_drain_timeout{240'000'000'000};
  Duration performance_drain_timeout = Duration::max();
  Duration accuracy_drain_timeout = Duration::max();
  Duration metrics_drain_timeout = Duration::max();
};

struct Warmup {
  bool enabled = false;
  std::optional<std::uint64_t> n_requests{};  // nullopt: the dataset once
  bool salt = false;
  bool drain = false;                     // wait for the last warm-up reply before measuring
  std::uint64_t warmup_random_seed = 42;  // s: gaps from s, order from s + 1, salts from s + 2
};

struct Profiling {
  std::string engine{};  // "" or "vllm"
  std::vector<std::string> urls{};
};

// Assay: what is read beside the load (docs/formats/telemetry.md).
struct TelemetryConfig {
  std::vector<std::string> metrics{};  // URLs of pages in Prometheus' text format
  // nvml, rapl, host, each with ":" and another place: a library, a folder that stands for theirs.
  std::vector<std::string> meters{};
  std::string command{};  // prints a meter's values (meter/command_source.h)
  Duration interval{1'000'000'000};
  Duration after{};  // go on reading this long after the load, for a source that lags
};

// The reference client's way to name a source of power readings (power.h).
struct PowerConfig {
  std::string source{};  // nvidia_smi, prometheus or command; empty: none
  Duration interval{1'000'000'000};
  Json options{};  // of the source, an object; or null
  std::string value_kind{};
  std::vector<std::pair<std::string, std::string>> env{};  // of the command
};

// Assay: an account of the prefix cache (observe/prefix_reuse.h), made after the run.
struct PrefixReuseConfig {
  std::int64_t block = 0;  // tokens of a block of the server's cache; 0: no account
};

struct EarlyStopping {
  bool enabled = true;
};

// Assay: what a run records.
struct Recording {
  // The replies' text in the event log. automatic: if a tokenizer or a scorer needs it.
  Switch keep_text = Switch::automatic;
  bool events_jsonl = false;    // write the reference client's events.jsonl too
  bool keep_artefacts = false;  // the pictures, videos and sounds of replies, as files
};

// What to do when the run folder's disk is full.
enum class DiskFull : std::uint8_t { stop, go_on };

// Assay: limits that keep a load from doing harm. Budgets and failures count for the whole run.
struct Guarding {
  bool preflight = true;          // one test query before the load
  bool stop_when_refused = true;  // stop when every answer is the same fatal one
  std::string max_failures{};     // "20", or "5%" of those that ended; empty: no limit
  std::optional<std::uint64_t> max_tokens_total{};
  std::optional<double> max_cost{};
  std::optional<double> price_in{};   // per million tokens of prompts
  std::optional<double> price_out{};  // per million tokens of replies
  bool honour_retry_after = false;
  DiskFull on_disk_full = DiskFull::stop;
};

struct Settings {
  Runtime runtime{};
  LoadPattern load_pattern{};
  Client client{};
  Drain drain{};
  std::optional<Timeouts> timeouts{};
  Warmup warmup{};
  Profiling profiling{};
  PowerConfig power{};
  EarlyStopping early_stopping{};
  double service_ready_timeout_s = 30.0;       // accepted
  std::int64_t metrics_tokenizer_workers = 4;  // accepted
  Recording recording{};                       // Assay
  TelemetryConfig telemetry{};                 // Assay
  PrefixReuseConfig prefix_reuse{};            // Assay
  // Assay: acts on the server while the load runs (chaos.h): an object, or null.
  Json chaos{};
  Guarding guard{};  // Assay
};

struct EndpointConfig {
  std::vector<std::string> endpoints{};  // URLs; queries go to them in turn
  std::string api_key{};                 // secret: sent as a bearer token, never written
  Api api_type = Api::openai;
  // Assay: a kind that a file describes: {file: its path}, or what is in it (described_api.h).
  Json kind{};
  // Not a key of a file: the kind, read. Shared, because prepared requests refer to it.
  std::shared_ptr<const DescribedKind> described{};
  std::vector<std::string> session_id_headers{"X-Session-ID"};
  std::string api_key_env{};  // Assay: the name of the variable that holds the key
  bool request_ids = true;    // Assay: send each query's uuid as x-request-id
  std::vector<std::pair<std::string, std::string>> headers{};  // Assay: extra, sent unchanged
};

// The kind's name; whether its replies stream; what they are made of instead of tokens, or "".
inline std::string_view name_of(const EndpointConfig& config) {
  return config.described ? std::string_view(config.described->name) : to_string(config.api_type);
}
inline bool streams(const EndpointConfig& config) {
  return config.described ? config.described->stream != KindStream::none
                          : row_of(config.api_type).streams;
}
inline std::string_view unit_of(const EndpointConfig& config) {
  return config.described ? std::string_view(config.described->unit) : row_of(config.api_type).unit;
}

struct Audit {
  std::string test{};
  bool only = false;
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> audit_samples{};
  std::uint64_t sample_index = 0;
  double threshold = 0.10;
};

struct Config {
  std::string name{};  // empty: <type>_benchmark
  std::string version = "1.0";
  RunType type = RunType::online;
  std::optional<SubmissionRef> submission_ref{};
  std::optional<BenchmarkMode> benchmark_mode{};
  ModelParams model_params{};
  std::vector<DatasetConfig> datasets{};
  Settings settings{};
  EndpointConfig endpoint_config{};
  std::string report_dir{};
  std::optional<double> timeout{};  // accepted, as in the reference client
  bool verbose = false;             // accepted
  bool enable_cpu_affinity = true;
  std::optional<Audit> audit{};
  Json system_info{};          // the user's description of the system; an object, or null
  std::optional<Mode> mode{};  // Assay: nullopt: all modes that the datasets need
  // Not a key of a file. If a workload was named: its scenario's requirements (workload.h,
  // scenario_facts), for the run's record; else null.
  Json workload{};
};

}  // namespace assay::plan
