#include "cli/quality/dataset_provenance.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "campaign/run_config.h"
#include "cli/console.h"
#include "dataset/croissant.h"
#include "dataset/provenance.h"
#include "record/manifest.h"

namespace assay::cli {
namespace {

constexpr std::string_view kResult = "performance/result_summary.json";

// The graph, and the same as lines.
struct Chain {
  Json graph = Json::array();
  std::string text{};
};

Json entity(const std::string& id, const std::string& sha256) {
  Json out = Json().set("@id", id).set("@type", "prov:Entity");
  if (!sha256.empty()) out.set("sha256", sha256);
  return out;
}

std::string digest_of(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  return bytes ? sha256_hex(*bytes) : std::string();
}

Result<void> add_document(const std::string& spec, Chain& chain) {
  const std::string file = dataset::croissant_spec(spec).file;
  ASSIGN_OR_RETURN(const Json document, read_json_file(file));
  const auto steps = dataset::croissant::provenance_of(document);
  for (const auto& step : steps) {
    chain.text += format("{} {} {}{}\n", step.of.empty() ? file : step.of, step.relation.substr(5),
                         step.what, step.at.empty() ? "" : ", ended " + step.at);
  }
  if (steps.empty()) chain.text += format("{} names no source\n", file);
  const Json graph = dataset::croissant::provenance_graph(steps, file);
  for (const Json& node : graph.items()) chain.graph.push_back(node);
  return {};
}

Result<void> add_data(const plan::DatasetConfig& data, Chain& chain) {
  if (data.path.empty()) {
    chain.text += "the prompts are synthetic: made from the config's seeds\n";
    return {};
  }
  if (data.path.starts_with(dataset::kCroissantPrefix) || data.format == "croissant") {
    return add_document(data.path, chain);
  }
  const std::string digest = digest_of(data.path);
  chain.text += format("{} {}\n", data.path,
                       digest.empty() ? "is no file that can be read now" : "has sha256 " + digest);
  chain.graph.push_back(entity(data.path, digest));
  return {};
}

Result<void> add_run(const std::filesystem::path& folder, Chain& chain) {
  ASSIGN_OR_RETURN(const Json manifest, read_json_file(folder / record::kManifestName));
  ASSIGN_OR_RETURN(const plan::Config config, campaign::recorded_config(folder));
  const std::string run = folder.string();
  const std::string digest = digest_of(folder / kResult);
  Json used = Json::array();
  for (const plan::DatasetConfig& data : config.datasets) {
    used.push_back(Json().set("@id", data.path.empty() ? "synthetic" : data.path));
  }
  chain.text += format("{} wasGeneratedBy {}\n", std::string(kResult), run);
  for (const Json& one : used.items()) {
    chain.text += format("{} used {}\n", run, one["@id"].as_string());
  }
  chain.graph.push_back(
      entity(std::string(kResult), digest).set("prov:wasGeneratedBy", Json().set("@id", run)));
  chain.graph.push_back(Json()
                            .set("@id", run)
                            .set("@type", "prov:Activity")
                            .set("manifest_sha256", manifest["sha256"])
                            .set("prov:used", std::move(used)));
  for (const plan::DatasetConfig& data : config.datasets) TRY(add_data(data, chain));
  return {};
}

}  // namespace

Result<int> print_provenance(const std::string& path, bool json) {
  Chain chain;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    TRY(add_run(path, chain));
  } else {
    TRY(add_document(path, chain));
  }
  if (json) {
    const Json context =
        Json().set("prov", "http://www.w3.org/ns/prov#").set("sha256", "https://schema.org/sha256");
    print(Json().set("@context", context).set("@graph", std::move(chain.graph)).dump(2) + "\n");
  } else {
    print(chain.text);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
