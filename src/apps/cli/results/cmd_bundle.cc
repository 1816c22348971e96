#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/signature.h"
#include "base/version.h"
#include "campaign/curve/curve_folder.h"
#include "campaign/run_croissant.h"
#include "campaign/run_folder.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "interchange/read/reference_run.h"
#include "record/bundle.h"
#include "record/event_log.h"

namespace assay::cli {

Result<int> cmd_bundle(Args args) {
  std::string folder;
  std::string out;
  std::string key_file;
  bool json = false;
  Flags flags("bundle", "a run folder as one file in which no byte can change unseen");
  flags.add("RUN", &folder, "the run's folder").required();
  flags.add("--output,-o=FILE", &out, "the file to write; RUN.tar unless said");
  flags.add("--key=FILE", &key_file, "sign it with this private key (assay key)");
  flags.add("--json", &json, "print what is in it as JSON");
  PARSE_OR_RETURN(flags, args);
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (out.empty()) out = folder + ".tar";
  // A bundle must allow recomputation: a run, or a curve of runs.
  if (!campaign::CurveFolder::is_curve(folder) && !interchange::is_reference_folder(folder)) {
    TRY(record::find_event_logs(campaign::log_folder(folder)));
  }
  ASSIGN_OR_RETURN(const Json described, campaign::describe_folder(folder, "", {}));
  record::BundleOptions options{.created = wall_now(),
                                .made_by = format("assay {}", version()),
                                .added_name = campaign::kRunCroissant,
                                .added_text = described.dump(2) + "\n"};
  if (!key_file.empty()) {
    ASSIGN_OR_RETURN(options.private_key_pem, read_file(key_file));
  }
  ASSIGN_OR_RETURN(const record::Bundle bundle, record::make_bundle(folder, out, options));
  const std::string by =
      bundle.fingerprint.empty() ? "not signed" : "signed by " + bundle.fingerprint;
  if (json) {
    print(Json()
              .set("bundle", out)
              .set("files", bundle.files.size())
              .set("created", bundle.created)
              .set("fingerprint", bundle.fingerprint)
              .dump(2) +
          "\n");
  } else {
    print(format("{}: {} files, {}\n", out, bundle.files.size(), by));
  }
  return exit_code(ExitCode::done);
}

Result<int> cmd_key(Args args) {
  std::string file;
  bool json = false;
  Flags flags("key", "make an Ed25519 key pair: FILE is secret, FILE.pub is for others");
  flags.add("FILE", &file, "where the private key goes; never over a file that is there")
      .required();
  flags.add("--json", &json, "print the names and the fingerprint as JSON");
  PARSE_OR_RETURN(flags, args);
  if (std::filesystem::exists(file))
    return invalid(format("'{}' exists already\n  name another file", file));
  ASSIGN_OR_RETURN(const KeyPair pair, make_key_pair());
  TRY(write_file_atomic(file, pair.private_pem, 0600));
  TRY(write_file_atomic(file + ".pub", pair.public_pem));
  ASSIGN_OR_RETURN(const std::string fingerprint, key_fingerprint(pair.public_pem));
  if (json) {
    print(Json()
              .set("private_key", file)
              .set("public_key", file + ".pub")
              .set("fingerprint", fingerprint)
              .dump(2) +
          "\n");
  } else {
    print(format("{} (secret) and {}.pub: fingerprint {}\n", file, file, fingerprint));
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
