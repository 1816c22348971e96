#include "plan/config_reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "base/yaml.h"
#include "plan/chaos.h"
#include "plan/described_api.h"
#include "plan/flag_table.h"
#include "plan/flags.h"
#include "plan/own_lines.h"
#include "plan/resolve.h"
#include "plan/schema.h"
#include "plan/settings.h"
#include "plan/task_dataset.h"
#include "plan/workload.h"

namespace assay::plan {
namespace {

constexpr std::uint32_t kLocalPorts = 28232;  // Linux's default

// Returns the number of ports for outgoing connections.
std::uint32_t local_ports() {
  const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range", 1000);
  if (!text) return kLocalPorts;
  std::vector<std::uint64_t> ends;
  std::string line = *text;
  std::replace(line.begin(), line.end(), '\t', ' ');
  for (const std::string_view word : split(trim(line), ' ')) {
    if (word.empty()) continue;
    if (const auto number = parse_uint(word)) ends.push_back(*number);
  }
  if (ends.size() != 2 || ends[1] < ends[0] || ends[1] > 65535) return kLocalPorts;
  return static_cast<std::uint32_t>(ends[1] - ends[0] + 1);
}

// Expands references to the environment, in values only.
void expand_all(yaml::Node& node, const std::string& path, const Environment& environment,
                Reading& reading) {
  if (node.is_scalar() && node.text.find('$') != std::string::npos) {
    auto text = expand(node.text, environment);
    if (text) {
      node.text = *std::move(text);
      node.quoted = true;  // always text, whatever the variable holds
    } else {
      reading.wrong(node, path, text.error().message);
    }
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    expand_all(node.items[i], format("{}[{}]", path, i), environment, reading);
  }
  for (auto& [key, value] : node.members) {
    expand_all(value, path.empty() ? key.name : format("{}.{}", path, key.name), environment,
               reading);
  }
}

// Writes one line for what is wrong and one for what to do, as ux.md asks. The caller adds "error:
// " to each. A list of keys is written once.
std::string describe(const std::vector<Problem>& problems) {
  std::string out;
  std::set<std::string_view> lists;
  for (const Problem& problem : problems) {
    if (!out.empty()) out += '\n';
    std::string where = problem.place;
    const bool flag = where.starts_with("--");
    if (!problem.path.empty() && !flag) {
      where += format("{}{}", where.empty() || where == "flags" ? "" : ": ",
                      where == "flags" ? "" : problem.path);
      if (where == "flags") where = problem.path;
    }
    out += where.empty() ? problem.what : format("{}: {}", where, problem.what);
    const bool list = problem.hint.starts_with("known here: ");
    if (list && !lists.insert(problem.hint).second) continue;
    if (!problem.hint.empty()) out += format("\n       {}", problem.hint);
  }
  return out;
}

// Names a file of another kind and its use, instead of an error for each key.
std::optional<Problem> other_kind(const yaml::Node& root, const std::string& name) {
  const auto has = [&root](std::string_view wanted) {
    return std::ranges::any_of(root.members,
                               [&](const auto& member) { return member.first.name == wanted; });
  };
  for (const std::string_view own : {"datasets", "endpoint_config", "model_params", "settings"}) {
    if (has(own)) return std::nullopt;
  }
  if (has("hardware") || has("backend")) {
    return Problem{name, "", "this is a scenario, a system to simulate, and no config of a run",
                   format("assay simulate --scenario {}, or assay endpoint --scenario {} to have "
                          "it behind a URL",
                          name, name)};
  }
  if (has("workload")) {
    return Problem{name, "", "this is a workload, and no config of a run",
                   format("--workload {} in place of --config", name)};
  }
  return std::nullopt;
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& text : words) out += out.empty() ? text : ", " + text;
  return out;
}

}  // namespace

struct ConfigReader::State {
  Config config{};
  FlagState flags{};
  Reading reading{};
  Surroundings around{};
  std::filesystem::path dataset_folder = plan::dataset_folder();
  bool unreadable = false;  // the whole file; no other error is useful then
};

ConfigReader::ConfigReader() : ConfigReader(process_environment(), local_ports()) {}
ConfigReader::ConfigReader(Environment environment, std::uint32_t ports)
    : state_(std::make_unique<State>()) {
  state_->around.environment = std::move(environment);
  state_->around.local_ports = ports;
}
ConfigReader::ConfigReader(ConfigReader&&) noexcept = default;
ConfigReader& ConfigReader::operator=(ConfigReader&&) noexcept = default;
ConfigReader::~ConfigReader() = default;

void ConfigReader::read_file(const std::filesystem::path& path) {
  constexpr std::size_t kBytesMax = std::size_t{16} << 20;
  const auto text = assay::read_file(path, kBytesMax);
  if (!text) {
    state_->reading.problems.push_back({"", "", text.error().message, ""});
    state_->unreadable = true;
    return;
  }
  read_text(*text, path.string());
}

void ConfigReader::read_text(std::string_view yaml, std::string_view name) {
  Reading& reading = state_->reading;
  reading.enter(std::string(name), false);
  state_->around.from_file = true;
  auto root = yaml::parse(yaml);
  if (!root) {
    // "LINE: what" becomes "name:LINE: what".
    reading.problems.push_back({"", "", format("{}:{}", name, root.error().message), ""});
    state_->unreadable = true;
    return;
  }
  if (!root->is_map()) {
    reading.problems.push_back({std::string(name), "",
                                format("expected a map of settings, found {}", root->kind_name()),
                                ""});
    state_->unreadable = true;
    return;
  }
  if (auto problem = other_kind(*root, std::string(name))) {
    reading.problems.push_back(*std::move(problem));
    state_->unreadable = true;
    return;
  }
  auto own = read_own_lines(yaml);
  if (!own) {
    reading.problems.push_back({"", "", format("{}:{}", name, own.error().message), ""});
    state_->unreadable = true;
    return;
  }
  if (*own) merge_own_lines(*root, **std::move(own), "", reading);
  expand_all(*root, "", state_->around.environment, reading);
  read_part(config_part(), *root, &state_->config, "", reading);
}

void ConfigReader::flag(std::string_view name, std::string_view value) {
  apply_flag(state_->config, state_->flags, name, value, state_->reading);
}

void ConfigReader::set_time_unsaid(Duration time) { state_->around.time_unsaid = time; }

void ConfigReader::set_dataset_folder(std::filesystem::path folder) {
  state_->dataset_folder = std::move(folder);
}

Result<LoadedConfig> ConfigReader::finish() {
  Config& config = state_->config;
  Reading& reading = state_->reading;
  if (state_->unreadable) return invalid(describe(reading.problems));
  finish_flags(config, state_->flags, reading);
  // Keys that could not be read have their own errors; rules about them would only repeat these.
  const std::size_t unread = reading.problems.size();
  read_tasks(config, reading);
  read_kind(config, reading);
  read_chaos(config, state_->around.environment, reading);
  resolve(config, state_->around, reading);
  check(config, state_->around, reading);
  const auto said_before = [&](const Problem& problem) {
    return std::any_of(reading.problems.begin(),
                       reading.problems.begin() + static_cast<std::ptrdiff_t>(unread),
                       [&](const Problem& other) { return other.path == problem.path; });
  };
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < reading.problems.size(); ++i) {
    if (i < unread || !said_before(reading.problems[i])) problems.push_back(reading.problems[i]);
  }
  if (!problems.empty()) return invalid(describe(problems));
  TRY(find_task_files(config, state_->dataset_folder));
  LoadedConfig out{.config = config, .notes = reading.notes};
  out.load_unsaid = config.settings.load_pattern.type == Pattern::max_throughput &&
                    !reading.given("type") && !reading.given("settings.load_pattern.type");
  if (!reading.ignored.empty()) {
    out.notes.push_back(
        format("these keys are accepted and do nothing here: {}", joined_words(reading.ignored)));
  }
  return out;
}

std::span<const FlagInfo> run_flags() {
  static const std::vector<FlagInfo> infos = [] {
    std::vector<FlagInfo> out;
    for (const FlagRow& row : flag_rows()) out.push_back(row.info);
    return out;
  }();
  return infos;
}

}  // namespace assay::plan
