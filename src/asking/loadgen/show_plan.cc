#include "loadgen/show_plan.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/text.h"
#include "loadgen/builtin_conf.h"
#include "loadgen/conf_file.h"
#include "loadgen/queries.h"
#include "loadgen/settings.h"
#include "loadgen/verdict.h"

namespace assay::loadgen {
namespace {

constexpr std::size_t kConfBytesMax = std::size_t{1} << 20;

Result<ConfFile> read_conf(const std::string& path, const Talk& talk) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kConfBytesMax));
  auto conf = ConfFile::parse(text);
  if (!conf) return conf.error().within(path);
  for (const std::string& key : conf->unused_keys()) {
    talk.say(format("warning: {}: \"{}\" is not a setting of LoadGen, and is ignored", path, key));
  }
  return conf;
}

// The built-in file, the user's, an audit's, the command line: each over those before it.
Result<TestSettings> asked_settings(const ShownTest& options, const Talk& talk) {
  TestSettings settings;
  settings.scenario = *scenario_named(options.scenario);
  if (options.edition != kNoBuiltIn) {
    ASSIGN_OR_RETURN(const auto conf, builtin_conf(options.edition));
    TRY(conf.apply(options.model, settings.scenario, ConfKind::built_in, settings));
  }
  if (options.config) {
    ASSIGN_OR_RETURN(const auto conf, read_conf(*options.config, talk));
    TRY(conf.apply(options.model, settings.scenario, ConfKind::user, settings));
  }
  // A harness sets the mode when it has read its file, and an audit comes last.
  if (options.mode) settings.mode = *mode_named(*options.mode);
  if (options.audit) {
    ASSIGN_OR_RETURN(const auto conf, read_conf(*options.audit, talk));
    TRY(conf.apply("*", settings.scenario, ConfKind::user, settings));
  }
  return settings;
}

Result<Json> series_json(const EffectiveSettings& settings, const LoadedSet& set, Phase phase,
                         std::uint64_t listed_max, AccuracySampling& sampling) {
  ASSIGN_OR_RETURN(auto stream, QueryStream::make(settings, set, phase));
  sampling.begin(settings, phase);
  Json listed = Json::array();
  std::uint64_t samples = 0;
  std::uint64_t logged = 0;
  for (Query query; stream.next(query);) {
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
                         .set("samples", json_list(query.samples))
                         .set("accuracy_log", std::move(in_log)));
  }
  return Json::object()
      .set("phase", phase == Phase::accuracy ? "accuracy" : "performance")
      .set("loaded", json_list(set.samples))
      .set("query_count", stream.made())
      .set("samples_per_query", stream.samples_per_query())
      .set("duration_ns", stream.end_ns())
      .set("sample_count", samples)
      .set("accuracy_log_count", logged)
      .set("queries", std::move(listed));
}

Result<Json> plan_json(const ShownTest& options, const EffectiveSettings& settings) {
  Json series = Json::array();
  AccuracySampling sampling;
  if (settings.accuracy()) {
    for (const auto& set : loaded_sets(settings, Phase::accuracy)) {
      ASSIGN_OR_RETURN(Json one,
                       series_json(settings, set, Phase::accuracy, options.queries, sampling));
      series.push_back(std::move(one));
    }
  }
  if (settings.performance()) {
    // Only the first set is loaded.
    const auto sets = loaded_sets(settings, Phase::performance);
    ASSIGN_OR_RETURN(Json one, series_json(settings, sets.front(), Phase::performance,
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

Json stopping_json(const EarlyStopping& stopping) {
  Json out = Json::object().set("met", stopping.met).set("text", stopping.text);
  if (stopping.estimate) out.set("estimate_ns", *stopping.estimate);
  if (stopping.estimate_99) out.set("estimate_99_ns", *stopping.estimate_99);
  return out;
}

Json verdict_json(const EffectiveSettings& settings, const Verdict& verdict, std::string summary) {
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

Result<int> summarize(const ShownTest& options, const EffectiveSettings& settings,
                      const Talk& talk) {
  if (!options.record) return invalid("RECORD: summary needs the file of what was measured");
  ASSIGN_OR_RETURN(const Json json, read_json_file(*options.record));
  const auto recorded = Recorded::from_json(json);
  if (!recorded) return recorded.error().within(*options.record);
  const auto found = verdict(settings, *recorded);
  if (!found) return found.error().within(*options.record);
  std::string summary = summary_text(settings, *recorded, *found);
  talk.print(options.json ? verdict_json(settings, *found, std::move(summary)).dump() + "\n"
                          : summary);
  return exit_code(found->valid() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> show_test(const ShownTest& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const TestSettings asked, asked_settings(options, talk));
  ASSIGN_OR_RETURN(const EffectiveSettings settings,
                   effective(asked, {.total = options.samples,
                                     .performance = options.loaded.value_or(options.samples)}));
  if (options.what == "summary") return summarize(options, settings, talk);
  if (options.record) return invalid("RECORD: plan reads no record");
  ASSIGN_OR_RETURN(const Json plan, plan_json(options, settings));
  talk.print(options.json ? plan.dump() + "\n" : plan_text(plan));
  return exit_code(ExitCode::done);
}

}  // namespace assay::loadgen
