#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/safety/safety_label.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/safety_inputs.h"
#include "safety/agreement.h"
#include "safety/grading.h"
#include "safety/items.h"
#include "safety/sealed_set.h"
#include "safety/standard.h"

namespace assay::cli {
namespace {

struct SafetyOptions {
  std::string what{};
  std::string path{};
  std::string standard = "standin";
  std::string out{};
  std::string commitment{};
  std::string key_file{};
  SafetyInputs inputs{};
};

Result<int> list_standards(const SafetyOptions& options) {
  Json rows = Json::array();
  for (const std::string& name : safety::standard_names()) {
    ASSIGN_OR_RETURN(const safety::Standard one, safety::find_standard(name));
    if (!options.inputs.json) print(format("{:<32}{}\n", name, one.about));
    rows.push_back(Json()
                       .set("name", name)
                       .set("about", one.about)
                       .set("locale", one.locale)
                       .set("prompt_set", one.prompt_set)
                       .set("hazards", one.hazards.size())
                       .set("reference", one.reference().safe())
                       .set("sha256", one.sha256));
  }
  if (options.inputs.json) print(rows.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<int> list_packs(const SafetyOptions& options) {
  Json rows = Json::array();
  for (const std::string& name : safety::pack_names()) {
    ASSIGN_OR_RETURN(const safety::Pack one, safety::find_pack(name));
    if (!options.inputs.json) print(format("{:<20}{:<12}{}\n", name, one.sector, one.about));
    rows.push_back(Json()
                       .set("name", name)
                       .set("sector", one.sector)
                       .set("about", one.about)
                       .set("standard", one.standard)
                       .set("prompts", one.prompts)
                       .set("judges", one.judges)
                       .set("attacks", one.attacks)
                       .set("sha256", one.sha256));
  }
  if (options.inputs.json) print(rows.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<campaign::SafetyWish> open_run(const SafetyOptions& options) {
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  return campaign::open_safety(options.path, key);
}

Result<std::vector<safety::Prompt>> prompts_of(const SafetyOptions& options) {
  const std::string name = options.path.empty() ? "standin" : options.path;
  const auto text = read_file(name);
  if (!text || !safety::is_sealed(*text)) return safety::load_prompts(name);
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  if (!key) return invalid(format("'{}' is sealed\n  --seal-key FILE opens it", name));
  ASSIGN_OR_RETURN(const safety::SealedRows set, safety::read_sealed(*text));
  return safety::open_rows(set, *key);
}

Result<int> write_key(const SafetyOptions& options) {
  if (options.path.empty()) return invalid("PATH: key needs the name of the file to write");
  if (std::filesystem::exists(options.path)) {
    return invalid(format("'{}' exists, and what it sealed would be lost with it", options.path));
  }
  constexpr unsigned kOwnerOnly = 0600;
  const std::string text = new_seal_key_text();
  TRY(write_file_atomic(options.path, text, kOwnerOnly));
  print(format("key {} in {}: keep it; without it the prompts are gone\n",
               seal_key_from(text)->id(), options.path));
  return exit_code(ExitCode::done);
}

Result<int> seal_set(const SafetyOptions& options) {
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  if (!key || options.out.empty()) {
    return invalid("seal needs --seal-key FILE (assay safety key makes one) and --out FILE");
  }
  ASSIGN_OR_RETURN(const auto prompts, prompts_of(options));
  const std::string name = std::filesystem::path(options.out).stem().string();
  const std::string text = safety::seal_prompts(prompts, name, *key);
  ASSIGN_OR_RETURN(const safety::SealedRows set, safety::read_sealed(text));
  TRY(write_file_atomic(options.out, text));
  if (options.inputs.json) {
    print(set.header().dump(2) + "\n");
  } else {
    print(format("{} prompts in {}, with key {}\ncommitment {}\n", set.prompts, options.out,
                 set.key_id, set.commitment));
  }
  return exit_code(ExitCode::done);
}

// A sealed set, or the folder of a run over one, without a key.
Result<int> prove(const SafetyOptions& options) {
  safety::SealedRows rows;
  if (std::filesystem::is_directory(options.path)) {
    ASSIGN_OR_RETURN(rows, campaign::used_of(options.path));
  } else {
    ASSIGN_OR_RETURN(const std::string text, read_file(options.path));
    auto set = safety::read_sealed(text);
    if (!set) return set.error().within(options.path);
    rows = *std::move(set);
  }
  if (!options.commitment.empty() && options.commitment != rows.commitment) {
    return Error{Code::corrupt, format("'{}': its set's commitment is {}, not {}", options.path,
                                       rows.commitment, options.commitment)};
  }
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  if (key) TRY(safety::open_rows(rows, *key));
  if (options.inputs.json) {
    print(rows.header().set("proven", rows.rows.size()).set("opened", key.has_value()).dump(2) +
          "\n");
  } else {
    print(format("{} of the {} prompts of set {} are proven{}\ncommitment {}\n", rows.rows.size(),
                 rows.prompts, rows.name, key ? ", and each opens" : "", rows.commitment));
  }
  return exit_code(ExitCode::done);
}

Result<int> write_prompts(const SafetyOptions& options) {
  ASSIGN_OR_RETURN(const auto prompts, prompts_of(options));
  print(safety::prompts_text(prompts));
  return exit_code(ExitCode::done);
}

Result<int> grade_file(const SafetyOptions& options) {
  if (options.path.empty()) return invalid("PATH: grade needs a file of verdicts, JSON lines");
  ASSIGN_OR_RETURN(const safety::Standard standard, safety::find_standard(options.standard));
  ASSIGN_OR_RETURN(const std::string text, read_file(options.path));
  const auto items = safety::items_from(text);
  if (!items) return items.error().within(options.path);
  const auto report = safety::grade_items(standard, *items);
  if (!report) return report.error().within(options.path);
  print(options.inputs.json ? report->to_json().dump(2) + "\n" : report->text());
  return exit_code(report->findings.empty() ? ExitCode::done : ExitCode::findings);
}

// The items of a safety run's folder, derived from its records, or of a file of verdicts.
Result<std::vector<safety::Item>> items_of(const SafetyOptions& options) {
  const std::string& path = options.path;
  if (std::filesystem::is_directory(path)) {
    ASSIGN_OR_RETURN(const auto levels, campaign::open_levels(path));
    if (levels) return invalid(format("'{}' is a series; name one level's folder in it", path));
    ASSIGN_OR_RETURN(const campaign::SafetyWish wish, open_run(options));
    return campaign::derive_items(wish);
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  auto items = safety::items_from(text);
  if (!items) return items.error().within(path);
  return items;
}

Result<int> show_agreement(const SafetyOptions& options) {
  if (options.path.empty()) {
    return invalid("PATH: agree needs the folder of a safety run, or a file of verdicts");
  }
  ASSIGN_OR_RETURN(const auto items, items_of(options));
  ASSIGN_OR_RETURN(const std::vector<safety::Label> labels, options.inputs.people());
  ASSIGN_OR_RETURN(const safety::AgreementReport report, safety::agree(items, labels));
  print(options.inputs.json ? report.json.dump(2) + "\n" : report.text);
  return exit_code(report.findings.empty() ? ExitCode::done : ExitCode::findings);
}

Result<void> check_label(const campaign::SafetyWish& wish, const SafetyOptions& options,
                         std::vector<std::string>& differences) {
  std::string trusted;
  if (!options.key_file.empty()) {
    ASSIGN_OR_RETURN(trusted, read_file(options.key_file));
  }
  if (!campaign::holds_label(wish.folder)) {
    if (!trusted.empty()) return invalid(format("'{}' has no label", wish.folder.string()));
    return {};
  }
  ASSIGN_OR_RETURN(const auto found, campaign::check_label(wish, trusted));
  differences.insert(differences.end(), found.begin(), found.end());
  return {};
}

Result<int> check_folder(const SafetyOptions& options) {
  if (options.path.empty()) return invalid("PATH: check needs the folder of a safety run");
  ASSIGN_OR_RETURN(const campaign::SafetyWish wish, open_run(options));
  ASSIGN_OR_RETURN(const auto levels, campaign::open_levels(options.path));
  std::vector<std::string> differences;
  if (levels) {
    ASSIGN_OR_RETURN(differences, campaign::check_levels(wish, *levels));
  } else {
    ASSIGN_OR_RETURN(differences, campaign::check_safety(wish));
    TRY(check_label(wish, options, differences));
  }
  if (options.inputs.json) {
    Json list = Json::array();
    for (const std::string& one : differences) list.push_back(one);
    print(Json().set("differences", std::move(list)).dump(2) + "\n");
  } else {
    for (const std::string& one : differences) print(one + "\n");
    print(format("{}: {} prompts, {} differences\n", options.path, wish.prompts.size(),
                 differences.size()));
  }
  return exit_code(differences.empty() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> cmd_safety(Args args) {
  if (!args.empty() && args.front() == "label") return cmd_safety_label(args.subspan(1));
  if (!args.empty() && args.front() == "run") return cmd_safety_run(args.subspan(1));
  SafetyOptions options;
  Flags flags("safety", "safety grades of an endpoint: prompts, judges, votes, hazards");
  flags
      .add("WHAT", &options.what,
           "grade: a file of verdicts; check: a safety run's folder, derived again from its event "
           "logs; standards: the reference systems' shares that there are; packs: those of "
           "sectors; prompts: a prompt set as JSON lines (standin, or a file); agree: how far the "
           "judges of a run agree with each other and with people; key, seal: a key, and prompts "
           "that only its holder can read; "
           "prove: that a run's prompts are of a sealed set, without the key; run: ask, judge and "
           "grade; label: its grade as a label, signed (each with its own --help)")
      .required()
      .choices(
          {"agree", "check", "grade", "key", "packs", "prompts", "prove", "seal", "standards"});
  flags.add(
      "PATH", &options.path,
      "grade: the verdicts; check, agree, prove: the folder; prompts, seal: the set; key: the "
      "file to write");
  flags
      .add("--standard", &options.standard,
           "hazards and reference shares: a name of `assay safety standards`, or FILE.yaml")
      .value("NAME");
  add_people(flags, options.inputs, "agree");
  add_seal_key(flags, options.inputs);
  flags.add("--key", &options.key_file, "check: the label must be signed by this public key")
      .value("FILE");
  flags.add("--out", &options.out, "seal: the file to write").value("FILE");
  flags
      .add("--commitment", &options.commitment,
           "prove: the set must be the one that was published with these 64 digits")
      .value("HEX");
  add_json(flags, options.inputs);
  flags.example("assay safety standards");
  flags.example("assay safety run --endpoint http://localhost:8000 --model m");
  flags.example("assay safety agree runs/safety --labels labels.jsonl");
  flags.example("assay safety grade verdicts.jsonl --standard ailuminate-1.1-en_us-practice");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (options.what == "standards") return list_standards(options);
  if (options.what == "packs") return list_packs(options);
  if (options.what == "check") return check_folder(options);
  if (options.what == "key") return write_key(options);
  if (options.what == "seal") return seal_set(options);
  if (options.what == "prove") return prove(options);
  if (options.what == "agree") return show_agreement(options);
  if (options.what == "prompts") return write_prompts(options);
  return grade_file(options);
}

}  // namespace assay::cli
