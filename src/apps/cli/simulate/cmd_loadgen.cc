#include <algorithm>
#include <optional>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "loadgen/builtin_conf.h"
#include "loadgen/conf_file.h"
#include "loadgen/queries.h"
#include "loadgen/settings.h"
#include "loadgen/verdict.h"

namespace assay::cli {
namespace {

constexpr std::size_t kConfBytesMax = std::size_t{1} << 20;
constexpr std::string_view kNoBuiltIn = "none";

struct LoadgenOptions {
  std::string what{};
  std::optional<std::string> record{};
  std::optional<std::string> config{};
  std::optional<std::string> audit{};
  std::string edition{loadgen::kNewestConf};
  std::string model = "*";
  std::string scenario = "SingleStream";
  std::optional<std::string> mode{};
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> loaded{};
  std::uint64_t queries = 10;
  bool json = false;
};

std::vector<std::string> words_of(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

Result<loadgen::ConfFile> read_conf(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kConfBytesMax));
  auto conf = loadgen::ConfFile::parse(text);
  if (!conf) return conf.error().within(path);
  for (const std::string& key : conf->unused_keys()) {
    say(format("warning: {}: \"{}\" is no setting of LoadGen, and is ignored", path, key));
  }
  return conf;
}

// The built-in file, the user's, an audit's, the command line: each over those before it.
Result<loadgen::TestSettings> asked_settings(const LoadgenOptions& options) {
  loadgen::TestSettings settings;
  settings.scenario = *loadgen::scenario_named(options.scenario);
  if (options.edition != kNoBuiltIn) {
    ASSIGN_OR_RETURN(const auto conf, loadgen::builtin_conf(options.edition));
    TRY(conf.apply(options.model, settings.scenario, loadgen::ConfKind::built_in, settings));
  }
  if (options.config) {
    ASSIGN_OR_RETURN(const auto conf, read_conf(*options.config));
    TRY(conf.apply(options.model, settings.scenario, loadgen::ConfKind::user, settings));
  }
  // A harness sets the mode when it has read its file, and an audit comes last.
  if (options.mode) settings.mode = *loadgen::mode_named(*options.mode);
  if (options.audit) {
    ASSIGN_OR_RETURN(const auto conf, read_conf(*options.audit));
    TRY(conf.apply("*", settings.scenario, loadgen::ConfKind::user, settings));
  }
  return settings;
}

Json json_of(const std::vector<std::uint64_t>& numbers) {
  Json out = Json::array();
  for (const std::uint64_t number : numbers) out.push_back(number);
  return out;
}

Result<Json> series_json(const loadgen::EffectiveSettings& settings, const loadgen::LoadedSet& set,
                         loadgen::Phase phase, std::uint64_t listed_max,
                         loadgen::AccuracySampling& sampling) {
  ASSIGN_OR_RETURN(auto stream, loadgen::QueryStream::make(settings, set, phase));
  sampling.begin(settings, phase);
  Json listed = Json::array();
  std::uint64_t samples = 0;
  std::uint64_t logged = 0;
  for (loadgen::Query query; stream.next(query);) {
    Json in_log = Json::array();
    for (const std::uint64_t sample : query.samples) {
      if (!sampling.next()) continue;
      ++logged;
      in_log.push_back(sample);
    }
    samples += query.samples.size();
    if (stream.made() > listed_max) continue;
    listed.push_back(Json::object()
                         .set("due_ns", query.due_ns)
                         .set("samples", json_of(query.samples))
                         .set("accuracy_log", std::move(in_log)));
  }
  return Json::object()
      .set("phase", phase == loadgen::Phase::accuracy ? "accuracy" : "performance")
      .set("loaded", json_of(set.samples))
      .set("query_count", stream.made())
      .set("samples_per_query", stream.samples_per_query())
      .set("duration_ns", stream.end_ns())
      .set("sample_count", samples)
      .set("accuracy_log_count", logged)
      .set("queries", std::move(listed));
}

Result<Json> plan_json(const LoadgenOptions& options, const loadgen::EffectiveSettings& settings) {
  Json series = Json::array();
  loadgen::AccuracySampling sampling;
  if (settings.accuracy()) {
    for (const auto& set : loadgen::loaded_sets(settings, loadgen::Phase::accuracy)) {
      ASSIGN_OR_RETURN(Json one, series_json(settings, set, loadgen::Phase::accuracy,
                                             options.queries, sampling));
      series.push_back(std::move(one));
    }
  }
  if (settings.performance()) {
    // Only the first set is loaded.
    const auto sets = loadgen::loaded_sets(settings, loadgen::Phase::performance);
    ASSIGN_OR_RETURN(Json one, series_json(settings, sets.front(), loadgen::Phase::performance,
                                           options.queries, sampling));
    series.push_back(std::move(one));
  }
  return Json::object()
      .set("edition", options.edition)
      .set("model", options.model)
      .set("requested", settings.requested.to_json())
      .set("effective", settings.to_json())
      .set("series", std::move(series));
}

std::string value_text(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

std::string plan_text(const Json& plan) {
  std::string out = format("{} in {}, settings of {}\n\n", plan["model"].as_string(),
                           plan["effective"]["scenario"].as_string(), plan["edition"].as_string());
  for (const auto& [name, value] : plan["effective"].members()) {
    out += format("  {:<32}{}\n", name, value_text(value));
  }
  for (const Json& series : plan["series"].items()) {
    out +=
        format("\n{}: {} samples loaded, {} queries of {}, {} s, {} answers in the accuracy log\n",
               series["phase"].as_string(), count_text(series["loaded"].size()),
               count_text(series["query_count"].as_uint()),
               count_text(series["samples_per_query"].as_uint()),
               three_digits(static_cast<double>(series["duration_ns"].as_int()) / 1e9),
               count_text(series["accuracy_log_count"].as_uint()));
    for (const Json& query : series["queries"].items()) {
      constexpr std::size_t kShown = 12;
      const auto& samples = query["samples"].items();
      out += format("  {:>14} ns ", query["due_ns"].as_int());
      for (std::size_t i = 0; i < std::min(samples.size(), kShown); ++i) {
        out += format(" {}", samples[i].as_uint());
      }
      out += samples.size() > kShown ? " …\n" : "\n";
    }
  }
  return out;
}

Json stopping_json(const loadgen::EarlyStopping& stopping) {
  Json out = Json::object().set("met", stopping.met).set("text", stopping.text);
  if (stopping.estimate) out.set("estimate_ns", *stopping.estimate);
  if (stopping.estimate_99) out.set("estimate_99_ns", *stopping.estimate_99);
  return out;
}

Json verdict_json(const loadgen::EffectiveSettings& settings, const loadgen::Verdict& verdict,
                  std::string summary) {
  Json out = Json::object()
                 .set("valid", verdict.valid())
                 .set("reasons", verdict.reasons())
                 .set("performance_met", verdict.performance_met)
                 .set("min_duration_met", verdict.min_duration_met)
                 .set("min_queries_met", verdict.min_queries_met)
                 .set("early_stopping_met", verdict.early_stopping_met);
  if (settings.requested.use_token_latencies) {
    out.set("tpot", stopping_json(verdict.tpot)).set("ttft", stopping_json(verdict.ttft));
  } else {
    out.set("latency", stopping_json(verdict.latency));
  }
  return out.set("effective", settings.to_json()).set("summary", std::move(summary));
}

Result<int> summarize(const LoadgenOptions& options, const loadgen::EffectiveSettings& settings) {
  if (!options.record) return invalid("RECORD: summary needs the file of what was measured");
  ASSIGN_OR_RETURN(const Json json, read_json_file(*options.record));
  const auto recorded = loadgen::Recorded::from_json(json);
  if (!recorded) return recorded.error().within(*options.record);
  const auto verdict = loadgen::verdict(settings, *recorded);
  if (!verdict) return verdict.error().within(*options.record);
  std::string summary = loadgen::summary_text(settings, *recorded, *verdict);
  print(options.json ? verdict_json(settings, *verdict, std::move(summary)).dump() + "\n"
                     : summary);
  return exit_code(verdict->valid() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> cmd_loadgen(Args args) {
  if (!args.empty() && args.front() == "compliance") return cmd_compliance(args.subspan(1));
  LoadgenOptions options;
  std::vector<std::string> editions = words_of(loadgen::conf_editions());
  editions.emplace_back(kNoBuiltIn);
  Flags flags("loadgen", "what an MLPerf LoadGen test asks, and the verdict on it");
  flags
      .add("WHAT", &options.what,
           "plan: the settings in force, and the queries in their order and at their times; "
           "summary: the verdict on a test, and its mlperf_log_summary.txt; compliance TESTnn: "
           "the compliance tests over run folders (its own --help)")
      .required()
      .choices({"plan", "summary"});
  flags.add("RECORD", &options.record, "summary: what was measured, as JSON");
  flags.add("--config", &options.config, "the user's configuration file (user.conf)").value("FILE");
  flags.add("--audit", &options.audit, "an audit's configuration file (audit.config)")
      .value("FILE");
  flags
      .add("--edition", &options.edition,
           "whose built-in file (mlperf.conf) is read first; none: no such file")
      .choices(std::move(editions));
  flags.add("--model", &options.model, "the model's name in configuration keys").value("NAME");
  flags.add("--scenario", &options.scenario, "which of LoadGen's scenarios")
      .choices(words_of(loadgen::scenario_names()));
  flags.add("--mode", &options.mode, "the test's mode, in place of the files'")
      .choices(words_of(loadgen::mode_names()));
  flags.add("--samples", &options.samples, "how many samples the dataset has")
      .required()
      .value("N");
  flags
      .add("--loaded", &options.loaded,
           "how many samples fit in memory together; without it, all of them")
      .value("N");
  flags.add("--queries", &options.queries, "how many queries of each series are listed").value("N");
  flags.add("--json", &options.json, "print the plan as JSON");
  flags.example(
      "assay loadgen plan --model llama3_1-8b --scenario Server --config user.conf --samples "
      "13368");
  flags.example("assay loadgen summary measured.json --scenario Offline --samples 24576");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  ASSIGN_OR_RETURN(const loadgen::TestSettings asked, asked_settings(options));
  ASSIGN_OR_RETURN(
      const loadgen::EffectiveSettings settings,
      loadgen::effective(asked, {.total = options.samples,
                                 .performance = options.loaded.value_or(options.samples)}));
  if (options.what == "summary") return summarize(options, settings);
  if (options.record) return invalid("RECORD: plan reads no record");
  ASSIGN_OR_RETURN(const Json plan, plan_json(options, settings));
  print(options.json ? plan.dump() + "\n" : plan_text(plan));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
