
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "explorer/board.h"
#include "explorer/export.h"
#include "explorer/page.h"
#include "store/open_store.h"

namespace assay::cli {

Result<int> cmd_export(Args args) {
  std::string folder;
  std::string where;
  bool json = false;
  bool no_events = false;
  std::string holidays;
  explorer::ExportOptions options;
  Flags flags("export", "the explorer as static files, for any web host and for a double click");
  flags.add("DIR", &folder, "a new folder, or an earlier export").required();
  flags.add("--store=STORE", &where,
            "a file, or postgresql://…; else ~/.local/share/assay/store.db");
  flags.add("--model=NAME", &options.curves.model, "only curves of this model");
  flags.add("--organisation=NAME", &options.curves.organisation,
            "only curves of this organisation");
  flags.add("--submission=ID", &options.curves.submission, "only curves of this submission");
  flags.add("--no-events", &no_events, "without the waterfalls");
  flags.add("--json", &json, "print what was written as JSON");
  flags.add("--holidays=FILE", &holidays, "dates that the review board's business days leave out");
  flags.example("assay export public/");
  PARSE_OR_RETURN(flags, args);
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code ignored;
  const bool own = where.empty() || where == "default";
  const std::string place = own ? store::default_store() : where;
  if (place.find("://") == std::string::npos && !std::filesystem::exists(place, ignored)) {
    return Error{Code::not_found,
                 format("--store: '{}' does not exist\n  `assay import RESULTS{}` makes it", place,
                        own ? "" : " --store " + where)};
  }
  options.events = !no_events;
  ASSIGN_OR_RETURN(options.holidays, explorer::read_holidays(holidays));
  ASSIGN_OR_RETURN(const auto store, store::open_store(where));
  ASSIGN_OR_RETURN(const auto counts, explorer::export_page(*store, folder, options));
  if (explorer::page_file("explorer.js") == nullptr) {
    say("note: built without npm, so the folder holds the data and no page");
  }
  if (json) {
    print(Json()
              .set("documents", counts.documents)
              .set("files", counts.files)
              .set("bytes", counts.bytes)
              .dump(2) +
          "\n");
  } else {
    print(format("{}: {} documents, {} files, {}; open {}/index.html\n", folder, counts.documents,
                 counts.files, human_bytes(counts.bytes), folder));
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
