#include "pipeline/command_line.h"

#include <unistd.h>

#include <map>

#include "base/files.h"
#include "base/format.h"
#include "pipeline/runner.h"

namespace assay::pipeline {
namespace {

// One folder per place in the container: an output's before an input's, which may be read only.
std::vector<std::string> volume_words(const Places& places, const Step& step) {
  std::map<std::string, const Mount*> at;
  for (const Mount& mount : step.mounts) {
    const Mount*& known = at[mount.path];
    if (known == nullptr || mount.output) known = &mount;
  }
  std::vector<std::string> out;
  for (const auto& [path, mount] : at) {
    out.emplace_back("--volume");
    out.push_back(
        format("{}:{}{}", places.host_path(*mount).string(), path, mount->output ? "" : ":ro"));
  }
  return out;
}

std::vector<std::string> container_words(const Places& places, const Step& step,
                                         const std::string& engine, const std::string& box) {
  std::vector<std::string> words{engine, "run", "--rm", "--name", box, "--network", "none"};
  if (engine.ends_with("docker")) {
    words.insert(words.end(), {"--user", format("{}:{}", ::getuid(), ::getgid())});
  } else {
    words.emplace_back("--userns=keep-id");
  }
  const auto volumes = volume_words(places, step);
  words.insert(words.end(), volumes.begin(), volumes.end());
  words.push_back(step.image);
  return words;
}

}  // namespace

Result<Launch> launch_of(const Pipeline& pipeline, const Places& places, const Step& step,
                         const std::string& partition, const std::string& engine,
                         const std::string& box) {
  Launch out{.folder = places.folder(), .log = log_path(places.work(), step.id, partition)};
  const auto values = places.values(step, partition);
  if (step.type == StepType::container) {
    const auto stand_in = pipeline.site.images.find(step.image);
    if (stand_in != pipeline.site.images.end()) {
      for (const std::string& word : stand_in->second) out.words.push_back(fill_in(word, values));
    } else if (engine.empty()) {
      return Error{Code::unsupported,
                   format("'{}' is a container, and neither podman nor docker is here\n"
                          "  a stand-in: `images: {{\"{}\": COMMAND}}` in a site's file",
                          step.id, step.image)};
    } else {
      out.words = container_words(places, step, engine, box);
    }
  }
  for (const std::string& word : step.command) out.words.push_back(fill_in(word, values));
  if (step.type == StepType::container && step.partition) {
    out.words.insert(out.words.end(), {"--partition", partition});
  }
  for (const Mount& mount : step.mounts) {
    out.variables.push_back(
        format("ASSAY_MOUNT_{}={}", mount.name, places.host_path(mount).string()));
  }
  out.variables.push_back(format("ASSAY_STEP={}", step.id));
  out.variables.push_back(format("ASSAY_PARTITION={}", partition));
  out.variables.push_back(format("{}={}", kWorkMark, places.work().string()));
  return out;
}

Result<void> folders_for(const Places& places, const Step& step) {
  TRY(make_folders(places.work() / "data"));
  for (const Mount& mount : step.mounts) {
    const std::filesystem::path path = places.host_path(mount);
    std::error_code error;
    if (!mount.output && !mount.from_step.empty() && mount.file) continue;
    if (mount.output || !mount.from_step.empty()) {
      TRY(make_folders(mount.file ? path.parent_path() : path));
    }
    // A container's engine would make a folder of it.
    if (mount.output && mount.file && !std::filesystem::exists(path, error)) {
      TRY(write_file_atomic(path, ""));
    }
  }
  return {};
}

}  // namespace assay::pipeline
