#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/verify_run.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "desk/verify_client.h"
#include "record/bundle.h"
#include "record/tar.h"

namespace assay::cli {
namespace {

int tell(const std::vector<campaign::Difference>& findings, const std::string& good, bool json) {
  if (json) {
    Json list = Json::array();
    for (const campaign::Difference& finding : findings) {
      list.push_back(Json().set("where", finding.where).set("what", finding.what));
    }
    print(Json().set("verified", findings.empty()).set("findings", std::move(list)).dump(2) + "\n");
  } else if (findings.empty()) {
    print(good + "\n");
  } else {
    for (const campaign::Difference& finding : findings) {
      print(format("{}: {}\n", finding.where, finding.what));
    }
  }
  return exit_code(findings.empty() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> cmd_verify(Args args) {
  std::string path;
  std::string key_file;
  std::string tokenizer;
  bool json = false;
  Flags flags("verify", "recompute every figure of a run from its events; check a bundle");
  flags.add("RUN_OR_BUNDLE", &path, "a run folder, or a file that `assay bundle` made").required();
  flags.add("--key=FILE", &key_file, "the bundle must be signed by this public key");
  flags.add("--tokenizer=DIR", &tokenizer,
            "of a run: count its recorded replies again, and compare with the counts it keeps");
  flags.add("--json", &json, "print the findings as JSON");
  flags.example("assay verify runs/20261120_144822");
  PARSE_OR_RETURN(flags, args);
  if (std::filesystem::is_directory(path)) {
    ASSIGN_OR_RETURN(campaign::VerifiedRun run, campaign::verify_run(path, tokenizer));
    if (!run.reference) TRY(desk::verify_client(path, run.differences));
    for (const std::string& note : run.notes) say("note: " + note);
    if (!run.counts.empty()) say(run.counts);
    const std::string good =
        run.reference
            ? format("{}: every figure that its events can give is what its {} queries come to",
                     path, run.records)
            : format("{}: every figure is what its {} records come to, and no file has changed",
                     path, run.records);
    return tell(run.differences, good, json);
  }
  if (!tokenizer.empty()) return invalid("--tokenizer: applies only to a run's folder");
  if (!record::may_be_tar(path)) {
    return invalid(format("'{}' is not a bundle\n  `assay bundle RUN` makes one", path));
  }
  std::string key;
  if (!key_file.empty()) {
    ASSIGN_OR_RETURN(key, read_file(key_file));
  }
  const auto bundle = record::check_bundle(path, key);
  if (!bundle && bundle.error().code != Code::corrupt) return bundle.error();
  std::vector<campaign::Difference> findings;
  if (!bundle) findings.push_back({path, bundle.error().message});
  const std::string good =
      bundle
          ? format("{}: {} files, unchanged since {}; {}", path, bundle->files.size(),
                   bundle->created,
                   bundle->fingerprint.empty() ? "not signed" : "signed by " + bundle->fingerprint)
          : "";
  return tell(findings, good, json);
}

}  // namespace assay::cli
