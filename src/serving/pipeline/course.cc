#include "pipeline/course.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/airflow.h"
#include "pipeline/author_code.h"
#include "pipeline/pipeline.h"
#include "pipeline/plan_text.h"
#include "pipeline/runner.h"

namespace assay::pipeline {
namespace {

constexpr std::size_t kPipelineBytesMax = std::size_t{16} << 20;

Result<std::pair<std::string, std::string>> name_and_value(std::string_view flag,
                                                           const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == std::string::npos) {
    return invalid(format("{}: expected NAME=VALUE, not '{}'", flag, text));
  }
  return std::pair{text.substr(0, at), text.substr(at + 1)};
}

Result<Pipeline> load_pipeline(const PipelineOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, read_file(options.file, kPipelineBytesMax));
  ASSIGN_OR_RETURN(Pipeline pipeline, read_pipeline(text, options.file));
  if (!options.site.empty()) {
    ASSIGN_OR_RETURN(const std::string site, read_file(options.site, kPipelineBytesMax));
    ASSIGN_OR_RETURN(pipeline, with_site(std::move(pipeline), site, options.site));
  }
  for (const std::string& one : options.inputs) {
    ASSIGN_OR_RETURN(const auto given, name_and_value("--input", one));
    pipeline.site.inputs[given.first] =
        std::filesystem::absolute(given.second).lexically_normal().string();
  }
  for (const std::string& one : options.parameters) {
    ASSIGN_OR_RETURN(const auto given, name_and_value("--parameter", one));
    pipeline.site.parameters[given.first] = given.second;
  }
  return pipeline;
}

std::filesystem::path work_of(const PipelineOptions& options) {
  const std::filesystem::path work =
      options.work.empty() ? std::filesystem::path(options.file).replace_extension(".work")
                           : std::filesystem::path(options.work);
  return std::filesystem::absolute(work).lexically_normal();
}

std::string engine_of(const PipelineOptions& options) {
  if (options.engine == "none") return {};
  if (options.engine != "auto") return options.engine;
  const char* const path = std::getenv("PATH");
  for (const std::string name : {"podman", "docker"}) {
    for (const std::string_view place : split(path == nullptr ? "" : path, ':')) {
      if (::access((std::string(place) + "/" + name).c_str(), X_OK) == 0) return name;
    }
  }
  return {};
}

Result<int> export_dag(const PipelineOptions& options, const Pipeline& pipeline, const Talk& talk) {
  const Places places(pipeline, std::filesystem::absolute(options.file).parent_path(),
                      work_of(options));
  std::vector<std::string> partitions;
  if (std::ranges::any_of(pipeline.steps, [](const auto& step) { return step.partition; })) {
    ASSIGN_OR_RETURN(partitions, places.partitions());
  }
  ASSIGN_OR_RETURN(const std::string dag,
                   airflow_dag(pipeline, places, partitions, engine_of(options)));
  talk.print(options.json ? Json().set("dag", dag).dump(2) + "\n" : dag);
  return exit_code(ExitCode::done);
}

Result<int> show_plan(const PipelineOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const Pipeline pipeline, load_pipeline(options));
  if (!options.exported.empty()) return export_dag(options, pipeline, talk);
  talk.print(options.json ? plan_json(pipeline).dump(2) + "\n" : plan_text(pipeline));
  return exit_code(ExitCode::done);
}

std::string count_line(const Step& step, const Counts& one) {
  std::string out = format("{:<28}{} of {} done", step.id, count_text(one.done),
                           count_text(one.total - one.skipped));
  if (one.running > 0) out += format(", {} running", count_text(one.running));
  if (one.waiting > 0) out += format(", {} waiting", count_text(one.waiting));
  if (one.failed > 0) out += format(", {} failed", count_text(one.failed));
  return out + "\n";
}

// The steps that are on their way: "ingest 3 of 10, 2 running; agree 0 of 1, 1 waiting".
std::string progress_line(const Json& progress) {
  std::string out;
  for (const Json& step : progress["steps"].items()) {
    const std::uint64_t total = step["total"].as_uint() - step["skipped"].as_uint();
    std::string more;
    for (const char* const word : {"running", "waiting", "failed"}) {
      const std::uint64_t count = step[word].as_uint();
      if (count > 0) more += format(", {} {}", count_text(count), word);
    }
    if (more.empty()) continue;
    out += format("{}{} {} of {}{}", out.empty() ? "" : "; ", step["id"].as_string(),
                  count_text(step["done"].as_uint()), count_text(total), more);
  }
  return out.empty() ? std::string(progress["execution_status"].as_string()) : out;
}

// One line that is written again in a terminal, else a line for each change.
std::function<void(const Json&)> watcher(const Talk& talk) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return [terminal, &talk, last = std::string()](const Json& progress) mutable {
    std::string line = progress_line(progress);
    if (line == last) return;
    if (!terminal) talk.say(line);
    if (terminal) talk.paint("\r\x1b[K" + line);
    if (terminal && progress["execution_status"].as_string() != "running") talk.paint("\n");
    last = std::move(line);
  };
}

Result<int> run_it(const PipelineOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const Pipeline pipeline, load_pipeline(options));
  RunSettings settings{.folder = std::filesystem::absolute(options.file).parent_path(),
                       .work = work_of(options),
                       .jobs = std::max<std::size_t>(options.jobs, 1),
                       .waits = !options.no_wait,
                       .container_engine = engine_of(options)};
  if (options.watch) settings.report = watcher(talk);
  if (options.allow_code) {
    settings.code_condition = [](const Condition& condition, const Places& places, const Step&,
                                 const std::string& partition) {
      return ask_author(condition.function, places, partition);
    };
    settings.code_partitions = [](const PartitionDef& def, const Places& places) {
      return list_by_author(def.function, places);
    };
  }
  OsClock clock;
  ASSIGN_OR_RETURN(const RunEnd end, run_pipeline(pipeline, settings, clock));
  Json json = progress_json(pipeline, end.counts, false)
                  .set("processes", end.started)
                  .set("leftovers", end.leftovers)
                  .set("work", settings.work.string());
  if (options.json) {
    talk.print(json.dump(2) + "\n");
  } else {
    for (std::size_t i = 0; i < end.counts.size(); ++i) {
      talk.print(count_line(pipeline.steps[i], end.counts[i]));
    }
  }
  for (const std::string& why : end.why) talk.say("failed: " + why);
  if (end.interrupted) return exit_code(ExitCode::interrupted);
  if (end.failed > 0) return exit_code(ExitCode::findings);
  if (end.waiting > 0) {
    talk.say(format("{} {} for a person or a file; assay pipeline status {} says which",
                    end.waiting, end.waiting == 1 ? "waits" : "wait", options.file));
  }
  return exit_code(ExitCode::done);
}

Result<Json> state_of(const PipelineOptions& options) {
  const std::filesystem::path path = work_of(options) / "state.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Error{Code::not_found, format("'{}' is not there: this pipeline has not run\n"
                                         "  assay pipeline run {}, or its --work FOLDER",
                                         path.string(), options.file)};
  }
  return read_json_file(path);
}

Result<int> show_status(const PipelineOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(Json state, state_of(options));
  const bool running = is_running(work_of(options));
  // A run that was killed could not say so.
  if (!running && state["execution_status"].as_string() == "running") {
    state.set("execution_status", "stopped");
  }
  if (options.json) {
    talk.print(state.dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  talk.print(format("{}\n", state["execution_status"].as_string()));
  for (const Json& step : state["steps"].items()) {
    talk.print(count_line({.id = std::string(step["id"].as_string())},
                          {.total = step["total"].as_uint(),
                           .done = step["done"].as_uint(),
                           .running = step["running"].as_uint(),
                           .waiting = step["waiting"].as_uint(),
                           .failed = step["failed"].as_uint(),
                           .skipped = step["skipped"].as_uint()}));
  }
  for (const auto& [list, last] : {std::pair{"waiting", "for"}, std::pair{"failed", "why"}}) {
    for (const Json& one : state[list].items()) {
      const std::string_view partition = one["partition"].as_string();
      talk.print(format("{}: {}{}{}, {}\n", list, one["step"].as_string(),
                        partition.empty() ? "" : " of ", partition, one[last].as_string()));
    }
  }
  return exit_code(ExitCode::done);
}

Result<void> need_step(const PipelineOptions& options, const Pipeline& pipeline) {
  if (options.step.empty()) return invalid(format("STEP: name the step to {}", options.act));
  if (pipeline.find(options.step) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const Step& one : pipeline.steps) names.push_back(one.id);
  const std::string_view near = nearest(options.step, names);
  return invalid(format("STEP: there is no step '{}'{}", options.step,
                        near.empty() ? "" : format("\n  did you mean '{}'?", near)));
}

std::string person(const PipelineOptions& options) {
  const char* const user = std::getenv("USER");
  return !options.by.empty() ? options.by : user != nullptr ? user : "unknown";
}

Result<int> decide_step(const PipelineOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const Pipeline pipeline, load_pipeline(options));
  TRY(need_step(options, pipeline));
  ASSIGN_OR_RETURN(const Json state, state_of(options));
  std::uint64_t decided = 0;
  for (const char* const list : {"waiting", "failed"}) {
    for (const Json& one : state[list].items()) {
      const bool asked = one["for"].as_string() == "approval" ||
                         one["why"].as_string().starts_with("rejected by ");
      if (!asked || one["step"].as_string() != options.step) continue;
      if (!options.partition.empty() && one["partition"].as_string() != options.partition) continue;
      TRY(append_act(work_of(options), Json()
                                           .set("t", options.act)
                                           .set("step", options.step)
                                           .set("part", one["partition"])
                                           .set("key", one["key"])
                                           .set("by", person(options))));
      ++decided;
    }
  }
  if (decided == 0) {
    return invalid(format("{}: no approval is waited for there; see: assay pipeline status {}",
                          options.step, options.file));
  }
  if (options.json) talk.print(Json().set("decided", decided).dump(2) + "\n");
  if (!options.json)
    talk.print(format("{} {}\n", options.act == "approve" ? "approved" : "rejected", decided));
  return exit_code(ExitCode::done);
}

Result<int> restart_step(const PipelineOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const Pipeline pipeline, load_pipeline(options));
  TRY(need_step(options, pipeline));
  ASSIGN_OR_RETURN(const Json state, state_of(options));
  if (is_running(work_of(options))) {
    return Error{Code::refused, "this pipeline runs now; end that run first"};
  }
  TRY(append_act(work_of(options), Json()
                                       .set("t", "restart")
                                       .set("step", options.step)
                                       .set("part", options.partition)
                                       .set("following", options.following)
                                       .set("by", person(options))));
  if (options.json) talk.print(Json().set("restarts", options.step).dump(2) + "\n");
  if (!options.json) talk.print(format("{} runs again at the next run\n", options.step));
  return exit_code(ExitCode::done);
}

Result<int> show_logs(const PipelineOptions& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const Pipeline pipeline, load_pipeline(options));
  TRY(need_step(options, pipeline));
  const std::filesystem::path path = log_path(work_of(options), options.step, options.partition);
  const auto text = read_file(path);
  if (!text) {
    return Error{text.error().code,
                 text.error().message + (options.partition.empty() ? "\n  --partition NAME?" : "")};
  }
  talk.print(options.json ? Json().set("log", *text).dump(2) + "\n" : *text);
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> act_on_pipeline(const PipelineOptions& options, const Talk& talk) {
  if (options.act == "plan") return show_plan(options, talk);
  if (options.act == "run") return run_it(options, talk);
  if (options.act == "status") return show_status(options, talk);
  if (options.act == "restart") return restart_step(options, talk);
  if (options.act == "logs") return show_logs(options, talk);
  return decide_step(options, talk);
}

}  // namespace assay::pipeline
