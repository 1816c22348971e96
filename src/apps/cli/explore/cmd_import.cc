#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/store_flags.h"
#include "explorer/import.h"
#include "explorer/import_course.h"

namespace assay::cli {

campaign::ResultsStore make_store(const std::string& where) {
  return {.check = [where] { return explorer::check_store(where); },
          .put =
              [where](const std::filesystem::path& folder) {
                return explorer::put_in_store(folder, where, console());
              }};
}

void add_import_flags(Flags& flags, explorer::ImportOptions& o) {
  flags.group("What the files do not say, or say otherwise");
  flags.add("--system=NAME", &o.system, "the system's name");
  flags.add("--system-desc=FILE", &o.description, "a system_desc.json for runs that have none");
  flags.add("--model=NAME", &o.model, "the model");
  flags.add("--dataset=NAME", &o.dataset, "the dataset");
  flags.add("--organisation=NAME", &o.organisation, "whose system it is");
  flags.add("--division=WORD", &o.division, "the division")
      .choices({"Standardized", "Serviced", "RDI"});
  flags.add("--availability=WORD", &o.availability, "whether it can be bought")
      .choices({"Available", "Preview", "RDI"});
  flags.add("--accelerator=NAME", &o.accelerator, "the accelerator");
  flags.add("--accelerators=N", &o.accelerators, "how many of them").without_default();
  flags.add("--software=NAME", &o.software, "the serving framework");
  flags.add("--submission=ID", &o.submission, "the submission's id");
  flags.add("--published=YYYY-MM-DD", &o.published, "the day on which the results were published");
  flags.add("--power-kw=KW", &o.power_kw, "provisioned power of the system").without_default();
  flags
      .add("--max-concurrency=N", &o.concurrency_max,
           "the highest concurrency that the system supports: gives single runs their region")
      .without_default();
  flags.add("--twin-of=CURVE", &o.twin_of,
            "of what is simulated: the measured curve that it stands beside, by its id");
  flags.add("--price=DOLLARS", &o.price_per_hour, "what the system costs an hour")
      .without_default();
  flags.group("");
}

Result<int> cmd_import(Args args) {
  explorer::ImportAsked asked;
  Flags flags("import", "results of any kind into the store that `assay serve` shows");
  flags
      .add("PATH", &asked.paths,
           "run folders, curve folders, submission trees, folders of LoadGen's logs, result files "
           "and tables, Croissant files")
      .required();
  flags.add("--store=STORE", &asked.store,
            "a file, or postgresql://…; else ~/.local/share/assay/store.db");
  flags.add("--json", &asked.json, "print what was put as JSON");
  add_import_flags(flags, asked.options);
  flags.example("assay import runs/20261120_144822 --system \"8 x H200, vLLM 0.14\"");
  PARSE_OR_RETURN(flags, args);
  return explorer::import_all(asked, console());
}

}  // namespace assay::cli
