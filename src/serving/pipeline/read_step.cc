// One step of a pipeline's file: its fields, its mounts, what comes next.
#include <algorithm>
#include <utility>

#include "pipeline/read.h"

namespace assay::pipeline {

Branch Reader::branch(const yaml::Node& node, const std::string& field) {
  Branch out{.line = node.line};
  if (!is_map(node, field)) return out;
  check_keys(node, field, {"condition", "target"});
  if (const yaml::Node* const one = needed(node, field, "condition")) {
    out.condition = text(*one, field + ".condition");
  }
  if (const yaml::Node* const one = needed(node, field, "target")) {
    out.targets = texts(*one, field + ".target");
  }
  return out;
}

Next Reader::next(const yaml::Node& node, const std::string& field, const std::string& own) {
  Next out{.line = node.line};
  if (node.is_null()) return out;
  if (!node.is_map()) {
    out.always = texts(node, field);
    return out;
  }
  check_keys(node, field, {"if", "else", "wait"});
  const yaml::Node* const branches = needed(node, field, "if");
  if (branches != nullptr && is_list(*branches, field + ".if")) {
    for (std::size_t i = 0; i < branches->items.size(); ++i) {
      out.branches.push_back(branch(branches->items[i], format("{}.if[{}]", field, i)));
    }
    if (out.branches.empty()) faults_.add(branches->line, field + ".if", "expected at least one");
  }
  if (const yaml::Node* const wait = node.find("wait")) {
    out.wait = duration(*wait, field + ".wait");
  }
  const yaml::Node* const otherwise = node.find("else");
  if (otherwise == nullptr || otherwise->is_null()) return out;
  out.otherwise = texts(*otherwise, field + ".else");
  // To come back to itself means to ask again.
  if (out.otherwise.size() == 1 && out.otherwise.front() == own) out.otherwise.clear();
  if (std::ranges::find(out.otherwise, own) != out.otherwise.end()) {
    faults_.add(otherwise->line, field + ".else", "waits here and goes on at the same time",
                format("either '{}' alone, or other steps", own));
  }
  return out;
}

Mount Reader::mount(const std::pair<yaml::Key, yaml::Node>& member, const std::string& field,
                    bool output) {
  Mount out{.name = member.first.name, .output = output, .line = member.first.line};
  const yaml::Node& node = member.second;
  if (!is_map(node, field)) return out;
  check_keys(node, field, {"mount_path", "type", "from"});
  if (const yaml::Node* const one = needed(node, field, "mount_path")) {
    out.path = text(*one, field + ".mount_path");
  }
  if (const yaml::Node* const one = needed(node, field, "type")) {
    out.file = choice(*one, field + ".type", {"directory", "file"}) == 1;
  }
  const yaml::Node* const from = node.find("from");
  if (from == nullptr) return out;
  if (output) {
    faults_.add(from->line, field + ".from", "an output comes from this step itself");
    return out;
  }
  if (!is_map(*from, field + ".from")) return out;
  check_keys(*from, field + ".from", {"step", "mount"});
  if (const yaml::Node* const one = needed(*from, field + ".from", "step")) {
    out.from_step = text(*one, field + ".from.step");
  }
  if (const yaml::Node* const one = needed(*from, field + ".from", "mount")) {
    out.from_mount = text(*one, field + ".from.mount");
  }
  return out;
}

void Reader::mounts(const yaml::Node& node, const std::string& field, Step& step) {
  if (!is_map(node, field)) return;
  check_keys(node, field, {"input_volumes", "output_volumes"});
  for (const bool output : {false, true}) {
    const std::string key = output ? "output_volumes" : "input_volumes";
    const yaml::Node* const volumes = node.find(key);
    if (volumes == nullptr || volumes->is_null()) continue;
    if (!is_map(*volumes, format("{}.{}", field, key))) continue;
    for (const auto& member : volumes->members) {
      const std::string own = format("{}.{}.{}", field, key, member.first.name);
      if (step.find_mount(member.first.name) != nullptr) {
        faults_.add(member.first.line, own, "is an input and an output of one name");
        continue;
      }
      // A name becomes a folder's.
      static_cast<void>(id(yaml::Node::scalar(member.first.name, member.first.line), own));
      step.mounts.push_back(mount(member, own, output));
    }
  }
}

FilePattern Reader::pattern(const yaml::Node& map, const std::string& field, std::string_view key) {
  FilePattern out;
  if (const yaml::Node* const one = needed(map, field, key)) {
    out.path = text(*one, format("{}.{}", field, key));
  }
  if (const yaml::Node* const one = map.find("count")) {
    out.count = count(*one, field + ".count", 1);
  }
  return out;
}

Step Reader::step(const yaml::Node& node, const std::string& at) {
  Step out{.line = node.line};
  if (!is_map(node, at)) return out;
  check_keys(node, at,
             {"id",    "type",    "image",    "command",     "mounts",    "next",     "partition",
              "limit", "retries", "timeout",  "inputs",      "outputs",   "file",     "count",
              "start", "last",    "on_error", "per_subject", "cpu_share", "mem_limit"});
  if (const yaml::Node* const one = needed(node, at, "id")) out.id = id(*one, at + ".id");
  const std::string field = out.id.empty() ? at : "steps." + out.id;
  if (const yaml::Node* const one = needed(node, field, "type")) {
    const int type = choice(*one, field + ".type",
                            {"process", "container", "dummy", "manual_approval", "wait_for_file"});
    out.type = static_cast<StepType>(std::max(type, 0));
  }
  const auto with = [&](std::string_view key, auto&& read) {
    const yaml::Node* const one = node.find(key);
    if (one != nullptr && !one->is_null()) read(*one, format("{}.{}", field, key));
  };
  using yaml::Node;
  using Field = const std::string&;
  with("image", [&](const Node& n, Field f) { out.image = text(n, f); });
  with("command", [&](const Node& n, Field f) { out.command = command(n, f); });
  with("mounts", [&](const Node& n, Field f) { mounts(n, f, out); });
  with("next", [&](const Node& n, Field f) { out.next = next(n, f, out.id); });
  with("per_subject", [&](const Node& n, Field f) {
    out.partition = flag(n, f);
    note(n.line, f + ": read as `partition`");
  });
  with("partition", [&](const Node& n, Field f) { out.partition = flag(n, f); });
  with("limit", [&](const Node& n, Field f) { out.limit = count(n, f, 1); });
  with("retries", [&](const Node& n, Field f) { out.retries = count(n, f, 0); });
  with("timeout", [&](const Node& n, Field f) { out.timeout = duration(n, f); });
  with("inputs", [&](const Node& n, Field f) { out.inputs = texts(n, f); });
  with("outputs", [&](const Node& n, Field f) { out.outputs = texts(n, f); });
  with("start", [&](const Node& n, Field f) { out.start = flag(n, f); });
  if (node.find("file") != nullptr) out.file = pattern(node, field, "file");
  for (const std::string_view key : {"on_error", "cpu_share", "mem_limit", "last"}) {
    with(key, [&](const Node& n, Field f) { note(n.line, f + ": has no effect"); });
  }
  if (out.type != StepType::wait_for_file && !out.file.path.empty()) {
    faults_.add(out.line, field + ".file", "only a step of type wait_for_file waits for one");
  }
  return out;
}

}  // namespace assay::pipeline
