#include "campaign/safety/safety_label.h"

#include <algorithm>
#include <utility>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/signature.h"
#include "base/version.h"
#include "record/event_log.h"
#include "safety/label.h"

namespace assay::campaign {
namespace {

std::filesystem::path label_folder(const std::filesystem::path& folder) { return folder / "label"; }

bool is_record(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".alog" || path.extension() == ".sealed" || name == "votes.jsonl" ||
         name == "safety.json" || name == "standard.yaml" || name == "judges.yaml" ||
         name == "prompts.jsonl" || name == "used.json" || name == "attacks.yaml" ||
         name == "pack.yaml";
}

// What the grade is derived from, by path.
Result<Json> records_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file() && is_record(at->path())) paths.push_back(at->path());
  }
  if (error) return Error{Code::not_found, format("'{}': {}", folder.string(), error.message())};
  std::ranges::sort(paths);
  Json out = Json::array();
  for (const auto& path : paths) {
    ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
    out.push_back(Json()
                      .set("path", path.lexically_relative(folder).generic_string())
                      .set("sha256", sha256_hex(bytes)));
  }
  return out;
}

Result<Json> derive_label(const SafetyWish& wish, const LabelWish& how, std::string made_by,
                          std::string signer) {
  ASSIGN_OR_RETURN(const auto items, derive_items(wish));
  ASSIGN_OR_RETURN(const auto report, safety::grade_items(wish.standard, items));
  if (!report.overall.grade) {
    return invalid(
        format("'{}' has no overall grade, and a label needs one", wish.folder.string()));
  }
  ASSIGN_OR_RETURN(const auto logs,
                   record::find_event_logs(audit::log_folder(wish.folder / "answers/01")));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  ASSIGN_OR_RETURN(const auto clauses, safety::find_clauses(how.clauses));
  safety::LabelFacts facts{.subject = std::string(info.facts["model"].as_string()),
                           .version = how.version,
                           .measured = rfc3339(info.started),
                           .expires = how.expires,
                           .made_by = std::move(made_by),
                           .signer = std::move(signer)};
  if (wish.seal) facts.sealed = wish.seal->rows.commitment;
  if (wish.attacks) {
    ASSIGN_OR_RETURN(const auto pairs, safety::fold_pairs(*wish.attacks, items, {}));
    if (pairs.all.table.pairs() > 0) {
      facts.attacks = Json()
                          .set("name", pairs.attacks)
                          .set("sha256", wish.attacks->sha256)
                          .set("pairs", pairs.all.table.pairs())
                          .set("gap", pairs.all.table.gap())
                          .set("interval", Json::array()
                                               .push_back(pairs.all.interval.low)
                                               .push_back(pairs.all.interval.high));
    }
  }
  ASSIGN_OR_RETURN(facts.records, records_of(wish.folder));
  return safety::make_label(report, wish.standard, facts, clauses);
}

bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  return std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) == 8;
}

}  // namespace

bool holds_label(const std::filesystem::path& folder) {
  return std::filesystem::exists(label_folder(folder) / "label.json");
}

Result<Json> write_label(const SafetyWish& wish, const LabelWish& how) {
  if (!how.expires.empty() && !is_date(how.expires)) {
    return invalid(format("--expires: '{}': expected a date, such as 2027-05-31", how.expires));
  }
  ASSIGN_OR_RETURN(const auto differences, check_safety(wish));
  if (!differences.empty()) {
    return Error{Code::corrupt,
                 format("'{}' has no label: {}", wish.folder.string(), differences.front())};
  }
  std::string public_pem;
  std::string signer;
  if (!how.private_key_pem.empty()) {
    ASSIGN_OR_RETURN(public_pem, public_key_of(how.private_key_pem));
    ASSIGN_OR_RETURN(signer, key_fingerprint(public_pem));
  }
  const auto folder = label_folder(wish.folder);
  if (how.clauses.ends_with(".yaml")) {
    ASSIGN_OR_RETURN(const std::string text, read_file(how.clauses, std::size_t{16} << 20));
    TRY(write_file_atomic(folder / "clauses.yaml", text));
  }
  ASSIGN_OR_RETURN(const Json label,
                   derive_label(wish, how, format("assay {}", version()), std::move(signer)));
  const std::string text = label.dump(2) + "\n";
  TRY(write_file_atomic(folder / "label.svg", safety::label_svg(label)));
  TRY(write_file_atomic(folder / "label.html", safety::label_html(label)));
  TRY(write_file_atomic(folder / "label.json", text));
  if (public_pem.empty()) {
    std::error_code ignored;
    std::filesystem::remove(folder / "label.sig", ignored);
    return label;
  }
  ASSIGN_OR_RETURN(const std::string signature, sign_ed25519(text, how.private_key_pem));
  TRY(write_file_atomic(folder / "label.sig", Json().set("algorithm", "ed25519")
                                                      .set("signature", signature)
                                                      .set("public_key", public_pem)
                                                      .dump(2) +
                                                  "\n"));
  return label;
}

namespace {

Result<void> check_signature(const std::filesystem::path& folder, const std::string& text,
                             const Json& label, const std::string& trusted_pem,
                             std::vector<std::string>& out) {
  if (!label["signer"].is_string()) {
    if (!trusted_pem.empty()) out.emplace_back("the label is not signed");
    return {};
  }
  ASSIGN_OR_RETURN(const Json sig, read_json_file(folder / "label.sig"));
  const std::string pem(sig["public_key"].as_string());
  const auto holds = verify_ed25519(text, sig["signature"].as_string(), pem);
  const auto fingerprint = key_fingerprint(pem);
  if (!holds || !*holds) out.emplace_back("label.json is not what was signed");
  if (!fingerprint || *fingerprint != label["signer"].as_string()) {
    out.emplace_back("label.sig was made with another key than label.json says");
  }
  if (trusted_pem.empty()) return {};
  ASSIGN_OR_RETURN(const std::string wanted, normal_public_key(trusted_pem));
  const auto given = normal_public_key(pem);
  if (!given || *given != wanted) out.emplace_back("the label is signed by another key");
  return {};
}

}  // namespace

Result<std::vector<std::string>> check_label(const SafetyWish& wish,
                                             const std::string& trusted_pem) {
  const auto folder = label_folder(wish.folder);
  ASSIGN_OR_RETURN(const std::string text, read_file(folder / "label.json"));
  const auto label = Json::parse(text);
  if (!label) return label.error().within((folder / "label.json").string());
  std::vector<std::string> out;
  TRY(check_signature(folder, text, *label, trusted_pem, out));
  LabelWish how{.version = std::string((*label)["subject"]["version"].as_string()),
                .expires = std::string((*label)["expires"].as_string())};
  if (std::filesystem::exists(folder / "clauses.yaml")) {
    how.clauses = (folder / "clauses.yaml").string();
  }
  ASSIGN_OR_RETURN(const Json again,
                   derive_label(wish, how, std::string((*label)["made_by"].as_string()),
                                std::string((*label)["signer"].as_string())));
  const auto compare = [&](const char* name, const std::string& wanted) {
    const auto found = read_file(folder / name);
    if (!found || *found != wanted) {
      out.push_back(format("label/{} is not what the run gives", name));
    }
  };
  compare("label.json", again.dump(2) + "\n");
  compare("label.svg", safety::label_svg(again));
  compare("label.html", safety::label_html(again));
  return out;
}

}  // namespace assay::campaign
