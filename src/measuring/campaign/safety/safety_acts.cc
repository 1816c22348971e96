#include "campaign/safety/safety_acts.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "campaign/safety/safety_label.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"
#include "safety/agreement.h"
#include "safety/grading.h"
#include "safety/items.h"
#include "safety/sealed_set.h"
#include "safety/standard.h"

namespace assay::campaign {
namespace {

Result<int> list_standards(const SafetyActs& options, const Talk& talk) {
  Json rows = Json::array();
  for (const std::string& name : safety::standard_names()) {
    ASSIGN_OR_RETURN(const safety::Standard one, safety::find_standard(name));
    if (!options.inputs.json) talk.print(format("{:<32}{}\n", name, one.about));
    rows.push_back(Json()
                       .set("name", name)
                       .set("about", one.about)
                       .set("locale", one.locale)
                       .set("prompt_set", one.prompt_set)
                       .set("hazards", one.hazards.size())
                       .set("reference", one.reference().safe())
                       .set("sha256", one.sha256));
  }
  if (options.inputs.json) talk.print(rows.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<int> list_packs(const SafetyActs& options, const Talk& talk) {
  Json rows = Json::array();
  for (const std::string& name : safety::pack_names()) {
    ASSIGN_OR_RETURN(const safety::Pack one, safety::find_pack(name));
    if (!options.inputs.json) talk.print(format("{:<20}{:<12}{}\n", name, one.sector, one.about));
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
  if (options.inputs.json) talk.print(rows.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<SafetyWish> open_safety_run(const SafetyActs& options) {
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  return open_safety(options.path, key);
}

Result<std::vector<safety::Prompt>> prompt_set_of(const SafetyActs& options) {
  const std::string name = options.path.empty() ? "standin" : options.path;
  const auto text = read_file(name);
  if (!text || !safety::is_sealed(*text)) return safety::load_prompts(name);
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  if (!key) return invalid(format("'{}' is sealed\n  --seal-key FILE opens it", name));
  ASSIGN_OR_RETURN(const safety::SealedRows set, safety::read_sealed(*text));
  return safety::open_rows(set, *key);
}

Result<int> write_key(const SafetyActs& options, const Talk& talk) {
  if (options.path.empty()) return invalid("PATH: key needs the name of the file to write");
  if (std::filesystem::exists(options.path)) {
    return invalid(format("'{}' exists, and what it sealed would be lost with it", options.path));
  }
  constexpr unsigned kOwnerOnly = 0600;
  const std::string text = new_seal_key_text();
  TRY(write_file_atomic(options.path, text, kOwnerOnly));
  talk.print(format("key {} in {}: keep it; without it the prompts are gone\n",
                    seal_key_from(text)->id(), options.path));
  return exit_code(ExitCode::done);
}

Result<int> seal_set(const SafetyActs& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto key, options.inputs.key());
  if (!key || options.out.empty()) {
    return invalid("seal needs --seal-key FILE (assay safety key makes one) and --out FILE");
  }
  ASSIGN_OR_RETURN(const auto prompts, prompt_set_of(options));
  const std::string name = std::filesystem::path(options.out).stem().string();
  const std::string text = safety::seal_prompts(prompts, name, *key);
  ASSIGN_OR_RETURN(const safety::SealedRows set, safety::read_sealed(text));
  TRY(write_file_atomic(options.out, text));
  if (options.inputs.json) {
    talk.print(set.header().dump(2) + "\n");
  } else {
    talk.print(format("{} prompts in {}, with key {}\ncommitment {}\n", set.prompts, options.out,
                      set.key_id, set.commitment));
  }
  return exit_code(ExitCode::done);
}

// A sealed set, or the folder of a run over one, without a key.
Result<int> prove_set(const SafetyActs& options, const Talk& talk) {
  safety::SealedRows rows;
  if (std::filesystem::is_directory(options.path)) {
    ASSIGN_OR_RETURN(rows, used_of(options.path));
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
    talk.print(
        rows.header().set("proven", rows.rows.size()).set("opened", key.has_value()).dump(2) +
        "\n");
  } else {
    talk.print(format("{} of the {} prompts of set {} are proven{}\ncommitment {}\n",
                      rows.rows.size(), rows.prompts, rows.name, key ? ", and each opens" : "",
                      rows.commitment));
  }
  return exit_code(ExitCode::done);
}

Result<int> write_prompt_set(const SafetyActs& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto prompts, prompt_set_of(options));
  talk.print(safety::prompts_text(prompts));
  return exit_code(ExitCode::done);
}

Result<int> grade_file(const SafetyActs& options, const Talk& talk) {
  if (options.path.empty()) return invalid("PATH: grade needs a file of verdicts, JSON lines");
  ASSIGN_OR_RETURN(const safety::Standard standard, safety::find_standard(options.standard));
  ASSIGN_OR_RETURN(const std::string text, read_file(options.path));
  const auto items = safety::items_from(text);
  if (!items) return items.error().within(options.path);
  const auto report = safety::grade_items(standard, *items);
  if (!report) return report.error().within(options.path);
  talk.print(options.inputs.json ? report->to_json().dump(2) + "\n" : report->text());
  return exit_code(report->findings.empty() ? ExitCode::done : ExitCode::findings);
}

// The items of a safety run's folder, derived from its records, or of a file of verdicts.
Result<std::vector<safety::Item>> safety_items_of(const SafetyActs& options) {
  const std::string& path = options.path;
  if (std::filesystem::is_directory(path)) {
    ASSIGN_OR_RETURN(const auto levels, open_levels(path));
    if (levels) return invalid(format("'{}' is a series; name one level's folder in it", path));
    ASSIGN_OR_RETURN(const SafetyWish wish, open_safety_run(options));
    return derive_items(wish);
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  auto items = safety::items_from(text);
  if (!items) return items.error().within(path);
  return items;
}

Result<int> show_agreement(const SafetyActs& options, const Talk& talk) {
  if (options.path.empty()) {
    return invalid("PATH: agree needs the folder of a safety run, or a file of verdicts");
  }
  ASSIGN_OR_RETURN(const auto items, safety_items_of(options));
  ASSIGN_OR_RETURN(const std::vector<safety::Label> labels, options.inputs.people());
  ASSIGN_OR_RETURN(const safety::AgreementReport report, safety::agree(items, labels));
  talk.print(options.inputs.json ? report.json.dump(2) + "\n" : report.text);
  return exit_code(report.findings.empty() ? ExitCode::done : ExitCode::findings);
}

Result<void> check_run_label(const SafetyWish& wish, const SafetyActs& options,
                             std::vector<std::string>& differences) {
  std::string trusted;
  if (!options.key_file.empty()) {
    ASSIGN_OR_RETURN(trusted, read_file(options.key_file));
  }
  if (!holds_label(wish.folder)) {
    if (!trusted.empty()) return invalid(format("'{}' has no label", wish.folder.string()));
    return {};
  }
  ASSIGN_OR_RETURN(const auto found, check_label(wish, trusted));
  differences.insert(differences.end(), found.begin(), found.end());
  return {};
}

Result<int> check_safety_folder(const SafetyActs& options, const Talk& talk) {
  if (options.path.empty()) return invalid("PATH: check needs the folder of a safety run");
  ASSIGN_OR_RETURN(const SafetyWish wish, open_safety_run(options));
  ASSIGN_OR_RETURN(const auto levels, open_levels(options.path));
  std::vector<std::string> differences;
  if (levels) {
    ASSIGN_OR_RETURN(differences, check_levels(wish, *levels));
  } else {
    ASSIGN_OR_RETURN(differences, check_safety(wish));
    TRY(check_run_label(wish, options, differences));
  }
  if (options.inputs.json) {
    talk.print(Json().set("differences", json_list(differences)).dump(2) + "\n");
  } else {
    for (const std::string& one : differences) talk.print(one + "\n");
    talk.print(format("{}: {} prompts, {} differences\n", options.path, wish.prompts.size(),
                      differences.size()));
  }
  return exit_code(differences.empty() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> act_on_safety(const SafetyActs& options, const Talk& talk) {
  if (options.what == "standards") return list_standards(options, talk);
  if (options.what == "packs") return list_packs(options, talk);
  if (options.what == "check") return check_safety_folder(options, talk);
  if (options.what == "key") return write_key(options, talk);
  if (options.what == "seal") return seal_set(options, talk);
  if (options.what == "prove") return prove_set(options, talk);
  if (options.what == "agree") return show_agreement(options, talk);
  if (options.what == "prompts") return write_prompt_set(options, talk);
  return grade_file(options, talk);
}

}  // namespace assay::campaign
