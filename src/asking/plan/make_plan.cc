#include "plan/make_plan.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "dataset/dataset.h"
#include "dataset/mix.h"
#include "plan/guard_rule.h"
#include "plan/memory_rule.h"
#include "plan/override.h"
#include "plan/phases.h"
#include "plan/resolve.h"
#include "plan/saved_config.h"
#include "plan/task_dataset.h"
#include "plan/words.h"

namespace assay::plan {
namespace {

Error unsupported(std::string message) { return Error{Code::unsupported, std::move(message)}; }

// " (http://…)" where the config names the service.
std::string service_of(const AccuracyConfig& how) {
  const std::string_view url = how.extras["swebench_service_url"].as_string();
  return url.empty() ? std::string() : format(" ({})", redact_url(url));
}

// Refuses settings that this program does not support yet.
Result<void> check_supported(const Config& config) {
  const LoadPattern& load = config.settings.load_pattern;
  if (wants(config, DatasetType::performance)) {
    if (load.type == Pattern::burst || load.type == Pattern::step) {
      return unsupported(
          format("settings.load_pattern.type: {} is a name that no client runs; "
                 "type: ramp makes steps, max_throughput sends all at once",
                 word(load.type)));
    }
  }
  for (const DatasetConfig& data : config.datasets) {
    if (!wants(config, data) || !data.accuracy_config) continue;
    if (data.accuracy_config->eval_method == "bfcl_v4_multi_turn") {
      return unsupported(
          format("datasets: '{}': bfcl_v4_multi_turn asks the endpoint by itself, step by step\n"
                 "  leave the dataset out (--mode perf), and play it after the run: `assay score "
                 "RUN --scorer bfcl_v4_multi_turn --phase performance --allow-code --extras "
                 "'{{\"endpoint\": URL, \"model\": NAME}}'`",
                 data.name));
    }
    if (data.accuracy_config->eval_method == "swe_bench_scorer") {
      return unsupported(
          format("datasets: '{}': swe_bench_scorer needs the SWE-bench service of the reference "
                 "client, which asks the endpoint and runs the tests; Assay does not start it{}\n"
                 "  leave the dataset out (--mode perf), and score the service's report: `assay "
                 "score RUN --scorer swe_bench_scorer --phase performance --extras "
                 "'{{\"command\": …}}'`",
                 data.name, service_of(*data.accuracy_config)));
    }
  }
  return {};
}

std::string left_out(const DatasetConfig& data) {
  return format(
      "dataset '{}' is left out: {} needs an external service{}, which asks the endpoint by itself "
      "and is not part of a measurement; the reference client skips it here too",
      data.name, data.accuracy_config->eval_method, service_of(*data.accuracy_config));
}

Result<Generation> generation_of(const Config& config, const DatasetConfig& data) {
  std::vector<Problem> problems;
  const ModelParams params =
      merged_params(config.model_params, data.generation_config_override, "", problems);
  if (!problems.empty()) {
    return invalid(format("datasets: '{}': generation_config_override{}: {}", data.name,
                          problems.front().path, problems.front().what));
  }
  Generation out{.model = params.name,
                 .stream = params.streaming != Switch::off,
                 .temperature = params.temperature,
                 .seed = params.seed,
                 .top_k = params.top_k,
                 .top_p = params.top_p,
                 .repetition_penalty = params.repetition_penalty,
                 .presence_penalty = params.presence_penalty,
                 .frequency_penalty = params.frequency_penalty,
                 .max_new_tokens = params.max_new_tokens,
                 .min_new_tokens = params.min_new_tokens,
                 .skip_special_tokens = params.skip_special_tokens,
                 .include_usage = params.include_usage,
                 .ignore_eos = params.ignore_eos,
                 .chat_template_kwargs = params.chat_template_kwargs,
                 .extra_body = params.extra_body};
  // A requested output length holds only if the model may not stop before it.
  if (data.synthetic && data.synthetic->osl && !out.ignore_eos) out.ignore_eos = true;
  return out;
}

Endpoints endpoints_of(const Config& config) {
  const Client& client = config.settings.client;
  const EndpointConfig& from = config.endpoint_config;
  Duration patience = config.settings.runtime.query_timeout;
  std::vector<std::string> sessions = from.session_id_headers;
  for (const DatasetConfig& data : config.datasets) {
    if (!data.agentic_inference || !wants(config, data.type)) continue;
    patience = std::min(patience, data.agentic_inference->turn_timeout);
    sessions = data.agentic_inference->routing_headers;
  }
  Endpoints out{.urls = from.endpoints,
                .api = from.api_type,
                .described = from.described,
                .api_key = from.api_key,
                .headers = from.headers,
                .session_headers = std::move(sessions),
                .request_ids = from.request_ids,
                .insecure = client.insecure,
                .http = client.http,
                .connect_timeout = client.connect_timeout,
                .query_timeout = patience,
                .idle_connection_max = client.max_idle_time,
                .poll_interval = client.poll_interval,
                .fetch_artefacts = client.fetch_artefacts};
  if (client.max_connections > 0) {
    out.connections_max = static_cast<std::uint32_t>(client.max_connections);
  }
  return out;
}

// Checks before the run that the API can ask every row.
Result<void> check_rows(const Dataset& dataset, const Spoken& api) {
  // All made rows are of the same kind.
  const std::size_t rows = dataset.make_row ? 1 : dataset.rows();
  Sample room;
  for (std::size_t i = 0; i < rows; ++i) {
    const Sample& sample = dataset.row(i, room);
    const bool ids = !sample.input_tokens.empty();
    const bool chat = !sample.messages.is_null() || !sample.content_parts.is_null();
    if (chat && !takes_messages(api)) {
      return invalid(
          format("dataset '{}', row {}: messages or content parts, which {} does not "
                 "take; use --api-type openai",
                 dataset.name, i + 1, name_of(api)));
    }
    if (ids && !row_of(api.api).takes_token_ids) {
      return invalid(
          format("dataset '{}', row {}: token ids, which {} does not take; use "
                 "--api-type openai_completions, or a column of text",
                 dataset.name, i + 1, name_of(api)));
    }
  }
  return {};
}

// The columns of a dataset's row that a described kind sends.
std::vector<std::string_view> columns_of(const EndpointConfig& config) {
  if (!config.described) return {};
  return {config.described->columns.begin(), config.described->columns.end()};
}

}  // namespace

Result<std::vector<Dataset>> load_datasets(const Config& config, const RowMaker& make_row) {
  TRY(check_supported(config));  // before errors about files that it may need
  std::vector<Dataset> out;
  const Api api = config.endpoint_config.api_type;
  const std::vector<std::string_view> described = columns_of(config.endpoint_config);
  for (const DatasetConfig& data : config.datasets) {
    if (!wants(config, data)) continue;
    dataset::Spec spec{.name = data.name,
                       .path = data.path,
                       .format = data.format,
                       .parser = data.parser,
                       .rows_max = data.rows_max,
                       .prefer_token_ids = row_of(api).takes_token_ids,
                       .kind_columns = described.empty() ? row_of(api).columns : described,
                       .columns_ask = !described.empty() && config.endpoint_config.described &&
                                      !config.endpoint_config.described->takes_prompt,
                       .prompt_format = data.prompt_format,
                       .all_turns = data.turns == Turns::all,
                       .keep_columns = data.accuracy_config.has_value(),
                       .conversations = data.agentic_inference.has_value()};
    if (make_row) spec.make_row = make_row;
    if (data.synthetic) {
      const SyntheticConfig& from = *data.synthetic;
      spec.synthetic = dataset::SyntheticSpec{.osl = from.osl,
                                              .seed = from.seed,
                                              .token_ids = from.token_ids == Switch::on,
                                              .tokenizer = from.tokenizer};
      if (!from.shared_prefix.empty()) {
        ASSIGN_OR_RETURN(spec.synthetic->prefixes, dataset::parse_prefixes(from.shared_prefix));
      }
      if (from.isl) spec.synthetic->isl = *from.isl;
      if (from.count) spec.synthetic->count = *from.count;
      for (const std::string& text : from.classes) {
        ASSIGN_OR_RETURN(spec.synthetic->classes.emplace_back(), dataset::parse_class(text));
      }
    }
    TRY(ask_by_task(data, spec));
    auto loaded = dataset::load_dataset(spec);
    if (!loaded) return loaded.error().within(format("dataset '{}'", data.name));
    out.push_back(*std::move(loaded));
  }
  return out;
}

Result<PlanBundle> make_plan(const Config& config, std::vector<Dataset> datasets) {
  TRY(check_supported(config));
  PlanBundle out;
  out.endpoints = endpoints_of(config);
  out.keep_text = config.settings.recording.keep_text == Switch::on;
  if (config.settings.timeouts) out.run_max = config.settings.timeouts->run_timeout;
  std::size_t next = 0;
  std::vector<AccuracyPhase> accuracy;
  std::uint32_t performance = 0;
  const AgenticConfig* agentic = nullptr;
  const bool measured = wants(config, DatasetType::performance);
  for (const DatasetConfig& data : config.datasets) {
    if (!wants(config, data)) {
      if (wants(config, data.type)) out.notes.push_back(left_out(data));
      continue;
    }
    if (next == datasets.size()) return invalid(format("dataset '{}' was not loaded", data.name));
    Dataset& dataset = datasets[next++];
    if (dataset.rows() == 0) return invalid(format("dataset '{}' has no rows", data.name));
    const auto index = static_cast<std::uint32_t>(out.datasets.size());
    TRY(check_rows(dataset, out.endpoints.spoken()));
    ASSIGN_OR_RETURN(Generation generation, generation_of(config, data));
    if (data.type == DatasetType::performance) {
      performance = index;
      if (data.agentic_inference) agentic = &*data.agentic_inference;
    } else {
      const std::uint32_t repeats = data.accuracy_config ? data.accuracy_config->num_repeats : 1;
      accuracy.push_back({data.name, index, repeats});
    }
    for (const std::string& note : dataset.notes) out.notes.push_back(note);
    out.datasets.push_back({std::move(dataset), std::move(generation)});
  }
  PhaseMaker phases(config, out);
  if (agentic != nullptr) {
    TRY(phases.add_replay(performance, *agentic));
  } else if (measured) {
    TRY(phases.add_measured(performance));
  }
  for (const AccuracyPhase& phase : accuracy) TRY(phases.add_accuracy(phase));
  ASSIGN_OR_RETURN(out.plan.guard, guard_rule(config.settings.guard));
  ASSIGN_OR_RETURN(out.memory, memory_rule(config.settings.client.memory_max));
  if (out.plan.phases.empty()) return invalid("there is nothing to run: no dataset");
  return out;
}

}  // namespace assay::plan
