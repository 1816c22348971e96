#include "pipeline/airflow.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/format.h"
#include "base/json_list.h"
#include "pipeline/command_line.h"
#include "pipeline/graph.h"

namespace assay::pipeline {
namespace {

// A partition's place in a command, filled in by the task.
constexpr std::string_view kPartitionMark = "{partition}";

// What the tasks share: what a step runs, and what its conditions and files ask.
constexpr std::string_view kAirflowHead = R"PY(import glob
import json
import os
import pathlib
import subprocess
from datetime import datetime, timedelta

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, PokeReturnValue, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

PIPELINE = json.loads(r'''@PIPELINE@''')
PARTITIONS = PIPELINE["partitions"]
STEPS = PIPELINE["steps"]
ANY = "none_failed_min_one_success"  # every task before is over, and one of them led here


def fill(text, partition):
    return text.replace("{partition}", partition or "")


def run_step(step, partition=None):
    """A step's process, as `assay pipeline run` starts it."""
    wanted = STEPS[step]
    for folder in wanted["folders"]:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for file in wanted["files"]:
        pathlib.Path(file).touch()
    given = {name: fill(text, partition) for name, text in wanted["variables"].items()}
    subprocess.run([fill(word, partition) for word in wanted["words"]], check=True,
                   cwd=PIPELINE["folder"], env={**os.environ, **given}, stdin=subprocess.DEVNULL)
    for pattern in wanted["outputs"]:
        if not glob.glob(fill(pattern, partition)):
            raise AirflowFailException(f"its output {fill(pattern, partition)} is not there")


def has_file(wanted, partition=None):
    found = len(glob.glob(fill(wanted["file"], partition)))
    return found == wanted["count"] if wanted["count"] is not None else found > 0


def holds(condition, partition=None):
    if condition["type"] == "file":
        return has_file(condition, partition)
    try:
        value = json.loads(pathlib.Path(fill(condition["file"], partition)).read_text())
        for part in condition["pointer"].split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            value = value[int(part)] if isinstance(value, list) else value[part]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    bound, compare = condition["value"], condition["compare"]
    if compare == "equals":
        return value == bound and isinstance(value, bool) == isinstance(bound, bool)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value >= bound if compare == "at_least" else value <= bound


def chosen(step, partition=None):
    """The targets of the first condition that holds; else those of `else`, which may be none."""
    for branch in STEPS[step]["branches"]:
        if holds(branch["condition"], partition):
            return branch["targets"]
    return STEPS[step]["otherwise"]


def branch_after(step, conditions_in, partition=None):
    """A sensor that asks the conditions; then for each target a task that goes on or is skipped.

    Not a branch operator: inside a mapped group it skips nothing.
    """
    wanted = STEPS[step]

    @task.sensor(task_id=f"{step}_conditions", poke_interval=wanted["wait_s"], mode="reschedule")
    def ask(partition=None):
        targets = chosen(step, partition)
        return PokeReturnValue(is_done=bool(targets), xcom_value=targets)

    def way_to(target):
        @task(task_id=f"{step}_to_{target}", retries=0)
        def way(targets):
            if target not in targets:
                raise AirflowSkipException(f"'{target}' was not chosen")

        return way(asked)

    asked = ask(partition=partition)
    conditions_in >> asked
    return {target: way_to(target) for target in wanted["targets"]}


def again(step, target):
    """A DAG has no rings: a person begins the loop's next round."""

    @task(task_id=f"{step}_again_{target}", retries=0)
    def begin():
        raise AirflowFailException(f"a new round: clear the task '{target}' with all after it")

    return begin()


def process(step, partition=None):
    wanted = STEPS[step]

    @task(task_id=step, retries=wanted["retries"], max_active_tis_per_dag=wanted["limit"] or None,
          trigger_rule=ANY if wanted["joins"] else "all_success",
          execution_timeout=timedelta(seconds=wanted["timeout_s"]) if wanted["timeout_s"] else None)
    def body(partition=None):
        run_step(step, partition)

    return body(partition=partition)


def waiting(step, partition=None):
    wanted = STEPS[step]

    @task.sensor(task_id=step, poke_interval=1, mode="reschedule",
                 trigger_rule=ANY if wanted["joins"] else "all_success")
    def body(partition=None):
        return has_file(wanted["waits_for"], partition)

    return body(partition=partition)


def joining(step):
    return EmptyOperator(task_id=step, trigger_rule=ANY if STEPS[step]["joins"] else "all_success")


def approving(step):
    from airflow.providers.standard.operators.hitl import ApprovalOperator
    return ApprovalOperator(task_id=step, subject=f"{step}: go on?", fail_on_reject=True,
                            trigger_rule=ANY if STEPS[step]["joins"] else "all_success")


)PY";

std::string function_of(StepType type) {
  switch (type) {
    case StepType::process:
    case StepType::container:
      return "process";
    case StepType::wait_for_file:
      return "waiting";
    case StepType::dummy:
      return "joining";
    case StepType::manual_approval:
      return "approving";
  }
  return {};
}

class DagWriter {
 public:
  DagWriter(const Pipeline& pipeline, const Places& places, const std::string& engine)
      : pipeline_(pipeline), places_(places), engine_(engine), graph_(graph_of(pipeline)) {}

  Result<std::string> write(const std::vector<std::string>& partitions) {
    find_stages();
    Json steps = Json::object();
    for (std::size_t i = 0; i < pipeline_.steps.size(); ++i) {
      ASSIGN_OR_RETURN(Json one, step_json(i));
      steps.set(pipeline_.steps[i].id, std::move(one));
    }
    const Json all = Json()
                         .set("folder", places_.folder().string())
                         .set("partitions", json_list(partitions))
                         .set("steps", std::move(steps));
    const std::string json = all.dump(1);
    if (json.find("'''") != std::string::npos) {
      return Error{Code::unsupported, "a text with ''' in it can't be written into the DAG's file"};
    }
    std::string head(kAirflowHead);
    constexpr std::string_view kMark = "@PIPELINE@";
    head.replace(head.find(kMark), kMark.size(), json);
    return format(
               "\"\"\"An Airflow DAG of the pipeline {}, by `assay pipeline plan --export "
               "airflow`.\"\"\"\n\n",
               std::filesystem::path(pipeline_.name).filename().string()) +
           head + body();
  }

 private:
  // Partitioned steps between the same joins are one group of tasks, mapped over the partitions.
  void find_stages() {
    stage_.assign(pipeline_.steps.size(), 0);
    for (const std::size_t at : graph_.order) {
      for (const std::size_t edge : graph_.in[at]) {
        const std::size_t from = graph_.edges[edge].from;
        const bool joins = pipeline_.steps[from].partition && !pipeline_.steps[at].partition;
        stage_[at] = std::max(stage_[at], stage_[from] + (joins ? 1 : 0));
      }
    }
  }

  Json condition_json(const Condition& condition, const Step& step) const {
    static constexpr std::array<std::string_view, 3> kCompares{"equals", "at_least", "at_most"};
    return Json()
        .set("type", condition.type == ConditionType::json ? "json" : "file")
        .set("file", path_of(condition.file.path, step))
        .set("count", condition.file.count ? Json(*condition.file.count) : Json())
        .set("pointer", condition.pointer)
        .set("compare", kCompares[static_cast<std::size_t>(condition.compare)])
        .set("value", condition.value);
  }

  std::string path_of(const std::string& text, const Step& step) const {
    return (places_.folder() / fill_in(text, places_.values(step, std::string(kPartitionMark))))
        .lexically_normal()
        .string();
  }

  Result<void> add_process(const Step& step, Json& out) const {
    Json words = Json::array();
    Json variables = Json::object();
    if (step.type == StepType::process || step.type == StepType::container) {
      ASSIGN_OR_RETURN(const Launch launch,
                       launch_of(pipeline_, places_, step, std::string(kPartitionMark), engine_,
                                 "assay-" + step.id));
      for (const std::string& word : launch.words) words.push_back(word);
      for (const std::string& one : launch.variables) {
        const std::size_t equals = one.find('=');
        variables.set(one.substr(0, equals), step.partition || !one.starts_with("ASSAY_PARTITION=")
                                                 ? one.substr(equals + 1)
                                                 : std::string());
      }
    }
    Json folders = Json::array();
    Json files = Json::array();
    folders.push_back((places_.work() / "data").string());
    for (const Mount& mount : step.mounts) {
      const std::filesystem::path path = places_.host_path(mount);
      if (!mount.output) continue;
      folders.push_back((mount.file ? path.parent_path() : path).string());
      if (mount.file) files.push_back(path.string());
    }
    Json outputs = Json::array();
    for (const std::string& one : step.outputs) outputs.push_back(path_of(one, step));
    out.set("words", std::move(words))
        .set("variables", std::move(variables))
        .set("folders", std::move(folders))
        .set("files", std::move(files))
        .set("outputs", std::move(outputs));
    return {};
  }

  Result<Json> step_json(std::size_t at) const {
    const Step& step = pipeline_.steps[at];
    Json out = Json::object();
    TRY(add_process(step, out));
    Json branches = Json::array();
    for (const Branch& branch : step.next.branches) {
      const Condition& condition = *pipeline_.find_condition(branch.condition);
      if (condition.type == ConditionType::function) {
        return Error{Code::unsupported,
                     format("{}:{}: conditions.{}: Python of the author is not exported\n"
                            "  a site's file can say it without code (--site)",
                            pipeline_.name, condition.line, condition.id)};
      }
      branches.push_back(Json()
                             .set("condition", condition_json(condition, step))
                             .set("targets", json_list(branch.targets)));
    }
    Json targets = Json::array();
    for (const std::size_t edge : graph_.out[at]) {
      targets.push_back(pipeline_.steps[graph_.edges[edge].to].id);
    }
    return out.set("branches", std::move(branches))
        .set("otherwise", json_list(step.next.otherwise))
        .set("targets", std::move(targets))
        .set("wait_s", step.next.wait.seconds())
        .set("retries", step.retries)
        .set("limit", step.limit)
        .set("timeout_s", step.timeout.seconds())
        .set("joins", graph_.in[at].size() > 1)
        .set("waits_for", Json()
                              .set("file", path_of(step.file.path, step))
                              .set("count", step.file.count ? Json(*step.file.count) : Json()));
  }

  // The lines that make a step's task and the branch after it.
  std::string task_lines(std::size_t at, const std::string& indent) const {
    const Step& step = pipeline_.steps[at];
    const bool takes = step.type != StepType::dummy && step.type != StepType::manual_approval;
    const std::string partition = step.partition ? ", partition" : "";
    std::string out = format("{}tasks[\"{}\"] = {}(\"{}\"{})\n", indent, step.id,
                             function_of(step.type), step.id, takes ? partition : "");
    if (!step.next.conditional()) return out;
    return out + format("{}ways[\"{}\"] = branch_after(\"{}\", tasks[\"{}\"]{})\n", indent, step.id,
                        step.id, step.id, partition);
  }

  std::string edge_line(const Edge& edge, const std::string& indent) const {
    const std::string& from = pipeline_.steps[edge.from].id;
    const std::string& to = pipeline_.steps[edge.to].id;
    const std::string source =
        edge.conditional ? format("ways[\"{}\"][\"{}\"]", from, to) : format("tasks[\"{}\"]", from);
    if (edge.back) return format("{}{} >> again(\"{}\", \"{}\")\n", indent, source, from, to);
    return format("{}{} >> tasks[\"{}\"]\n", indent, source, to);
  }

  bool inside(const Edge& edge) const {
    return pipeline_.steps[edge.from].partition && pipeline_.steps[edge.to].partition &&
           (edge.back || stage_[edge.from] == stage_[edge.to]);
  }

  std::string group_lines(std::size_t stage) const {
    const std::string name = format("partitions_{}", stage);
    std::string out =
        format("\n    @task_group(group_id=\"{}\")\n    def {}(partition):\n", name, name);
    for (const std::size_t at : graph_.order) {
      if (!pipeline_.steps[at].partition || stage_[at] != stage) continue;
      out += task_lines(at, "        ");
    }
    for (const Edge& edge : graph_.edges) {
      if (inside(edge) && stage_[edge.from] == stage) out += edge_line(edge, "        ");
    }
    return out + format("\n    {}.expand(partition=PARTITIONS)\n\n", name);
  }

  std::string body() const {
    std::string out = format(
        "with DAG(dag_id=\"{}\", start_date=datetime(2024, 1, 1), schedule=None, catchup=False) as "
        "dag:\n"
        "    tasks = {{}}\n    ways = {{}}\n",
        std::filesystem::path(pipeline_.name).stem().string());
    std::set<std::size_t> stages;
    for (const std::size_t at : graph_.order) {
      if (!pipeline_.steps[at].partition) {
        out += task_lines(at, "    ");
      } else if (stages.insert(stage_[at]).second) {
        out += group_lines(stage_[at]);
      }
    }
    for (const Edge& edge : graph_.edges) {
      if (!inside(edge)) out += edge_line(edge, "    ");
    }
    return out + "\n\nif __name__ == \"__main__\":\n    dag.test()\n";
  }

  const Pipeline& pipeline_;
  const Places& places_;
  const std::string& engine_;
  Graph graph_;
  std::vector<std::size_t> stage_{};
};

}  // namespace

Result<std::string> airflow_dag(const Pipeline& pipeline, const Places& places,
                                const std::vector<std::string>& partitions,
                                const std::string& engine) {
  TRY(places.check());
  return DagWriter(pipeline, places, engine).write(partitions);
}

}  // namespace assay::pipeline
