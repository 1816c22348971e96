#include "host/system_capture.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::host {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const auto text = read_file(path, std::size_t{16} << 20);
  return text ? std::string(trim(*text)) : std::string();
}

// In any order: what is found is counted by its name.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) out.push_back(entry.path());
  return out;
}

std::string value_after(std::string_view line, char separator) {
  const std::size_t at = line.find(separator);
  return at == std::string_view::npos ? std::string() : std::string(trim(line.substr(at + 1)));
}

void add_processors(const fs::path& root, Json& out) {
  const std::string text = text_of(root / "proc/cpuinfo");
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  std::int64_t threads = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("processor")) ++threads;
    if (line.starts_with("model name") && out.find("host_processor_model_name") == nullptr) {
      out.set("host_processor_model_name", value_after(line, ':'));
    }
    if (line.starts_with("physical id")) sockets.insert(socket = value_after(line, ':'));
    if (line.starts_with("core id")) cores.insert({socket, value_after(line, ':')});
  }
  if (threads == 0) return;
  const auto packages = std::max<std::int64_t>(1, static_cast<std::int64_t>(sockets.size()));
  out.set("host_processors_per_node", packages);
  if (!cores.empty()) {
    out.set("host_processor_core_count", static_cast<std::int64_t>(cores.size()) / packages);
  }
  out.set("host_processor_vcpu_count", threads);
}

void add_memory(const fs::path& root, Json& out) {
  const std::string text = text_of(root / "proc/meminfo");
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    const std::string amount = value_after(line, ':');
    const auto kib = parse_uint(split(amount, ' ').front());
    if (kib) out.set("host_memory_capacity", human_bytes(*kib * 1024));
  }
}

// Lists cards that have a device; bridges, loopback and tunnels have none.
void add_network(const fs::path& root, Json& out) {
  std::map<std::string, int> by_speed;
  for (const fs::path& card : entries(root / "sys/class/net")) {
    std::error_code error;
    if (!fs::exists(card / "device", error)) continue;
    const auto speed = parse_int(text_of(card / "speed"));
    const bool known = speed && *speed > 0;
    ++by_speed[known ? format("{} GbE", three_digits(static_cast<double>(*speed) / 1000))
                     : "speed not told"];
  }
  std::string cards;
  for (const auto& [speed, count] : by_speed) {
    cards += (cards.empty() ? "" : ", ") + format("{}x {}", count, speed);
  }
  if (!cards.empty()) out.set("host_network_card_count", cards).set("host_networking", "Ethernet");
}

void add_accelerators(const fs::path& root, Json& out) {
  std::map<std::string, std::int64_t> by_model;
  for (const fs::path& gpu : entries(root / "proc/driver/nvidia/gpus")) {
    const std::string text = text_of(gpu / "information");
    for (const std::string_view line : split(text, '\n')) {
      if (line.starts_with("Model:")) ++by_model[value_after(line, ':')];
    }
  }
  // AMD's compute driver: nodes with a graphics target are accelerators; others are processors.
  for (const fs::path& node : entries(root / "sys/class/kfd/kfd/topology/nodes")) {
    const std::string name = text_of(node / "name");
    if (!name.empty() && text_of(node / "gpu_id") != "0") ++by_model["AMD " + name];
  }
  Json list = Json::array();
  for (const auto& [model, count] : by_model) {
    list.push_back(Json().set("accelerator_model_name", model).set("accelerators_per_node", count));
  }
  if (list.size() > 0) out.set("accelerator_info", std::move(list));
  const std::string nvidia = text_of(root / "proc/driver/nvidia/version");
  const std::string amd = text_of(root / "sys/module/amdgpu/version");
  if (!nvidia.empty()) {
    out.set("driver", std::string(trim(value_after(split(nvidia, '\n').front(), ':'))));
  } else if (!amd.empty()) {
    out.set("driver", "amdgpu " + amd);
  }
}

void add_system(const fs::path& root, Json& out) {
  const std::string release = text_of(root / "etc/os-release");
  for (const std::string_view line : split(release, '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string name = value_after(line, '=');
    std::erase(name, '"');
    const std::string kernel = text_of(root / "proc/sys/kernel/osrelease");
    out.set("operating_system", kernel.empty() ? name : name + ", Linux " + kernel);
  }
  const std::string mounts = text_of(root / "proc/mounts");
  for (const std::string_view line : split(mounts, '\n')) {
    const std::vector<std::string_view> parts = split(line, ' ');
    if (parts.size() > 2 && parts[1] == "/") out.set("filesystem", parts[2]);
  }
}

}  // namespace

Json capture_node(const fs::path& root) {
  Json out = Json::object();
  out.set("system_node_ensemble_id", 0).set("number_of_nodes", 1);
  add_processors(root, out);
  add_memory(root, out);
  add_accelerators(root, out);
  add_network(root, out);
  add_system(root, out);
  return out;
}

}  // namespace assay::host
