#include "record/manifest.h"

#include <map>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "record/bundle.h"
#include "record/file_list.h"
#include "record/run_info_json.h"

namespace assay::record {
namespace {

constexpr int kManifestVersion = 1;
constexpr std::string_view kRedacted = "<redacted>";

Json log_json(const LogEnd& end) {
  return Json()
      .set("bytes", end.bytes)
      .set("bytes_read", end.bytes_read)
      .set("records", end.records)
      .set("lost_records", end.lost_records)
      .set("unfinished", end.unfinished)
      .set("trouble", end.trouble);
}

// The manifest's own digest covers all its other members, in order.
std::string own_digest(const Json& manifest) {
  Json rest = Json::object();
  for (const auto& [name, value] : manifest.members()) {
    if (name != "sha256") rest.set(name, value);
  }
  return sha256_hex(rest.dump());
}

Result<Json> read_manifest(const std::filesystem::path& folder, std::string* text_out) {
  const std::filesystem::path path = folder / kManifestName;
  ASSIGN_OR_RETURN(std::string text, read_file(path));
  Result<Json> json = Json::parse(text);
  if (!json) return json.error().within(path.string());
  if ((*json)["format"].as_string() != "assay-run" ||
      (*json)["version"].as_int() != kManifestVersion) {
    return Error{Code::unsupported, format("{}: not a manifest that this version reads "
                                           "(format assay-run, version {})",
                                           path.string(), kManifestVersion)};
  }
  if (text_out != nullptr) *text_out = std::move(text);
  return json;
}

// One sentence for each value of `kept` that differs in `made` or is missing there. A value only in
// `made` was not written by the version that made the manifest.
void compare(const Json& kept, const Json& made, const std::string& path,
             std::vector<std::string>& faults) {
  if (kept.is_object() && made.is_object()) {
    for (const auto& [name, value] : kept.members()) {
      const std::string deeper = path.empty() ? name : path + "." + name;
      const Json* const other = made.find(name);
      if (other == nullptr) {
        faults.push_back(format("{}: {}: the event log does not say it", kManifestName, deeper));
      } else {
        compare(value, *other, deeper, faults);
      }
    }
  } else if (kept != made) {
    faults.push_back(
        format("{}: {}: {}; the event log says {}", kManifestName, path, kept.dump(), made.dump()));
  }
}

bool names_secret(std::string_view option) {
  const std::string name = lower(option);
  for (const std::string_view word : {"key", "token", "password", "secret", "header", "auth"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

// http://user:pass@host -> http://<redacted>@host
std::string without_userinfo(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  const std::size_t start = scheme + 3;
  const std::size_t at = text.substr(0, text.find_first_of("/?#", start)).rfind('@');
  if (at == std::string_view::npos || at < start) return std::string(text);
  return format("{}{}{}", text.substr(0, start), kRedacted, text.substr(at));
}

}  // namespace

std::vector<std::string> redact_command(std::span<const std::string> arguments) {
  std::vector<std::string> out;
  bool secret_next = false;
  for (const std::string& argument : arguments) {
    const bool is_option = argument.starts_with('-');
    if (secret_next && !argument.starts_with("--")) {
      out.emplace_back(kRedacted);
      secret_next = false;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view name = std::string_view(argument).substr(0, equals);
    secret_next = is_option && names_secret(name) && equals == std::string::npos;
    if (is_option && names_secret(name) && equals != std::string::npos) {
      out.push_back(format("{}={}", name, kRedacted));
    } else {
      out.push_back(without_userinfo(argument));
    }
  }
  return out;
}

Result<void> write_manifest(const std::filesystem::path& folder, const RunReplay& replay,
                            std::span<const std::string> command) {
  ASSIGN_OR_RETURN(std::vector<ListedFile> files, files_below(folder));
  std::erase_if(files, [](const ListedFile& file) { return file.name == kManifestName; });
  Json arguments = Json::array();
  for (const std::string& argument : command) arguments.push_back(argument);
  Json logs = Json::array();
  for (const LogEnd& shard : replay.shards) logs.push_back(log_json(shard));
  Json json = Json::object();
  json.set("format", "assay-run")
      .set("version", kManifestVersion)
      .set("run", to_json(replay.info))
      .set("end", to_json(replay.end.end))
      .set("logs", std::move(logs))
      .set("command", std::move(arguments))
      .set("files", to_json(files));
  json.set("sha256", own_digest(json));
  return write_file_atomic(folder / kManifestName, json.dump(2) + "\n");
}

Result<std::vector<std::string>> check_manifest(const std::filesystem::path& folder) {
  std::string text;
  ASSIGN_OR_RETURN(const Json json, read_manifest(folder, &text));
  ASSIGN_OR_RETURN(const std::vector<ListedFile> files, files_below(folder));
  std::map<std::string, ListedFile> here;
  for (const ListedFile& file : files) here[file.name] = file;
  here.erase(std::string(kManifestName));
  // It describes the other files, with their digests (`assay bundle`).
  here.erase("croissant.json");
  // Where tar has unpacked a bundle.
  std::erase_if(here, [](const auto& entry) { return is_of_bundle(entry.first); });
  std::vector<std::string> faults;
  // Manifests of 0.1.0 have no digest, and these seven members.
  const bool older = json.members().size() == 7 && json.find("sha256") == nullptr;
  if (!older && json["sha256"].as_string() != own_digest(json)) {
    faults.push_back(format("{}: its content has changed", kManifestName));
  } else if (text != json.dump(2) + "\n") {
    faults.push_back(format("{}: it was written again by another hand", kManifestName));
  }
  for (const Json& listed : json["files"].items()) {
    const auto found = here.find(std::string(listed["path"].as_string()));
    if (found == here.end()) {
      faults.push_back(format("{}: missing", listed["path"].as_string()));
      continue;
    }
    if (found->second.bytes != listed["bytes"].as_uint()) {
      faults.push_back(format("{}: {} bytes; it had {}", found->first, found->second.bytes,
                              listed["bytes"].as_uint()));
    } else if (found->second.sha256 != listed["sha256"].as_string()) {
      faults.push_back(format("{}: its content has changed", found->first));
    }
    here.erase(found);
  }
  for (const auto& [name, file] : here) faults.push_back(format("{}: not listed", name));
  return faults;
}

Result<std::vector<std::string>> check_manifest_against(const std::filesystem::path& folder,
                                                        const RunReplay& replay) {
  ASSIGN_OR_RETURN(const Json json, read_manifest(folder, nullptr));
  Json logs = Json::array();
  for (const LogEnd& shard : replay.shards) logs.push_back(log_json(shard));
  // Convert through text, so that the same parser has read both sides.
  Json said = Json().set("run", to_json(replay.info)).set("end", to_json(replay.end.end));
  ASSIGN_OR_RETURN(const Json made, Json::parse(said.set("logs", logs).dump()));
  std::vector<std::string> faults;
  compare(json["run"], made["run"], "run", faults);
  compare(json["end"], made["end"], "end", faults);
  if (json["logs"].size() != logs.size()) {
    faults.push_back(format("{}: logs: {} of them; there are {}", kManifestName,
                            json["logs"].size(), logs.size()));
  } else {
    for (std::size_t i = 0; i < logs.size(); ++i) {
      compare(json["logs"][i], made["logs"][i], format("logs.{}", i), faults);
    }
  }
  // Logs of 0.1.0 do not contain the command.
  const Json& command = replay.info.command;
  if (!command.is_null()) compare(json["command"], command, "command", faults);
  return faults;
}

}  // namespace assay::record
