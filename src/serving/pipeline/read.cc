#include "pipeline/read.h"

#include <set>

#include "base/text.h"
#include "pipeline/graph.h"

namespace assay::pipeline {
namespace {

std::string near_word(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? std::string() : format("did you mean '{}'?", near);
}

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

constexpr std::array<std::string_view, 8> kTopKeys{"pipeline",      "steps",          "conditions",
                                                   "inputs",        "images",         "parameters",
                                                   "partition_def", "per_subject_def"};

// Keys that others use for anchors are let through; what is nearly a key of ours is a mistake.
void check_top(const yaml::Node& root, Reader& reader) {
  for (const auto& [key, value] : root.members) {
    if (std::ranges::find(kTopKeys, key.name) != kTopKeys.end()) continue;
    const std::string near = near_word(key.name, kTopKeys);
    if (near.empty()) {
      reader.note(key.line, format("{}: is not read (a place for anchors)", key.name));
    } else {
      reader.faults().add(key.line, key.name, "unknown key", near);
    }
  }
  const yaml::Node* const version = root.find("pipeline");
  if (version != nullptr && version->text != "1") {
    reader.faults().add(version->line, "pipeline", "this version is not known",
                        "write: pipeline: 1");
  }
}

// Every name of a step, of a condition and of a mount is one that is there.
class Names {
 public:
  Names(const Pipeline& pipeline, Faults& faults) : pipeline_(pipeline), faults_(faults) {
    for (const Step& step : pipeline.steps) steps_.push_back(step.id);
    for (const Condition& one : pipeline.site.conditions) conditions_.push_back(one.id);
  }

  void check() {
    check_once();
    for (const Step& step : pipeline_.steps) {
      check_next(step);
      for (const Mount& mount : step.mounts) check_mount(step, mount);
      check_fields(step);
      check_texts(step);
    }
  }

 private:
  static std::string field_of(const Step& step, std::string_view key) {
    return format("steps.{}.{}", step.id, key);
  }

  void check_once() {
    std::map<std::string, int> lines;
    for (const Step& step : pipeline_.steps) {
      const auto [first, is_new] = lines.emplace(step.id, step.line);
      if (is_new || step.id.empty()) continue;
      faults_.add(step.line, "steps." + step.id,
                  format("this id is given twice; the first is on line {}", first->second));
    }
  }

  void check_step(const Step& from, std::string_view name, int line) {
    if (std::ranges::find(steps_, name) != steps_.end()) return;
    faults_.add(line, field_of(from, "next"), format("there is no step '{}'", name),
                near_word(name, steps_));
  }

  void check_next(const Step& step) {
    for (const std::string& name : step.next.always) check_step(step, name, step.next.line);
    for (const std::string& name : step.next.otherwise) check_step(step, name, step.next.line);
    for (const Branch& branch : step.next.branches) {
      for (const std::string& name : branch.targets) check_step(step, name, branch.line);
      if (std::ranges::find(conditions_, branch.condition) != conditions_.end()) continue;
      faults_.add(branch.line, field_of(step, "next.if"),
                  format("there is no condition '{}'", branch.condition),
                  near_word(branch.condition, conditions_));
    }
  }

  void check_mount(const Step& step, const Mount& mount) {
    if (mount.from_step.empty()) return;
    const std::string field = field_of(step, "mounts." + mount.name + ".from");
    const Step* const from = pipeline_.find(mount.from_step);
    if (from == nullptr) {
      faults_.add(mount.line, field, format("there is no step '{}'", mount.from_step),
                  near_word(mount.from_step, steps_));
      return;
    }
    const Mount* const source = from->find_mount(mount.from_mount);
    if (source == nullptr) {
      std::vector<std::string_view> names;
      for (const Mount& one : from->mounts) names.push_back(one.name);
      faults_.add(mount.line, field,
                  format("step '{}' has no mount '{}'", from->id, mount.from_mount),
                  names.empty() ? "it has none" : "it has: " + joined(names));
    } else if (!source->from_step.empty()) {
      faults_.add(mount.line, field,
                  format("'{}' of step '{}' is itself from step '{}'", source->name, from->id,
                         source->from_step),
                  "name that step here");
    }
  }

  void check_fields(const Step& step) {
    const bool runs = step.type == StepType::process || step.type == StepType::container;
    if (runs && step.command.empty()) {
      faults_.add(step.line, field_of(step, "command"), "is missing",
                  "write the program and its arguments");
    }
    if (step.type == StepType::container && step.image.empty()) {
      faults_.add(step.line, field_of(step, "image"), "is missing", "write the container's image");
    }
    if (!runs && !step.command.empty()) {
      faults_.add(step.line, field_of(step, "command"),
                  format("a step of type {} runs nothing", to_string(step.type)));
    }
    if (step.type == StepType::wait_for_file && step.file.path.empty()) {
      faults_.add(step.line, field_of(step, "file"), "is missing",
                  "write the path that is waited for; * and ? are allowed");
    }
    if (step.partition && !pipeline_.site.partition_def) {
      faults_.add(step.line, field_of(step, "partition"),
                  "no partition_def says which partitions there are",
                  "partition_def: {type: folders, path: \"{data_path}/*\"}");
    }
  }

  void check_texts(const Step& step) {
    const bool strict = step.type != StepType::container;
    for (const std::string& one : step.command) check_text(step, "command", one, strict);
    for (const std::string& one : step.inputs) check_text(step, "inputs", one, true);
    for (const std::string& one : step.outputs) check_text(step, "outputs", one, true);
    check_text(step, "file", step.file.path, true);
  }

  // A container's command may have braces of its own.
  void check_text(const Step& step, std::string_view key, const std::string& text, bool strict) {
    const auto names = names_in(text);
    if (!names) {
      if (strict) faults_.add(step.line, field_of(step, key), names.error().message);
      return;
    }
    for (const std::string& name : *names) {
      if (!strict || is_known(step, name)) continue;
      faults_.add(step.line, field_of(step, key), format("nothing is called {{{}}} here", name),
                  "known are partition, step, work, parameters.NAME, and the names of mounts and "
                  "inputs; {{ is a brace");
    }
  }

  bool is_known(const Step& step, const std::string& name) const {
    constexpr std::string_view kParameters = "parameters.";
    if (name == "partition") return step.partition;
    if (name.starts_with(kParameters)) {
      return pipeline_.site.parameters.contains(name.substr(kParameters.size()));
    }
    return name == "step" || name == "work" || step.find_mount(name) != nullptr ||
           pipeline_.site.inputs.contains(name);
  }

  const Pipeline& pipeline_;
  Faults& faults_;
  std::vector<std::string_view> steps_{};
  std::vector<std::string_view> conditions_{};
};

void note_unused(const Pipeline& pipeline, Reader& reader) {
  std::set<std::string_view> used;
  for (const Step& step : pipeline.steps) {
    for (const Branch& branch : step.next.branches) used.insert(branch.condition);
  }
  for (const Condition& one : pipeline.site.conditions) {
    if (!used.contains(one.id)) {
      reader.note(one.line, format("conditions.{}: no step asks it", one.id));
    }
  }
}

Result<yaml::Node> parse_root(std::string_view text, std::string_view name) {
  auto root = yaml::parse(text);
  if (!root) return invalid(format("{}:{}", name, root.error().message));
  if (!root->is_map()) {
    return invalid(format("{}:{}: expected a map with `steps`, not {}", name,
                          std::max(root->line, 1), root->kind_name()));
  }
  return root;
}

Result<Pipeline> checked(Pipeline pipeline, Reader& reader) {
  Names(pipeline, reader.faults()).check();
  if (!reader.faults().none()) return reader.faults().error();
  make_graph(pipeline, reader.faults());
  if (!reader.faults().none()) return reader.faults().error();
  return pipeline;
}

}  // namespace

std::string Reader::text(const yaml::Node& node, std::string_view field) {
  if (node.is_scalar()) return node.text;
  faults_.add(node.line, field, format("expected text, not {}", node.kind_name()));
  return {};
}

std::string Reader::id(const yaml::Node& node, std::string_view field) {
  std::string out = text(node, field);
  if (node.is_scalar() && !is_plain_id(out)) {
    faults_.add(node.line, field, format("'{}' can't be a name", out),
                format("a name is {}", kPlainId));
  }
  return out;
}

bool Reader::flag(const yaml::Node& node, std::string_view field) {
  const Json value = node.to_json();
  if (!value.is_bool()) faults_.add(node.line, field, "expected true or false");
  return value.as_bool();
}

std::int64_t Reader::count(const yaml::Node& node, std::string_view field, std::int64_t least) {
  const Json value = node.is_scalar() ? node.to_json() : Json();
  constexpr std::int64_t kMost = 1'000'000;
  if (!value.is_integer() || value.as_int() < least || value.as_int() > kMost) {
    faults_.add(node.line, field, format("expected a whole number from {} to {}", least, kMost));
    return least;
  }
  return value.as_int();
}

Duration Reader::duration(const yaml::Node& node, std::string_view field) {
  const auto value = parse_duration(node.is_scalar() ? node.text : "", 1_s);
  if (!value || *value < Duration{}) {
    faults_.add(node.line, field, "expected a duration",
                "such as 30, 90s, 10m, 2h; a bare number is seconds");
    return {};
  }
  return *value;
}

std::vector<std::string> Reader::texts(const yaml::Node& node, std::string_view field) {
  if (!node.is_list()) return {text(node, field)};
  std::vector<std::string> out;
  for (const yaml::Node& item : node.items) out.push_back(text(item, field));
  return out;
}

std::vector<std::string> Reader::command(const yaml::Node& node, std::string_view field) {
  if (node.is_list()) return texts(node, field);
  auto words = split_command(text(node, field));
  if (words) return std::move(*words);
  faults_.add(node.line, field, words.error().message);
  return {node.text};
}

bool Reader::is_map(const yaml::Node& node, std::string_view field) {
  if (!node.is_map())
    faults_.add(node.line, field, format("expected a map, not {}", node.kind_name()));
  return node.is_map();
}

bool Reader::is_list(const yaml::Node& node, std::string_view field) {
  if (!node.is_list()) {
    faults_.add(node.line, field, format("expected a list, not {}", node.kind_name()));
  }
  return node.is_list();
}

void Reader::check_keys(const yaml::Node& map, std::string_view field,
                        std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : map.members) {
    if (std::ranges::find(known, key.name) != known.end()) continue;
    const std::string near = near_word(key.name, known);
    faults_.add(key.line, format("{}.{}", field, key.name), "unknown key",
                near.empty() ? "known are: " + joined(known) : near);
  }
}

int Reader::choice(const yaml::Node& node, std::string_view field,
                   std::initializer_list<std::string_view> words) {
  const std::string word = text(node, field);
  int at = 0;
  for (const std::string_view one : words) {
    if (one == word) return at;
    ++at;
  }
  if (!node.is_scalar()) return -1;
  const std::string near = near_word(word, words);
  faults_.add(node.line, field, format("unknown value '{}'", word),
              near.empty() ? "one of: " + joined(words) : near);
  return -1;
}

const yaml::Node* Reader::needed(const yaml::Node& map, std::string_view field,
                                 std::string_view key) {
  const yaml::Node* const found = map.find(key);
  if (found != nullptr && !found->is_null()) return found;
  faults_.add(found != nullptr ? found->line : map.line, format("{}.{}", field, key), "is missing");
  return nullptr;
}

Result<Pipeline> read_pipeline(std::string_view text, std::string_view name) {
  ASSIGN_OR_RETURN(const yaml::Node root, parse_root(text, name));
  Reader reader(name);
  check_top(root, reader);
  Pipeline pipeline{.name = std::string(name)};
  const yaml::Node* const steps = root.find("steps");
  if (steps == nullptr || !steps->is_list() || steps->items.empty()) {
    reader.faults().add(steps == nullptr ? 1 : steps->line, "steps", "expected a list of steps",
                        "steps: [{id: prepare, type: process, command: [python3, prepare.py]}]");
    return reader.faults().error();
  }
  if (steps->items.size() > kStepsMax) {
    reader.faults().add(steps->line, "steps", format("more than {} steps", kStepsMax));
    return reader.faults().error();
  }
  for (std::size_t i = 0; i < steps->items.size(); ++i) {
    pipeline.steps.push_back(reader.step(steps->items[i], format("steps[{}]", i)));
  }
  pipeline.site = reader.site(root);
  note_unused(pipeline, reader);
  pipeline.notes = reader.notes();
  return checked(std::move(pipeline), reader);
}

Result<Pipeline> with_site(Pipeline pipeline, std::string_view text, std::string_view name) {
  ASSIGN_OR_RETURN(const yaml::Node root, parse_root(text, name));
  Reader reader(name);
  reader.check_keys(root, "site",
                    {"inputs", "parameters", "images", "conditions", "partition_def"});
  Site site = reader.site(root);
  if (!reader.faults().none()) return reader.faults().error();
  site.inputs.merge(pipeline.site.inputs);
  site.parameters.merge(pipeline.site.parameters);
  site.images.merge(pipeline.site.images);
  for (Condition& one : pipeline.site.conditions) {
    const auto same = [&](const Condition& own) { return own.id == one.id; };
    if (std::ranges::none_of(site.conditions, same)) site.conditions.push_back(std::move(one));
  }
  if (!site.partition_def) site.partition_def = std::move(pipeline.site.partition_def);
  pipeline.site = std::move(site);
  return checked(std::move(pipeline), reader);
}

}  // namespace assay::pipeline
