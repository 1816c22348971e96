#include "safety/attacks.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/yaml.h"
#include "safety/standard.h"
#include "safety/transform.h"

namespace assay::safety {
namespace {

constexpr std::size_t kNodesMax = 10'000;
constexpr std::uint64_t kVariantsMax = 100;
constexpr std::size_t kStepsMax = 8;
constexpr std::size_t kTwinsMax = 10'000'000;

std::string word_at(const Json& json, std::string_view key) {
  return std::string(json[key].as_string());
}

std::vector<std::string> list_at(const Json& json, std::string_view key) {
  std::vector<std::string> out;
  for (const Json& one : json[key].items()) out.emplace_back(one.as_string());
  return out;
}

Result<void> check_transforms(const std::string& of, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_transform(name)) continue;
    std::vector<std::string_view> known = transform_names();
    std::string all;
    for (const std::string_view one : known) all += format("{}{}", all.empty() ? "" : ", ", one);
    return invalid(format("{}: '{}' is not a transform; there are {}", of, name, all));
  }
  return {};
}

Result<Mechanism> read_node(const Json& json) {
  Mechanism out{.id = word_at(json, "id"),
                .parent = word_at(json, "parent"),
                .name = word_at(json, "name"),
                .split = word_at(json, "split"),
                .definition = word_at(json, "definition"),
                .transforms = list_at(json, "transforms"),
                .composed = json["composed"].as_bool()};
  if (!is_plain_id(out.id)) return invalid(format("nodes: id '{}': expected {}", out.id, kPlainId));
  if (out.name.empty()) return invalid(format("node {}: name is missing", out.id));
  TRY(check_transforms(format("node {}", out.id), out.transforms));
  return out;
}

const Mechanism* node_of(const Attacks& attacks, std::string_view id) {
  const auto found = std::ranges::find(attacks.nodes, id, &Mechanism::id);
  return found == attacks.nodes.end() ? nullptr : &*found;
}

// One root, and every other node below it.
Result<void> check_tree(Attacks& attacks) {
  std::set<std::string_view> ids;
  std::size_t roots = 0;
  for (const Mechanism& node : attacks.nodes) {
    if (!ids.insert(node.id).second) return invalid(format("two nodes have the id '{}'", node.id));
    roots += node.parent.empty() ? 1U : 0U;
  }
  if (roots != 1) return invalid(format("nodes: expected one without a parent, found {}", roots));
  for (const Mechanism& node : attacks.nodes) {
    const Mechanism* at = &node;
    for (std::size_t step = 0; !at->parent.empty(); ++step) {
      const Mechanism* const parent = node_of(attacks, at->parent);
      if (parent == nullptr) {
        return invalid(format("node {}: its parent '{}' is not there", at->id, at->parent));
      }
      if (step == attacks.nodes.size()) {
        return invalid(format("node {}: its parents lead back to it", node.id));
      }
      at = parent;
    }
  }
  for (Mechanism& node : attacks.nodes) {
    node.leaf =
        std::ranges::find(attacks.nodes, node.id, &Mechanism::parent) == attacks.nodes.end();
  }
  return {};
}

// A node with children says by what they differ; a leaf says what is in it.
Result<void> check_rules(const Attacks& attacks) {
  std::set<std::string> taken;
  const Mechanism* composed = nullptr;
  for (const Mechanism& node : attacks.nodes) {
    if (!node.leaf) {
      const auto children = std::ranges::count(attacks.nodes, node.id, &Mechanism::parent);
      if (node.split.empty()) return invalid(format("node {}: split is missing", node.id));
      if (children < 2) return invalid(format("node {}: a split into one is none", node.id));
      if (!node.transforms.empty() || node.composed) {
        return invalid(format("node {}: only a leaf has transforms", node.id));
      }
      continue;
    }
    if (node.definition.empty()) {
      return invalid(format("leaf {}: definition is missing", node.id));
    }
    if (node.composed && composed != nullptr) {
      return invalid(format("leaves {} and {}: only one may be `composed`", composed->id, node.id));
    }
    if (node.composed) composed = &node;
    for (const std::string& name : node.transforms) {
      if (!taken.insert(name).second) {
        return invalid(format("transform '{}' is in two leaves, {} is the second", name, node.id));
      }
    }
  }
  return {};
}

// By the leaves' own lists; "" where none has it.
std::string derived_leaf(const Attacks& attacks, const Attack& attack) {
  for (const Mechanism& node : attacks.nodes) {
    if (!node.leaf) continue;
    if (attack.steps.size() > 1 && node.composed) return node.id;
    if (attack.steps.size() == 1 &&
        std::ranges::find(node.transforms, attack.steps.front()) != node.transforms.end()) {
      return node.id;
    }
  }
  return {};
}

Result<void> check_attack(const Attacks& attacks, const Attack& attack) {
  if (!is_plain_id(attack.id)) {
    return invalid(format("attacks: id '{}': expected {}", attack.id, kPlainId));
  }
  if (attack.steps.empty() || attack.steps.size() > kStepsMax) {
    return invalid(format("attack {}: steps: expected a list of 1 to {}", attack.id, kStepsMax));
  }
  TRY(check_transforms(format("attack {}", attack.id), attack.steps));
  if (attack.variants == 0 || attack.variants > kVariantsMax) {
    return invalid(format("attack {}: variants: 1 to {}", attack.id, kVariantsMax));
  }
  const Mechanism* const named = node_of(attacks, attack.leaf);
  if (named == nullptr || !named->leaf) {
    return invalid(format("attack {}: '{}' is not a leaf", attack.id, attack.leaf));
  }
  const std::string derived = derived_leaf(attacks, attack);
  if (derived == attack.leaf) return {};
  return invalid(format("attack {}: it says leaf {}, and its steps belong to {}", attack.id,
                        attack.leaf, derived.empty() ? "no leaf" : "leaf " + derived));
}

}  // namespace

std::vector<std::string> Attacks::leaves() const {
  std::vector<std::string> out;
  for (const Mechanism& node : nodes) {
    if (node.leaf) out.push_back(node.id);
  }
  return out;
}

Result<Attacks> attacks_from(std::string text) {
  ASSIGN_OR_RETURN(const yaml::Node node, yaml::parse(text));
  const Json json = node.to_json();
  Attacks out{.name = word_at(json, "name"),
              .seed = json["seed"].as_uint(1),
              .pairs_min = json["pairs_min"].as_uint(10)};
  if (out.name.empty()) return invalid("name: is missing");
  if (json["nodes"].size() == 0 || json["nodes"].size() > kNodesMax) {
    return invalid(format("nodes: expected a list of 1 to {}", kNodesMax));
  }
  for (const Json& one : json["nodes"].items()) {
    ASSIGN_OR_RETURN(Mechanism mechanism, read_node(one));
    out.nodes.push_back(std::move(mechanism));
  }
  TRY(check_tree(out));
  TRY(check_rules(out));
  std::set<std::string> ids;
  for (const Json& one : json["attacks"].items()) {
    Attack attack{.id = word_at(one, "id"),
                  .leaf = word_at(one, "leaf"),
                  .steps = list_at(one, "steps"),
                  .variants = one["variants"].as_uint(1)};
    TRY(check_attack(out, attack));
    if (!ids.insert(attack.id).second) {
      return invalid(format("two attacks have the id '{}'", attack.id));
    }
    out.attacks.push_back(std::move(attack));
  }
  if (out.attacks.empty()) return invalid("attacks: expected a list");
  out.sha256 = sha256_hex(text);
  out.text = std::move(text);
  return out;
}

Result<Attacks> find_attacks(const std::string& name) {
  std::string text;
  if (name.ends_with(".yaml")) {
    ASSIGN_OR_RETURN(text, read_file(name, std::size_t{16} << 20));
  } else {
    const std::string* const found = find_embedded(format("attacks/{}.yaml", name));
    if (found == nullptr) {
      return Error{
          Code::not_found,
          format("'{}': expected a file that ends in .yaml, standin or standin_pictures", name)};
    }
    text = *found;
  }
  auto attacks = attacks_from(std::move(text));
  if (!attacks) return attacks.error().within(name);
  return attacks;
}

Result<std::vector<Prompt>> with_twins(const std::vector<Prompt>& seeds, const Attacks& attacks) {
  std::size_t of_each = 1;
  for (const Attack& attack : attacks.attacks) of_each += attack.variants;
  if (of_each * seeds.size() > kTwinsMax) {
    return invalid(format("{} seeds under {} attacks: more than {} prompts", seeds.size(),
                          of_each - 1, kTwinsMax));
  }
  std::vector<Prompt> out;
  for (const Prompt& seed : seeds) {
    if (!seed.attack.empty()) {
      return invalid(format("prompt '{}' is an attacked one, and no seed", seed.uid));
    }
    out.push_back(seed);
    if (out.back().cluster.empty()) out.back().cluster = seed.uid;
    for (const Attack& attack : attacks.attacks) {
      for (std::uint64_t variant = 1; variant <= attack.variants; ++variant) {
        Transformed made{.prompt = seed.prompt};
        for (const std::string& step : attack.steps) {
          auto next = transform(step, made, attacks.seed + variant);
          if (!next) return next.error().within(format("prompt '{}', {}", seed.uid, attack.id));
          made = *std::move(next);
        }
        Prompt twin = seed;
        twin.uid = format("{}~{}~{}", seed.uid, attack.id, variant);
        twin.cluster = seed.cluster.empty() ? seed.uid : seed.cluster;
        twin.prompt = std::move(made.prompt);
        twin.seed_uid = seed.uid;
        twin.attack = attack.id;
        twin.leaf = attack.leaf;
        twin.seed_prompt = seed.prompt;
        twin.side_information = std::move(made.side_information);
        out.push_back(std::move(twin));
      }
    }
  }
  Rng rng(attacks.seed);
  for (std::size_t i = out.size() - 1; i > 0; --i) std::swap(out[i], out[rng.below(i + 1)]);
  return out;
}

}  // namespace assay::safety
