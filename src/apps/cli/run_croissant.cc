#include "cli/run_croissant.h"

#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "campaign/run_config.h"
#include "dataset/croissant_write.h"
#include "record/file_list.h"
#include "record/manifest.h"

namespace assay::cli {
namespace {

// The run as an activity, with the data that it used. A run without a readable config names none.
void add_run(const std::filesystem::path& folder, const Json& manifest,
             dataset::Description& about) {
  const Json& run = manifest["run"];
  std::string command;
  for (const Json& word : manifest["command"].items()) {
    command += format("{}{}", command.empty() ? "" : " ", word.as_string());
  }
  Json used = Json::array();
  if (const auto config = campaign::recorded_config(folder)) {
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
    if (file.name == kRunCroissant) continue;
    about.files.push_back({.url = below.empty() ? file.name : below + "/" + file.name,
                           .mime = std::string(dataset::mime_of(file.name)),
                           .bytes = file.bytes,
                           .sha256 = file.sha256});
  }
  if (const auto manifest = read_json_file(folder / record::kManifestName)) {
    add_run(folder, *manifest, about);
  }
  return dataset::croissant_document(about);
}

}  // namespace assay::cli
