#include "pipeline/author_code.h"

#include "base/format.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "score/code/sandbox.h"

namespace assay::pipeline {
namespace {

// Reads {function, paths, state} and answers {value} or {raised}. What the function prints goes to
// standard error. Exit code 3: there is no such function.
constexpr const char* kAuthorHarness = R"PY(
import importlib, json, os, sys, types
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
job = json.load(sys.stdin)
sys.path[:0] = job["paths"]
module, name = job["function"].rsplit(".", 1)
try:
    function = getattr(importlib.import_module(module), name)
except (ImportError, AttributeError) as error:
    print(error, file=sys.stderr)
    sys.exit(3)
state = types.SimpleNamespace(airflow_kwargs={}, **job["state"])
try:
    value = function(state)
    answer = {"value": [str(one) for one in value] if job["lists"] else bool(value)}
except Exception as error:
    answer = {"raised": f"{type(error).__name__}: {error}"}
json.dump(answer, answers)
answers.close()
)PY";

constexpr Duration kAuthorTime{60'000'000'000};
constexpr std::uint64_t kAuthorMemory = std::uint64_t{2} << 30;

Json state_of_run(const Places& places, const std::string& partition) {
  const auto path = [&](const std::string& name) {
    return places.host_path(Mount{.name = name}).string();
  };
  return Json()
      .set("running_subject", partition.empty() ? Json() : Json(partition))
      .set("host_input_data_path", path("data_path"))
      .set("host_output_data_path", path("output_path"))
      .set("host_labels_path", path("labels_path"))
      .set("host_output_labels_path", path("output_labels_path"));
}

Result<Json> call_author(const std::string& function, const Places& places,
                         const std::string& partition, bool lists) {
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("pipeline"));
  Json paths = Json::array();
  paths.push_back(places.host_path(Mount{.name = "additional_files"}).string());
  for (const char* const place : {"", "additional_files", "workspace/additional_files"}) {
    paths.push_back((places.folder() / place).lexically_normal().string());
  }
  const Json job = Json()
                       .set("function", function)
                       .set("paths", std::move(paths))
                       .set("state", state_of_run(places, partition))
                       .set("lists", lists);
  score::Program program{
      .commands = {{"python3", "-I", "-B", "-c", kAuthorHarness}},
      .input = job.dump(),
      .folder = scratch.path(),
      .time_max = kAuthorTime,
      .jail = score::Jail{.view = score::Jail::View::disk, .memory_bytes_max = kAuthorMemory}};
  ASSIGN_OR_RETURN(const score::ProgramEnd end, score::run_program(program));
  if (end.exit_code != 0) {
    const std::string why = end.out_of_time ? std::string("it ran longer than a minute") : end.err;
    return invalid(format("{}: the author's function could not be called: {}", function, why));
  }
  return Json::parse(end.out);
}

}  // namespace

Result<bool> ask_author(const std::string& function, const Places& places,
                        const std::string& partition) {
  ASSIGN_OR_RETURN(const Json answer, call_author(function, places, partition, false));
  return answer["value"].as_bool();
}

Result<std::vector<std::string>> list_by_author(const std::string& function, const Places& places) {
  ASSIGN_OR_RETURN(const Json answer, call_author(function, places, {}, true));
  if (answer.find("value") == nullptr) {
    return invalid(format("{}: {}", function, answer["raised"].as_string()));
  }
  std::vector<std::string> out;
  for (const Json& one : answer["value"].items()) out.emplace_back(one.as_string());
  return out;
}

}  // namespace assay::pipeline
