#include "pipeline/places.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 6> kScripts{".py", ".sh", ".pl", ".R", ".jl", ".js"};

bool is_pattern(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

// The part of a pattern before its first `*`, and how many parts follow.
fs::path fixed_part(const fs::path& pattern) {
  fs::path out;
  for (const fs::path& part : pattern) {
    if (is_pattern(part.string())) break;
    out /= part;
  }
  return out;
}

// RFC 6901.
const Json* at_pointer(const Json& json, std::string_view pointer) {
  const Json* at = &json;
  if (pointer.empty()) return at;
  for (const std::string_view part : split(pointer.substr(1), '/')) {
    std::string name;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const bool escaped = part[i] == '~' && i + 1 < part.size();
      name += escaped ? (part[++i] == '1' ? '/' : '~') : part[i];
    }
    if (at->is_array()) {
      const auto index = parse_uint(name);
      if (!index || *index >= at->size()) return nullptr;
      at = &(*at)[static_cast<std::size_t>(*index)];
    } else {
      at = at->find(name);
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

bool same_value(const Json& a, const Json& b) {
  return a == b || (a.is_number() && b.is_number() && a.as_double() == b.as_double());
}

bool leads_out(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\n') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    return true;
  }
  const auto parts = split(name, '/');
  return std::ranges::any_of(
      parts, [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

std::string stamp_of(const struct stat& about) {
  return format("{}:{}.{}:{}", about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec,
                about.st_ino);
}

}  // namespace

std::vector<fs::path> match_files(const fs::path& pattern) {
  std::error_code ignored;
  if (!is_pattern(pattern.string())) {
    return fs::exists(fs::symlink_status(pattern, ignored)) ? std::vector{pattern}
                                                            : std::vector<fs::path>{};
  }
  std::vector<fs::path> found{fs::path()};
  for (const fs::path& part : pattern) {
    std::vector<fs::path> next;
    for (const fs::path& at : found) {
      std::error_code error;
      if (!is_pattern(part.string())) {
        if (fs::exists(fs::symlink_status(at / part, error))) next.push_back(at / part);
        continue;
      }
      fs::directory_iterator entries(at.empty() ? "." : at, error);
      for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        const fs::path name = entries->path().filename();
        if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) next.push_back(at / name);
      }
    }
    found = std::move(next);
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<std::string>> checked_partitions(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty()) return invalid("partition_def: there is no partition");
  if (names.size() > kPartitionsMax) {
    return invalid(format("partition_def: more than {} partitions", kPartitionsMax));
  }
  for (const std::string& name : names) {
    if (!leads_out(name)) continue;
    return invalid(format("partition_def: '{}' can't be a partition's name; it becomes a path",
                          name.substr(0, 80)));
  }
  return names;
}

Places::Places(const Pipeline& pipeline, fs::path folder, fs::path work)
    : pipeline_(pipeline), folder_(std::move(folder)), work_(std::move(work)) {}

fs::path Places::place(const std::string& text,
                       const std::map<std::string, std::string>& values) const {
  return (folder_ / fill_in(text, values)).lexically_normal();
}

Result<void> Places::check() const {
  for (const Step& step : pipeline_.steps) {
    for (const Mount& mount : step.mounts) {
      if (mount.output || !mount.from_step.empty()) continue;
      if (pipeline_.site.inputs.contains(mount.name)) continue;
      const bool made = std::ranges::any_of(pipeline_.steps, [&](const Step& other) {
        const Mount* const same = other.find_mount(mount.name);
        return same != nullptr && same->output;
      });
      if (made) continue;
      return invalid(
          format("{}:{}: steps.{}.mounts.{}: nothing says where this input is\n"
                 "  --input {}=PATH, or `inputs` in the file or the site's file",
                 pipeline_.name, mount.line, step.id, mount.name, mount.name));
    }
  }
  return {};
}

fs::path Places::host_path(const Mount& mount) const {
  if (!mount.from_step.empty()) {
    const Step* const from = pipeline_.find(mount.from_step);
    return host_path(*from->find_mount(mount.from_mount));
  }
  const auto given = pipeline_.site.inputs.find(mount.name);
  if (given != pipeline_.site.inputs.end()) return place(given->second, {});
  return work_ / "data" / mount.name;
}

std::map<std::string, std::string> Places::values(const Step& step,
                                                  const std::string& partition) const {
  std::map<std::string, std::string> out;
  for (const auto& [name, path] : pipeline_.site.inputs) out[name] = place(path, {}).string();
  for (const auto& [name, text] : pipeline_.site.parameters) out["parameters." + name] = text;
  for (const Mount& mount : step.mounts) out[mount.name] = host_path(mount).string();
  out["step"] = step.id;
  out["work"] = (work_ / "data").string();
  if (step.partition) out["partition"] = partition;
  return out;
}

Result<std::vector<std::string>> Places::partitions() const {
  const PartitionDef& def = *pipeline_.site.partition_def;
  std::vector<std::string> names;
  const fs::path path = place(def.path, values(Step{}, {}));
  switch (def.type) {
    case PartitionType::function:
      return Error{Code::unsupported, "partition_def: a function is code"};
    case PartitionType::list:
      names = def.items;
      break;
    case PartitionType::lines: {
      ASSIGN_OR_RETURN(const std::string text, read_file(path, std::size_t{256} << 20));
      for (const std::string_view line : split(text, '\n')) {
        if (!trim(line).empty()) names.emplace_back(trim(line));
      }
      break;
    }
    case PartitionType::folders:
    case PartitionType::files: {
      const fs::path base = fixed_part(path);
      std::error_code error;
      for (const fs::path& one : match_files(path)) {
        const bool fits = def.type == PartitionType::folders ? fs::is_directory(one, error)
                                                             : fs::is_regular_file(one, error);
        if (fits) names.push_back(one.lexically_relative(base).string());
      }
      break;
    }
  }
  auto checked = checked_partitions(std::move(names));
  if (!checked) return checked.error().within(format("{}:{}", pipeline_.name, def.line));
  return checked;
}

bool Places::holds(const FilePattern& pattern, const Step& step,
                   const std::string& partition) const {
  const auto found = match_files(place(pattern.path, values(step, partition)));
  return pattern.count ? found.size() == static_cast<std::size_t>(*pattern.count) : !found.empty();
}

bool Places::holds(const Condition& condition, const Step& step,
                   const std::string& partition) const {
  if (condition.type != ConditionType::json) return holds(condition.file, step, partition);
  const auto json = read_json_file(place(condition.file.path, values(step, partition)));
  const Json* const value = json ? at_pointer(*json, condition.pointer) : nullptr;
  if (value == nullptr) return false;
  switch (condition.compare) {
    case Compare::equals:
      return same_value(*value, condition.value);
    case Compare::at_least:
      return value->is_number() && value->as_double() >= condition.value.as_double();
    case Compare::at_most:
      return value->is_number() && value->as_double() <= condition.value.as_double();
  }
  return false;
}

Result<std::string> Places::file_digest(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) {
    return errno_error(format("cannot read '{}'", path.string()));
  }
  Known& known = files_[path.string()];
  std::string stamp = stamp_of(about);
  if (known.stamp == stamp) return known.digest;
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error(format("cannot read '{}'", path.string()));
  Sha256 sum;
  std::string bytes(std::size_t{1} << 16, '\0');
  while (file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    sum.add(std::string_view(bytes).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  if (file.bad()) return Error{Code::io, format("cannot read '{}'", path.string())};
  known = {std::move(stamp), sum.finish()};
  return known.digest;
}

// A folder's is of its names and their content, so two files that change places change it.
Result<std::string> Places::digest(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::string("missing");
  if (!fs::is_directory(path, error)) return file_digest(path);
  std::vector<fs::path> all;
  fs::recursive_directory_iterator entries(path, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    all.push_back(entries->path());
  }
  if (error) return Error{Code::io, format("cannot read '{}': {}", path.string(), error.message())};
  std::ranges::sort(all);
  Sha256 sum;
  for (const fs::path& one : all) {
    std::string content = "folder";
    if (fs::is_symlink(one, error) && !fs::is_regular_file(one, error)) {
      content = "link " + fs::read_symlink(one, error).string();
    } else if (fs::is_regular_file(one, error)) {
      ASSIGN_OR_RETURN(content, file_digest(one));
    }
    const std::string name = one.lexically_relative(path).string();
    sum.add(format("{}\n{}\n{}\n", name.size(), name, content));
  }
  return sum.finish();
}

// A partition's own part of an input, where there is one; else all of it.
Result<std::string> Places::input_digest(const std::string& name, const std::string& partition) {
  const fs::path path = place(pipeline_.site.inputs.at(name), {});
  std::error_code error;
  if (!partition.empty() && fs::exists(path / partition, error)) return digest(path / partition);
  auto [known, is_new] = whole_inputs_.try_emplace(name);
  if (is_new) {
    auto whole = digest(path);
    if (!whole) {
      whole_inputs_.erase(known);
      return whole;
    }
    known->second = std::move(*whole);
  }
  return known->second;
}

Result<std::string> Places::inputs_digest(const Step& step, const std::string& partition) {
  std::string out;
  if (!step.inputs.empty()) {
    const auto known = values(step, partition);
    for (const std::string& input : step.inputs) {
      const auto found = match_files(place(input, known));
      if (found.empty()) {
        return Error{Code::not_found, format("its input '{}' is not there", fill_in(input, known))};
      }
      for (const fs::path& one : found) {
        ASSIGN_OR_RETURN(const std::string sum, digest(one));
        out += format("{} {} {}\n", input, one.filename().string(), sum);
      }
    }
  } else {
    std::vector<std::string> names;
    for (const Mount& mount : step.mounts) {
      if (!mount.output && mount.from_step.empty()) names.push_back(mount.name);
    }
    for (const std::string& word : step.command) {
      const auto inside = names_in(word);
      if (inside) names.insert(names.end(), inside->begin(), inside->end());
    }
    for (const std::string& name : names) {
      if (!pipeline_.site.inputs.contains(name)) continue;
      ASSIGN_OR_RETURN(const std::string sum, input_digest(name, step.partition ? partition : ""));
      out += format("{} {}\n", name, sum);
    }
  }
  ASSIGN_OR_RETURN(const std::string programs, programs_digest(step));
  return sha256_hex(out + programs);
}

// A program's own file is an input of it. Other files of a command may be what it changes.
Result<std::string> Places::programs_digest(const Step& step) {
  std::vector<std::string> words;
  const auto stand_in = pipeline_.site.images.find(step.image);
  if (step.type == StepType::process) words = step.command;
  if (step.type == StepType::container && stand_in != pipeline_.site.images.end()) {
    words = stand_in->second;
  }
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::error_code error;
    const fs::path path = folder_ / words[i];
    if (words[i].empty() || !fs::is_regular_file(path, error)) continue;
    const std::string ending = path.extension().string();
    const bool is_script = std::ranges::find(kScripts, ending) != kScripts.end();
    if (i > 0 && !is_script) continue;
    ASSIGN_OR_RETURN(const std::string sum, file_digest(path));
    out += format("{} {}\n", words[i], sum);
  }
  return out;
}

Result<std::string> Places::outputs_digest(const Step& step, const std::string& partition) {
  const auto known = values(step, partition);
  std::vector<std::string> patterns = step.outputs;
  if (step.type == StepType::wait_for_file) patterns.push_back(step.file.path);
  std::string out;
  for (const std::string& pattern : patterns) {
    const auto found = match_files(place(pattern, known));
    if (found.empty()) return format("missing {}", fill_in(pattern, known));
    for (const fs::path& one : found) {
      ASSIGN_OR_RETURN(const std::string sum, digest(one));
      out += format("{} {} {}\n", pattern, one.filename().string(), sum);
    }
  }
  return out.empty() ? std::string() : sha256_hex(out);
}

Eyes Places::eyes() {
  Eyes out;
  out.inputs = [this](const Step& step, const std::string& partition) {
    return inputs_digest(step, partition);
  };
  out.outputs = [this](const Step& step, const std::string& partition) {
    return outputs_digest(step, partition);
  };
  return out;
}

}  // namespace assay::pipeline
