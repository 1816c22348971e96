#include <algorithm>

#include "base/flags.h"
#include "base/format.h"
#include "campaign/run_croissant.h"
#include "campaign/run_provenance.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "dataset/dataset.h"
#include "dataset/show_dataset.h"
#include "plan/dataset_spec.h"

namespace assay::cli {
namespace {

// Parses the spec with the reader of `assay run --dataset`.
Result<dataset::Spec> read_spec(const dataset::ShownDataset& options) {
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

void add_recipe_flags(Flags& flags, dataset::ShownDataset& options) {
  flags.add("--write=DIR", &options.write,
            "make the data set dlrm_v3 here, byte for byte as its published generator does");
  flags.add("--users=N", &options.recipe.users, "of dlrm_v3: in all files");
  flags.add("--items=N", &options.recipe.items, "of dlrm_v3");
  flags.add("--files=N", &options.recipe.files, "of dlrm_v3: among which the users are divided");
  flags.add("--first-files=N", &options.recipe.first_files,
            "of dlrm_v3: write only so many (the published sample is the first)");
  flags.add("--candidates=N", &options.recipe.candidates, "of dlrm_v3: to rank in a request");
}

}  // namespace

Result<int> cmd_dataset(Args args) {
  dataset::ShownDataset options;
  Flags flags("dataset", "how a dataset is read: its rows, and what they ask");
  flags.add("SPEC", &options.spec, "as assay run --dataset takes it: FILE[,key=value]…").required();
  flags.add("--rows", &options.rows,
            "rows as they stand, a line of JSON each (parquet, arrow, croissant)");
  flags.add("--check", &options.check,
            "of a Croissant file: all that is wrong in it, and its first rows; exit 1 for errors");
  flags.add("--provenance", &options.provenance,
            "of a Croissant file, or of a run's folder: where the data comes from, step by step");
  flags
      .add("--profile=NAME", &options.profile,
           "--check for whom: mlcroissant, the library; spec, what the specification requires; "
           "assay, what reading it here needs")
      .choices({"mlcroissant", "spec", "assay"});
  flags.add("--croissant=OUT", &options.croissant,
            "write the Croissant 1.1 description of a file of rows, or of a folder of results");
  flags.add("--meta=KEY=VALUE", &options.meta,
            "--croissant: a fact of the data, such as license=CC0-1.0");
  add_use_flags(flags, options.use);
  add_recipe_flags(flags, options);
  flags.add("--first=N", &options.first, "how many to show");
  flags.add("--all", &options.all, "show all");
  flags.add("--api-type=API", &options.api,
            "whose prompts: openai_completions and sglang take ids");
  flags.add("--json", &options.json, "print the summary as JSON, samples included");
  flags.example("assay dataset gpqa.csv,name=gpqa::gptoss");
  flags.example("assay dataset croissant:metadata.json#questions --rows");
  flags.example("assay dataset metadata.json --check");
  flags.example("assay dataset metadata.json --check --purpose commercial --region EU");
  flags.example("assay dataset prompts.jsonl --croissant prompts.json --meta license=CC0-1.0");
  flags.example("assay dataset dlrm_v3 --write dlrm --users 1000 --items 200000 --files 1");
  flags.example("assay dataset runs/20261120_144822 --provenance");
  PARSE_OR_RETURN(flags, args);
  if (!options.write.empty()) return dataset::write_made_data(options, console());
  if (!options.croissant.empty()) {
    return campaign::write_croissant(options.spec, options.croissant, options.meta, console());
  }
  if (options.provenance) return campaign::print_provenance(options.spec, options.json, console());
  if (options.check) return dataset::check_croissant(options, console());
  if (options.use.given()) return invalid("--purpose and the other flags of a use: need --check");
  ASSIGN_OR_RETURN(const dataset::Spec spec, read_spec(options));
  return dataset::show_dataset(spec, options, console());
}

}  // namespace assay::cli
