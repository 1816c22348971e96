#include "plan/settings.h"

#include "base/format.h"
#include "plan/config.h"
#include "plan/dataset_spec.h"
#include "plan/words.h"

namespace assay::plan {
namespace {

const Part& submission_ref_part() {
  static const Part part = [] {
    PartOf<SubmissionRef> rows;
    rows.add("model", &SubmissionRef::model,
             "The model's name in the rules; used as model_params.name where that is empty.");
    rows.add("ruleset", &SubmissionRef::ruleset,
             "The edition of the rules, which pins the three seeds: mlperf-inference-v5.1, "
             "mlperf-inference-v6.1, mlcommons-current, mlperf-edge-v0.1 or mlperf-edge-current.");
    return rows.take();
  }();
  return part;
}

const Part& osl_distribution_part() {
  static const Part part = [] {
    PartOf<OslDistribution> rows;
    rows.add("type", &OslDistribution::type, "original, fixed, uniform or normal.");
    rows.add("mean", &OslDistribution::mean, "Mean, in tokens.");
    rows.add("std", &OslDistribution::std, "Standard deviation, in tokens.");
    rows.add("min", &OslDistribution::min, "Shortest output, in tokens.");
    rows.add("max", &OslDistribution::max, "Longest output, in tokens.");
    return rows.take();
  }();
  return part;
}

const Part& accuracy_part() {
  static const Part part = [] {
    PartOf<AccuracyConfig> rows;
    rows.add("eval_method", &AccuracyConfig::eval_method,
             "The scorer: pass_at_1, string_match, rouge, code_bench_scorer, shopify_category_f1, "
             "agentic_inference_inline, vbench, bfcl_v4, legacy_mlperf_deepseek_r1 or "
             "swe_bench_scorer. Assay's own: `assay score --list`.");
    rows.add("ground_truth", &AccuracyConfig::ground_truth,
             "The column that holds the right answer; empty means the scorer's own, ground_truth.");
    rows.add("extractor", &AccuracyConfig::extractor,
             "How the answer is found in the reply: abcd_extractor, boxed_math_extractor, "
             "identity_extractor, python_code_extractor or function_call_extractor. Assay's own: "
             "letter_aj, aime_integer, last_boxed, first_python_code, final_channel_code, "
             "gsm8k_number.");
    rows.add("num_repeats", &AccuracyConfig::num_repeats,
             "How often each row is asked; the score is over all of them.")
        .at_least(1);
    rows.add("extras", &AccuracyConfig::extras, "Further arguments of the scorer, as it has them.");
    return rows.take();
  }();
  return part;
}

const Part& agentic_part() {
  static const Part part = [] {
    PartOf<AgenticConfig> rows;
    rows.add("turn_timeout_s", &AgenticConfig::turn_timeout,
             "Give up on a conversation when one of its turns takes longer.")
        .above(0);
    rows.add("enable_salt", &AgenticConfig::enable_salt,
             "Mark the system message of each repeat so that no prefix cache can help.");
    rows.add("inject_tool_delay", &AgenticConfig::inject_tool_delay,
             "Wait the dataset's delay_seconds before a turn, as its tools did.");
    rows.add("idle_cap_s", &AgenticConfig::idle_cap,
             "Wait no delay longer than this; empty means as recorded.")
        .at_least(0)
        .null_is_none()
        .ours();
    rows.add("routing_headers", &AgenticConfig::routing_headers,
             "Headers that carry the conversation's id, so that a router can keep it together.");
    rows.add("num_trajectories_to_issue", &AgenticConfig::num_trajectories_to_issue,
             "How many conversations to run; empty means each once.")
        .at_least(1);
    rows.add("stop_issuing_on_first_user_complete",
             &AgenticConfig::stop_issuing_on_first_user_complete,
             "Issue no more turns once a slot has no conversation left.");
    return rows.take();
  }();
  return part;
}

const Part& synthetic_part() {
  static const Part part = [] {
    PartOf<SyntheticConfig> rows;
    rows.add("isl", &SyntheticConfig::isl,
             "Input length in tokens: 512, uniform:100-200, normal:512,64 or lognormal:512,0.5 "
             "(median and sigma). Empty means 256. Token ids are exactly so long; text is sized by "
             "an estimate, and the server's own count is what is reported.");
    rows.add("osl", &SyntheticConfig::osl,
             "Output length in tokens, written as isl. It is each row's limit, and ignore_eos is "
             "sent with it unless model_params.ignore_eos says otherwise, so that outputs really "
             "are that long where the server honours it.");
    rows.add("count", &SyntheticConfig::count,
             "How many different prompts. Empty means as many as the run asks for, 1000 at most. "
             "With fewer prompts than queries, a server's prefix cache helps.")
        .at_least(1);
    rows.add("seed", &SyntheticConfig::seed, "The same seed makes the same prompts.");
    rows.add("token_ids", &SyntheticConfig::token_ids,
             "Prompts as token ids (on) or as text (off). auto: ids for openai_completions and "
             "sglang, text for the others.");
    rows.add(
        "shared_prefix", &SyntheticConfig::shared_prefix,
        "A tree of prefixes that prompts share, as TOKENSxBRANCHES a level: 1000x4,200x8. Each "
        "prompt takes a branch by chance at each level; its isl counts what is shared too.");
    rows.add(
        "classes", &SyntheticConfig::classes,
        "Traffic classes that are mixed, each as NAME,share=0.7 and what differs: isl, osl, "
        "prefix, model, priority, body.FIELD, slo=ttft<=500ms&tpot<=20ms. Each gets figures "
        "of its own. With rate=20 in place of a share, and law=poisson, constant, gamma/SHAPE "
        "or burst/QUERIES, each has arrivals of its own; with concurrency=8 and think=2s it is "
        "users in a closed loop. Then there is no load pattern.");
    rows.add("tokenizer", &SyntheticConfig::tokenizer,
             "A tokenizer's file or folder: prompts of text then have exactly isl tokens by it, "
             "without a chat template. Empty: by estimate.");
    return rows.take();
  }();
  return part;
}

const Part& endpoint_part() {
  static const Part part = [] {
    PartOf<EndpointConfig> rows;
    rows.add("endpoints", &EndpointConfig::endpoints,
             "URLs: http://host:port, https://…, or http+unix:///path/of.sock:/prefix. With more "
             "than one, queries go to them in turn. A path that ends in /v1 is understood. "
             "program:COMMAND is a program that answers instead (docs/formats/plugin.md).");
    rows.add("api_key", &EndpointConfig::api_key,
             "Sent as a bearer token. Never written to a file; better given by api_key_env.")
        .secret();
    rows.add("api_type", &EndpointConfig::api_type,
             "The kind of API that the endpoint speaks; docs/guide/kinds.md has a row for each. "
             "openai is chat completions.");
    rows.add(
            "kind", &EndpointConfig::kind,
            "A kind of API that a YAML file describes, in place of api_type: {file: PATH}, or what "
            "is in the file (docs/formats/kind.md).")
        .ours();
    rows.add("session_id_headers", &EndpointConfig::session_id_headers,
             "Headers set to a row's session id, where the dataset has one.")
        .newer();
    rows.add("api_key_env", &EndpointConfig::api_key_env,
             "The name of the environment variable that holds the key.")
        .ours();
    rows.add("request_ids", &EndpointConfig::request_ids,
             "Send each query's id as x-request-id, so that a server's log can be joined to the "
             "run's.")
        .ours();
    rows.add("headers", &EndpointConfig::headers,
             "Further headers, sent as they stand. Secret ones are redacted in the saved config.")
        .ours();
    return rows.take();
  }();
  return part;
}

const Part& audit_part() {
  static const Part part = [] {
    PartOf<Audit> rows;
    rows.add("test", &Audit::test, "output_caching_test: does the system answer from a cache?");
    rows.add("only", &Audit::only, "Audit without the main run.");
    rows.add("samples", &Audit::samples, "Queries of the reference phase.").at_least(1);
    rows.add("audit_samples", &Audit::audit_samples,
             "Queries of the audit phase; empty means as many as `samples`.")
        .at_least(1);
    rows.add("sample_index", &Audit::sample_index, "The row that the audit phase repeats.");
    rows.add("threshold", &Audit::threshold, "How much faster the audit phase may be.")
        .above(0)
        .below(1);
    return rows.take();
  }();
  return part;
}

// datasets: a list of maps, or of the strings that --dataset takes.
Setting datasets_row() {
  Setting row;
  row.name = "datasets";
  row.help =
      "What is asked: one performance dataset and any number of accuracy datasets. Each is a map, "
      "or a text as --dataset takes it: [perf:|acc:]PATH[,key=value]…";
  row.type = "list of maps";
  row.part = &dataset_part();
  row.list = true;
  row.read = [](const Setting&, const yaml::Node& node, void* object, const std::string& path,
                Reading& reading) {
    auto& datasets = static_cast<Config*>(object)->datasets;
    datasets.clear();
    if (node.is_null()) return;
    if (!node.is_list()) {
      reading.wrong(node, path, format("expected a list of datasets, found {}", node.kind_name()),
                    "put a dash before it");
      return;
    }
    for (const yaml::Node& item : node.items) {
      const std::string here = format("{}[{}]", path, datasets.size());
      reading.saw(here, item);
      read_dataset(item, datasets.emplace_back(), here, reading);
    }
  };
  row.write = [](const Setting&, const void* object) -> std::optional<Json> {
    Json out = Json::array();
    for (const DatasetConfig& dataset : static_cast<const Config*>(object)->datasets) {
      out.push_back(write_part(dataset_part(), &dataset));
    }
    return out;
  };
  return row;
}

}  // namespace

const Part& model_params_part() {
  static const Part part = [] {
    using M = ModelParams;
    PartOf<M> rows;
    rows.add("name", &M::name, "The model, as the request names it. Required.");
    rows.add("temperature", &M::temperature, "Sampling temperature. Empty: not sent.").at_least(0);
    rows.add("seed", &M::seed, "The server's sampling seed (not the run's seeds).");
    rows.add("top_k", &M::top_k, "Sample from the k likeliest tokens; -1 is all of them.")
        .at_least(-1);
    rows.add("top_p", &M::top_p, "Sample from the likeliest tokens that sum to this share.")
        .at_least(0)
        .at_most(1);
    rows.add("repetition_penalty", &M::repetition_penalty, "Sent as it stands.");
    rows.add("presence_penalty", &M::presence_penalty, "Sent as it stands.");
    rows.add("frequency_penalty", &M::frequency_penalty, "Sent as it stands.");
    rows.add("chat_template_kwargs", &M::chat_template_kwargs,
             "Arguments of the server's chat template.");
    rows.add("max_new_tokens", &M::max_new_tokens,
             "Output limit in tokens. A row's own limit goes before it.")
        .at_least(1);
    rows.add("min_new_tokens", &M::min_new_tokens,
             "Least output in tokens; openai_completions only.")
        .at_least(0);
    rows.add("skip_special_tokens", &M::skip_special_tokens,
             "Leave special tokens out of the text; openai_completions only.");
    rows.add_part("osl_distribution", &M::osl_distribution, osl_distribution_part(),
                  "Accepted for the reference client's sake. To shape outputs, see "
                  "datasets[].synthetic.osl.")
        .nothing();
    rows.add("streaming", &M::streaming,
             "Ask for replies token by token (on) or whole (off). auto: off for offline runs, on "
             "otherwise. Without streaming there is no TTFT and no TPOT.");
    rows.add("tokenizer_name", &M::tokenizer_name,
             "The tokenizer that counts tokens: a folder, or a name at Hugging Face. Empty: the "
             "server's own counts are used.");
    rows.add("ignore_eos", &M::ignore_eos,
             "Ask the server to generate to the limit, whatever the model says. Empty: not sent, "
             "but for synthetic datasets with an osl.")
        .ours();
    rows.add("extra_body", &M::extra_body, "Merged into each request's body last.").ours();
    rows.add("include_usage", &M::include_usage,
             "Ask for token counts at the end of a stream (stream_options.include_usage).")
        .ours();
    return rows.take();
  }();
  return part;
}

const Part& dataset_part() {
  static const Part part = [] {
    using D = DatasetConfig;
    PartOf<D> rows;
    rows.add("name", &D::name,
             "How results call it. Empty: the file's name without its extension. May be a "
             "predefined dataset, or one and its preset: id::preset.");
    rows.add("type", &D::type,
             "performance: measured. accuracy: asked once per repeat after the measurement, in "
             "file order, and scored.");
    rows.add("path", &D::path,
             "The file, a folder as on the Hugging Face hub (FOLDER or FOLDER#SPLIT), "
             "croissant:FILE#record_set, or program:COMMAND, which writes the rows. Relative paths "
             "are relative to where Assay is started.");
    rows.add("format", &D::format,
             "jsonl, json, csv, tsv, parquet, arrow, webdataset, croissant, mooncake, "
             "openai_batch, sharegpt, npy, npz or dlrm_v3 (a folder of its generator; FOLDER#0.01 "
             "for a share of the "
             "users). Empty: by the file's extension and first row.");
    rows.add("samples", &D::samples,
             "Accepted; it has no effect in the reference client either. To use fewer rows, see "
             "rows_max; to send fewer queries, settings.runtime.n_samples_to_issue.")
        .at_least(1)
        .nothing();
    rows.add("eval_method", &D::eval_method,
             "Accepted; scorers are named in accuracy_config.eval_method.")
        .nothing();
    rows.add("parser", &D::parser,
             "Our column's name: the file's column's name. prompt, system, messages, input_tokens, "
             "tools, max_new_tokens, session, or body.NAME for a field of the request.");
    rows.add("generate_params", &D::generate_params, "Arguments of a predefined dataset's maker.");
    rows.add_part("accuracy_config", &D::accuracy_config, accuracy_part(),
                  "How replies are scored. Required for accuracy datasets.");
    rows.add_part(
        "agentic_inference", &D::agentic_inference, agentic_part(),
        "The dataset holds conversations to be replayed turn by turn, or agents' trajectories.");
    rows.add("generation_config_override", &D::generation_config_override,
             "Keys of model_params that differ for this dataset; all but name, streaming and "
             "tokenizer_name.");
    rows.add("rows_max", &D::rows_max, "Use only the first rows; 0 means all.").ours();
    rows.add("prompt_format", &D::prompt_format,
             "What the prompt is put together from: text with {column} for each column's value, {{ "
             "for a brace. Goes before the preset that the name may have.")
        .ours();
    rows.add("turns", &D::turns,
             "Of a conversation (ShareGPT): first asks the first human turn; all asks every one, "
             "with the recorded turns before it.")
        .ours();
    rows.add_part("synthetic", &D::synthetic, synthetic_part(),
                  "Prompts made from a seed instead of a file.")
        .ours();
    return rows.take();
  }();
  return part;
}

const Part& config_part() {
  static const Part part = [] {
    using C = Config;
    PartOf<C> rows;
    rows.add("name", &C::name, "What the run is called. Empty: its type and _benchmark.");
    rows.add("version", &C::version, "The config's own version, for people.");
    rows.add("type", &C::type,
             "offline: everything at once (max_throughput). online: any other load. submission: "
             "as benchmark_mode says, under a ruleset. eval: accuracy.");
    rows.add_part("submission_ref", &C::submission_ref, submission_ref_part(),
                  "What the run is to be submitted as.");
    rows.add("benchmark_mode", &C::benchmark_mode, "Required for submission runs.");
    rows.add_part("model_params", &C::model_params, model_params_part(),
                  "The model and how replies are generated.");
    rows.rows().push_back(datasets_row());
    rows.add_part("settings", &C::settings, settings_part(), "How the run is run.");
    rows.add_part("endpoint_config", &C::endpoint_config, endpoint_part(), "Who is asked.");
    rows.add("report_dir", &C::report_dir,
             "The folder for results. Empty: a new folder below runs/, named after the moment.");
    rows.add("timeout", &C::timeout,
             "Accepted; it has no effect in the reference client either. See "
             "settings.timeouts.run_timeout_s.")
        .nothing();
    rows.add("verbose", &C::verbose, "Accepted; a run says what it does, unless --quiet.")
        .nothing();
    rows.add("enable_cpu_affinity", &C::enable_cpu_affinity,
             "Keep the measuring threads on cores of their own.");
    rows.add_part("audit", &C::audit, audit_part(), "A compliance test after the run.");
    rows.add("system_info", &C::system_info,
             "What there is to say of the system under test; kept beside the results.");
    rows.add("mode", &C::mode,
             "perf: only the performance dataset. acc: only the accuracy datasets. both: all. "
             "Empty: whatever the datasets ask for, without those of swe_bench_scorer.")
        .ours();
    return rows.take();
  }();
  return part;
}

}  // namespace assay::plan
