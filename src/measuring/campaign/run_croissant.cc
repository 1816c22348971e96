#include "campaign/run_croissant.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "campaign/run_config.h"
#include "dataset/croissant_check.h"
#include "dataset/croissant_write.h"
#include "dataset/dataset.h"
#include "record/bundle.h"
#include "record/file_list.h"
#include "record/manifest.h"

namespace assay::campaign {
namespace {

// The run as an activity, with the data that it used. A run without a readable config names none.
void add_run_activity(const std::filesystem::path& folder, const Json& manifest,
                      dataset::Description& about) {
  const Json& run = manifest["run"];
  std::string command;
  for (const Json& word : manifest["command"].items()) {
    command += format("{}{}", command.empty() ? "" : " ", word.as_string());
  }
  Json used = Json::array();
  if (const auto config = recorded_config(folder)) {
    for (const plan::DatasetConfig& data : config->datasets) {
      used.push_back(Json().set("@id", data.path.empty() ? "urn:assay:synthetic" : data.path));
    }
  }
  const std::string id = format("urn:assay:run:{}", run["run_id"].as_string());
  Json activity = Json()
                      .set("@type", "prov:Activity")
                      .set("@id", id)
                      .set("prov:label", command.empty() ? "assay run" : command);
  if (run["started"].is_string()) activity.set("prov:startedAtTime", run["started"]);
  if (used.size() > 0) {
    about.provenance.set("prov:wasDerivedFrom", used);
    activity.set("prov:used", std::move(used));
  }
  about.provenance.set("prov:wasGeneratedBy", std::move(activity));
  about.provenance.set(
      "prov:wasAttributedTo",
      Json()
          .set("@type", "prov:SoftwareAgent")
          .set("prov:label", format("assay {}", run["version"].as_string("of unknown version"))));
}

}  // namespace

Result<Json> describe_folder(const std::filesystem::path& folder, const std::string& below,
                             std::map<std::string, std::string> facts) {
  dataset::Description about{.facts = std::move(facts)};
  const auto named = about.facts.find("name");
  std::error_code ignored;
  const auto whole = std::filesystem::weakly_canonical(folder, ignored);
  about.name = named == about.facts.end() ? whole.filename().string() : named->second;
  about.facts.try_emplace("description", "Results of Assay: recorded events and what follows.");
  ASSIGN_OR_RETURN(const auto files, record::files_below(folder));
  for (const record::ListedFile& file : files) {
    if (file.name == kRunCroissant || record::is_of_bundle(file.name)) continue;
    about.files.push_back({.url = below.empty() ? file.name : below + "/" + file.name,
                           .mime = std::string(dataset::mime_of(file.name)),
                           .bytes = file.bytes,
                           .sha256 = file.sha256});
  }
  if (const auto manifest = read_json_file(folder / record::kManifestName)) {
    add_run_activity(folder, *manifest, about);
  }
  return dataset::croissant_document(about);
}

namespace {

using Facts = std::map<std::string, std::string>;

Result<Facts> facts_given(const std::vector<std::string>& given) {
  Facts out;
  for (const std::string& one : given) {
    const std::size_t at = one.find('=');
    const std::string key = one.substr(0, at);
    const auto& known = dataset::described_facts();
    if (at == std::string::npos || std::ranges::find(known, key) == known.end()) {
      std::string all;
      for (const std::string_view name : known)
        all += format("{}{}", all.empty() ? "" : ", ", name);
      return invalid(format("--meta: '{}': expected KEY=VALUE with one of {}", one, all));
    }
    out[key] = one.substr(at + 1);
  }
  return out;
}

// The path of `file` from the folder of `out`. A description names files beside it and below only,
// so that no reader has to leave the folder.
Result<std::string> described_url(const std::filesystem::path& file,
                                  const std::filesystem::path& out) {
  std::error_code error;
  // weakly_canonical leaves a relative path of which nothing exists as it is.
  const auto whole = [&error](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  const std::string url = whole(file).lexically_relative(whole(out).parent_path()).generic_string();
  if (!error && !url.empty() && !url.starts_with("..")) return url == "." ? std::string() : url;
  return invalid(
      format("--croissant: '{}' is not below the folder of '{}'\n  write the "
             "description beside the data",
             file.string(), out.string()));
}

Result<std::vector<dataset::DescribedColumn>> described_columns(const std::string& file) {
  const bool texts = file.ends_with(".csv") || file.ends_with(".tsv");
  dataset::ColumnFold fold(texts);
  dataset::Spec spec{.path = file, .keep_max = 1};
  // Every row is seen, and none of it is needed as a prompt.
  spec.make_row = [&fold](Json row) -> Result<Json> {
    fold.add(row);
    return Json().set("prompt", "-");
  };
  TRY(dataset::load_dataset(spec));
  return fold.columns();
}

Result<Json> describe_file(const std::string& file, const std::string& out, Facts facts) {
  if (dataset::mime_of_rows(file).empty()) {
    return invalid(
        format("'{}': --croissant describes .jsonl, .csv, .tsv and .parquet, and folders "
               "of results",
               file));
  }
  dataset::Description about{.facts = std::move(facts)};
  const auto named = about.facts.find("name");
  about.name =
      named == about.facts.end() ? std::filesystem::path(file).stem().string() : named->second;
  ASSIGN_OR_RETURN(const std::string bytes, read_file(file));
  ASSIGN_OR_RETURN(std::string url, described_url(file, out));
  about.files.push_back({.url = std::move(url),
                         .mime = std::string(dataset::mime_of_rows(file)),
                         .bytes = bytes.size(),
                         .sha256 = sha256_hex(bytes)});
  ASSIGN_OR_RETURN(about.columns, described_columns(file));
  return dataset::croissant_document(about);
}

}  // namespace

Result<int> write_croissant(const std::string& spec, const std::string& out,
                            const std::vector<std::string>& given, const Talk& talk) {
  ASSIGN_OR_RETURN(Facts facts, facts_given(given));
  Json document;
  if (std::filesystem::is_directory(spec)) {
    ASSIGN_OR_RETURN(const std::string below, described_url(spec, out));
    ASSIGN_OR_RETURN(document, describe_folder(spec, below, std::move(facts)));
  } else {
    ASSIGN_OR_RETURN(document, describe_file(spec, out, std::move(facts)));
  }
  const std::string text = document.dump(2) + "\n";
  TRY(write_file_atomic(out, text));
  constexpr std::string_view kNone = "there is no ";
  std::string missing;
  for (const auto& one : dataset::croissant::check_document(text)) {
    if (one.rule != "recommended") continue;
    missing += format("{}{}", missing.empty() ? "" : ", ", one.what.substr(kNone.size()));
  }
  talk.print(format("{}: {} files, {} columns{}\n", out, document["distribution"].size(),
                    document["recordSet"][0]["field"].size(),
                    missing.empty()
                        ? missing
                        : format("; facts that only you know are missing: {} (--meta)", missing)));
  return exit_code(ExitCode::done);
}

}  // namespace assay::campaign
