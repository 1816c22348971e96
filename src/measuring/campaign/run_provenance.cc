#include "campaign/run_provenance.h"

#include <filesystem>
#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "campaign/run_config.h"
#include "dataset/croissant.h"
#include "dataset/provenance.h"
#include "record/manifest.h"

namespace assay::campaign {
namespace {

constexpr std::string_view kResult = "performance/result_summary.json";

// The graph, and the same as lines.
struct Chain {
  Json graph = Json::array();
  std::string text{};
};

Json prov_entity(const std::string& id, const std::string& sha256) {
  Json out = Json().set("@id", id).set("@type", "prov:Entity");
  if (!sha256.empty()) out.set("sha256", sha256);
  return out;
}

std::string chain_digest(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  return bytes ? sha256_hex(*bytes) : std::string();
}

Result<void> add_document_chain(const std::string& spec, Chain& chain) {
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

Result<void> add_data_chain(const plan::DatasetConfig& data, Chain& chain) {
  if (data.path.empty()) {
    chain.text += "the prompts are synthetic: made from the config's seeds\n";
    return {};
  }
  if (data.path.starts_with(dataset::kCroissantPrefix) || data.format == "croissant") {
    return add_document_chain(data.path, chain);
  }
  const std::string digest = chain_digest(data.path);
  chain.text +=
      format("{} {}\n", data.path,
             digest.empty() ? "is not a file that can be read now" : "has sha256 " + digest);
  chain.graph.push_back(prov_entity(data.path, digest));
  return {};
}

Result<void> add_run_chain(const std::filesystem::path& folder, Chain& chain) {
  ASSIGN_OR_RETURN(const Json manifest, read_json_file(folder / record::kManifestName));
  ASSIGN_OR_RETURN(const plan::Config config, recorded_config(folder));
  const std::string run = folder.string();
  const std::string digest = chain_digest(folder / kResult);
  Json used = Json::array();
  for (const plan::DatasetConfig& data : config.datasets) {
    used.push_back(Json().set("@id", data.path.empty() ? "synthetic" : data.path));
  }
  chain.text += format("{} wasGeneratedBy {}\n", std::string(kResult), run);
  for (const Json& one : used.items()) {
    chain.text += format("{} used {}\n", run, one["@id"].as_string());
  }
  chain.graph.push_back(
      prov_entity(std::string(kResult), digest).set("prov:wasGeneratedBy", Json().set("@id", run)));
  chain.graph.push_back(Json()
                            .set("@id", run)
                            .set("@type", "prov:Activity")
                            .set("manifest_sha256", manifest["sha256"])
                            .set("prov:used", std::move(used)));
  for (const plan::DatasetConfig& data : config.datasets) TRY(add_data_chain(data, chain));
  return {};
}

}  // namespace

Result<int> print_provenance(const std::string& path, bool json, const Talk& talk) {
  Chain chain;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    TRY(add_run_chain(path, chain));
  } else {
    TRY(add_document_chain(path, chain));
  }
  if (json) {
    const Json context =
        Json().set("prov", "http://www.w3.org/ns/prov#").set("sha256", "https://schema.org/sha256");
    talk.print(Json().set("@context", context).set("@graph", std::move(chain.graph)).dump(2) +
               "\n");
  } else {
    talk.print(chain.text);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::campaign
