#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/quality/dataset_croissant.h"
#include "cli/quality/dataset_provenance.h"
#include "cli/use_flags.h"
#include "dataset/croissant.h"
#include "dataset/croissant_check.h"
#include "dataset/dataset.h"
#include "dataset/dlrm_data.h"
#include "dataset/use_policy.h"
#include "plan/config_reader.h"
#include "plan/dataset_spec.h"
#include "plan/make_plan.h"

namespace assay::cli {
namespace {

struct DatasetOptions {
  std::string spec{};
  std::string api = "openai";
  std::uint64_t first = 3;
  bool rows = false;
  bool all = false;
  bool check = false;
  bool provenance = false;
  std::string croissant{};
  std::vector<std::string> meta{};
  std::string profile = "mlcroissant";
  UseFlags use{};
  std::string write{};
  dataset::DlrmRecipe recipe{};
  bool json = false;
};

// The sample as JSON, without empty fields.
Json sample_json(const Sample& sample) {
  Json out = Json::object();
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.set(name, value);
  };
  const auto tree = [&](const char* name, const Json& value) {
    if (!value.is_null()) out.set(name, value);
  };
  text("system", sample.system);
  text("prompt", sample.prompt);
  tree("content_parts", sample.content_parts);
  tree("messages", sample.messages.json());
  if (!sample.input_tokens.empty()) {
    Json ids = Json::array();
    for (const std::int32_t id : sample.input_tokens) ids.push_back(id);
    out.set("input_tokens", std::move(ids));
  }
  tree("tools", sample.tools);
  tree("tool_choice", sample.tool_choice);
  tree("body", sample.body);
  if (sample.output_tokens_max > 0) out.set("output_tokens_max", sample.output_tokens_max);
  if (sample.input_length >= 0) out.set("input_length", sample.input_length);
  text("session", sample.session);
  tree("columns", sample.columns);
  return out;
}

// Parses the spec with the reader of `assay run --dataset`.
Result<dataset::Spec> read_spec(const DatasetOptions& options) {
  plan::Reading reading;
  reading.enter("SPEC", true);
  plan::DatasetConfig data;
  plan::read_dataset(yaml::Node::scalar(options.spec), data, "dataset", reading);
  if (!reading.problems.empty()) {
    const plan::Problem& first = reading.problems.front();
    return invalid(format("{}: {}\n  {}", first.path, first.what, first.hint));
  }
  const std::optional<Api> api = api_from(options.api);
  dataset::Spec spec{
      .name = data.name,
      .path = data.path,
      .format = data.format,
      .parser = data.parser,
      .rows_max = data.rows_max,
      .prefer_token_ids = api && row_of(*api).takes_token_ids,
      .kind_columns = api ? row_of(*api).columns : std::span<const std::string_view>{},
      .prompt_format = data.prompt_format,
      .all_turns = data.turns == plan::Turns::all,
      .keep_columns = options.json,
      .keep_max = options.all ? 0 : std::max<std::uint64_t>(1, options.first)};
  return spec;
}

Result<void> print_rows(const dataset::Spec& spec, const DatasetOptions& options) {
  ASSIGN_OR_RETURN(const auto source, dataset::open_rows(spec));
  for (std::uint64_t i = 0; options.all || i < options.first; ++i) {
    if (spec.rows_max > 0 && i == spec.rows_max) break;
    ASSIGN_OR_RETURN(const auto row, source->next());
    if (!row) break;
    print(row->dump() + "\n");
  }
  return {};
}

// What the file says of the use that the flags state; nullopt if they state none.
Result<std::optional<dataset::croissant::UseVerdict>> judged_use(const DatasetOptions& options,
                                                                 const std::string& text,
                                                                 const std::string& record_set) {
  if (!options.use.given()) return std::optional<dataset::croissant::UseVerdict>();
  ASSIGN_OR_RETURN(dataset::croissant::DataUse use, options.use.use());
  use.record_set = record_set;
  const auto json = Json::parse(text);
  return std::optional(dataset::croissant::judge_use(json ? *json : Json(), use));
}

void print_use(const dataset::croissant::UseVerdict& verdict) {
  print(format("use: {}\n", to_string(verdict.allowed)));
  for (const auto& one : verdict.decided) print(format("  {}: {}\n", one.where, one.what));
}

// Prints all faults of a Croissant file; exit code 1 if there are any, or if the use that the flags
// state is not allowed.
Result<int> check(const DatasetOptions& options) {
  const auto [file, record_set, filters] = dataset::croissant_spec(options.spec);
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  ASSIGN_OR_RETURN(const auto use, judged_use(options, text, record_set));
  std::vector<dataset::croissant::Finding> findings = dataset::croissant::check_document(text);
  const auto is_error = [](const dataset::croissant::Finding& one) { return one.error; };
  const bool readable = std::none_of(findings.begin(), findings.end(), is_error);
  if (readable) {
    for (auto& one : dataset::croissant::check_rows(file, options.first)) {
      findings.push_back(std::move(one));
    }
  }
  dataset::croissant::judge_for(*dataset::croissant::profile_from(options.profile), findings);
  const auto errors = std::count_if(findings.begin(), findings.end(), is_error);
  // A document can be valid though its data are not there, except for a reader of the rows.
  const bool valid = std::ranges::none_of(findings, [&](const dataset::croissant::Finding& one) {
    return one.error && (one.rule != "rows" || options.profile == "assay");
  });
  Json list = Json::array();
  for (const auto& one : findings) {
    const char* const severity = one.error ? "error" : "warning";
    list.push_back(Json()
                       .set("severity", severity)
                       .set("rule", one.rule)
                       .set("where", one.where)
                       .set("what", one.what));
    if (!options.json) print(format("{}  {}: {}: {}\n", severity, one.rule, one.where, one.what));
  }
  if (options.json) {
    Json out =
        Json().set("profile", options.profile).set("valid", valid).set("findings", std::move(list));
    if (use) out.set("use", use->to_json());
    print(out.dump(2) + "\n");
  } else {
    print(format("{}: {} errors, {} warnings\n", file, errors,
                 static_cast<std::ptrdiff_t>(findings.size()) - errors));
  }
  if (use && !options.json) print_use(*use);
  const bool allowed = !use || use->allowed == dataset::croissant::Allowed::allow;
  return exit_code(errors == 0 && allowed ? ExitCode::done : ExitCode::findings);
}

// Makes the data set of a benchmark whose data a published program makes.
Result<int> write_made(const DatasetOptions& options) {
  if (options.spec != "dlrm_v3") {
    return invalid(
        format("--write: '{}' is made by no generator here; there is dlrm_v3", options.spec));
  }
  TRY(dataset::write_dlrm_data(options.recipe, options.write));
  say(
      format("{}: {} users, {} steps\n  ask them: assay run --scenario server --api-type kserve "
             "--dataset {},format=dlrm_v3 …",
             options.write, with_thousands(static_cast<std::int64_t>(options.recipe.users)),
             options.recipe.steps, options.write));
  return exit_code(ExitCode::done);
}

void add_recipe_flags(Flags& flags, DatasetOptions& options) {
  flags
      .add("--write", &options.write,
           "make the data set dlrm_v3 here, byte for byte as its published generator does")
      .value("DIR");
  flags.add("--users", &options.recipe.users, "of dlrm_v3: in all files").value("N");
  flags.add("--items", &options.recipe.items, "of dlrm_v3").value("N");
  flags.add("--files", &options.recipe.files, "of dlrm_v3: among which the users are divided")
      .value("N");
  flags
      .add("--first-files", &options.recipe.first_files,
           "of dlrm_v3: write only so many (the published sample is the first)")
      .value("N");
  flags.add("--candidates", &options.recipe.candidates, "of dlrm_v3: to rank in a request")
      .value("N");
}

Result<int> show_data(const Dataset& data, const DatasetOptions& options) {
  const std::uint64_t count = data.rows() + data.not_kept;
  Json out = Json::object();
  out.set("name", data.name).set("sha256", data.sha256).set("samples", count);
  if (!data.arrivals.empty()) out.set("trace_seconds", data.arrivals.back().seconds());
  Json notes = Json::array();
  for (const std::string& note : data.notes) notes.push_back(note);
  out.set("notes", std::move(notes));
  Json shown = Json::array();
  Sample room;
  for (std::size_t i = 0; i < data.rows() && (options.all || i < options.first); ++i) {
    shown.push_back(sample_json(data.row(i, room)));
  }
  if (options.json) {
    out.set("shown", std::move(shown));
    print(out.dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  print(format("{}: {} samples, sha256 {}\n", data.name,
               with_thousands(static_cast<std::int64_t>(count)), data.sha256));
  for (const std::string& note : data.notes) print(format("  {}\n", note));
  for (const Json& sample : shown.items()) print(sample.dump() + "\n");
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_dataset(Args args) {
  DatasetOptions options;
  Flags flags("dataset", "how a dataset is read: its rows, and what they ask");
  flags.add("SPEC", &options.spec, "as assay run --dataset takes it: FILE[,key=value]…").required();
  flags.add("--rows", &options.rows,
            "rows as they stand, a line of JSON each (parquet, arrow, croissant)");
  flags.add("--check", &options.check,
            "of a Croissant file: all that is wrong in it, and its first rows; exit 1 for errors");
  flags.add("--provenance", &options.provenance,
            "of a Croissant file, or of a run's folder: where the data comes from, step by step");
  flags
      .add("--profile", &options.profile,
           "--check for whom: mlcroissant, the library; spec, what the specification requires; "
           "assay, what reading it here needs")
      .value("NAME")
      .choices({"mlcroissant", "spec", "assay"});
  flags
      .add("--croissant", &options.croissant,
           "write the Croissant 1.1 description of a file of rows, or of a folder of results")
      .value("OUT");
  flags.add("--meta", &options.meta, "--croissant: a fact of the data, such as license=CC0-1.0")
      .value("KEY=VALUE");
  add_use_flags(flags, options.use);
  add_recipe_flags(flags, options);
  flags.add("--first", &options.first, "how many to show").value("N");
  flags.add("--all", &options.all, "show all");
  flags.add("--api-type", &options.api, "whose prompts: openai_completions and sglang take ids")
      .value("API");
  flags.add("--json", &options.json, "print the summary as JSON, samples included");
  flags.example("assay dataset gpqa.csv,name=gpqa::gptoss");
  flags.example("assay dataset croissant:metadata.json#questions --rows");
  flags.example("assay dataset metadata.json --check");
  flags.example("assay dataset metadata.json --check --purpose commercial --region EU");
  flags.example("assay dataset prompts.jsonl --croissant prompts.json --meta license=CC0-1.0");
  flags.example("assay dataset dlrm_v3 --write dlrm --users 1000 --items 200000 --files 1");
  flags.example("assay dataset runs/20261120_144822 --provenance");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  if (!options.write.empty()) return write_made(options);
  if (!options.croissant.empty()) {
    return write_croissant(options.spec, options.croissant, options.meta);
  }
  if (options.provenance) return print_provenance(options.spec, options.json);
  if (options.check) return check(options);
  if (options.use.given()) return invalid("--purpose and its like: belong to --check");
  ASSIGN_OR_RETURN(const dataset::Spec spec, read_spec(options));
  if (options.rows) {
    TRY(print_rows(spec, options));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const Dataset data, dataset::load_dataset(spec));
  return show_data(data, options);
}

}  // namespace assay::cli
