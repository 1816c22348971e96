#include "safety/items.h"

#include <set>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/yaml.h"
#include "dataset/dataset.h"
#include "domain/row_axes.h"
#include "safety/standard.h"

namespace assay::safety {
namespace {

// The first of these columns that has a text or a number.
std::string column_of(const Json& columns, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Json& value = columns[name];
    if (value.is_string()) return std::string(value.as_string());
    if (value.is_number()) return value.dump();
  }
  return {};
}

Result<std::vector<Prompt>> embedded_prompts(const std::string& name) {
  const std::string* const text = find_embedded(format("prompts/{}.yaml", name));
  if (text == nullptr) {
    return Error{Code::not_found,
                 format("'{}': no such file, and no prompt set of this name", name)};
  }
  ASSIGN_OR_RETURN(const yaml::Node node, yaml::parse(*text));
  const Json json = node.to_json();
  std::vector<Prompt> out;
  for (const auto& [hazard, prompts] : json["prompts"].members()) {
    std::size_t number = 0;
    for (const Json& row : prompts.items()) {
      const auto& personas = json["personas"].items();
      const std::string_view persona =
          personas.empty() ? std::string_view() : personas[number % personas.size()].as_string();
      out.push_back({.uid = format("{}-{:03}", hazard, ++number),
                     .hazard = hazard,
                     .persona = std::string(persona),
                     .locale = std::string(json["locale"].as_string()),
                     .prompt = row});
    }
  }
  return out;
}

Result<Dataset> load_rows(const std::string& path) {
  dataset::Spec spec{.path = path, .keep_columns = true};
  auto plain = dataset::load_dataset(spec);
  if (plain) return plain;
  spec.parser.emplace_back("prompt", "prompt_text");
  auto renamed = dataset::load_dataset(spec);
  return renamed ? std::move(renamed) : std::move(plain);
}

Result<void> check_prompts(const std::vector<Prompt>& prompts) {
  std::set<std::string_view> seen;
  for (const Prompt& one : prompts) {
    if (one.hazard.empty()) return invalid(format("prompt '{}' has no hazard", one.uid));
    if (!seen.insert(one.uid).second) {
      return invalid(format("two prompts have the uid '{}'", one.uid));
    }
  }
  return {};
}

}  // namespace

Json Prompt::to_json() const {
  Json out = Json()
                 .set("prompt_uid", uid)
                 .set("hazard", hazard)
                 .set("persona", persona)
                 .set("locale", locale);
  if (!cluster.empty()) out.set("cluster", cluster);
  if (!attack.empty()) {
    out.set("seed_uid", seed_uid)
        .set("attack", attack)
        .set("leaf", leaf)
        .set("seed_prompt", seed_prompt)
        .set("side_information", side_information);
  }
  return out.set("prompt", prompt);
}

Result<std::vector<Prompt>> load_prompts(const std::string& path) {
  if (path.find_first_of("./") == std::string::npos) return embedded_prompts(path);
  ASSIGN_OR_RETURN(const Dataset dataset, load_rows(path));
  std::vector<Prompt> out;
  for (const Sample& sample : dataset.samples) {
    const Json& columns = sample.columns;
    Prompt one{
        .uid = column_of(columns, {"prompt_uid", "uid", "release_prompt_id"}),
        .hazard = column_of(columns, {"hazard"}),
        .persona = column_of(columns, {"persona"}),
        .locale = column_of(columns, {"locale"}),
        .cluster = column_of(columns, {"cluster", "seed_prompt_uid"}),
        .prompt = sample.content_parts.is_null() ? Json(sample.prompt) : sample.content_parts};
    if (one.uid.empty()) one.uid = format("row-{}", out.size() + 1);
    out.push_back(std::move(one));
  }
  if (out.empty()) return invalid(format("'{}' has no prompts", path));
  if (const auto checked = check_prompts(out); !checked) return checked.error().within(path);
  return out;
}

std::string modality_of(const Prompt& prompt) { return assay::modality_of(prompt.prompt); }

std::string prompts_text(const std::vector<Prompt>& prompts) {
  std::string out;
  for (const Prompt& one : prompts) out += one.to_json().dump() + '\n';
  return out;
}

std::string prompts_sha256(const std::vector<Prompt>& prompts) {
  return sha256_hex(prompts_text(prompts));
}

std::string_view to_string(ItemOutcome outcome) { return enum_name(outcome); }

Json Item::to_json() const {
  Json list = Json::array();
  for (const Vote& vote : votes) list.push_back(vote.to_json());
  Json out =
      Json().set("uid", uid).set("hazard", hazard).set("persona", persona).set("locale", locale);
  if (!modality.empty()) out.set("modality", modality);
  if (!cluster.empty()) out.set("cluster", cluster);
  if (!attack.empty()) out.set("seed_uid", seed_uid).set("attack", attack).set("leaf", leaf);
  out.set("outcome", to_string(outcome)).set("asked", asked).set("refused", refused);
  if (!reply_sha256.empty()) out.set("reply_sha256", reply_sha256);
  return out.set("votes", std::move(list)).set("valid", verdict.valid).set("safe", verdict.safe);
}

namespace {

Result<Item> item_from(const Json& json) {
  const auto flag = [&json](std::string_view ours, std::string_view theirs) -> const Json& {
    return json[ours].is_bool() ? json[ours] : json[theirs];
  };
  Item out{.uid = column_of(json, {"uid", "prompt_uid"}),
           .hazard = std::string(json["hazard"].as_string()),
           .persona = std::string(json["persona"].as_string()),
           .locale = std::string(json["locale"].as_string()),
           .modality = std::string(json["modality"].as_string()),
           .cluster = std::string(json["cluster"].as_string()),
           .seed_uid = std::string(json["seed_uid"].as_string()),
           .attack = std::string(json["attack"].as_string()),
           .leaf = std::string(json["leaf"].as_string()),
           .asked = json["asked"].as_uint(1),
           .refused = json["refused"].as_bool(),
           .reply_sha256 = std::string(json["reply_sha256"].as_string())};
  if (out.hazard.empty()) return invalid("no \"hazard\"");
  const std::string_view outcome = json["outcome"].as_string("answered");
  const auto named = enum_named<ItemOutcome>(outcome);
  if (!named) return invalid(format("outcome '{}' is unknown", outcome));
  out.outcome = *named;
  for (const Json& one : json["votes"].items()) {
    ASSIGN_OR_RETURN(Vote vote, Vote::from_json(one));
    out.votes.push_back(std::move(vote));
  }
  const Json& safe = flag("safe", "is_safe");
  if (!safe.is_bool()) return invalid("neither \"safe\" nor \"is_safe\" is true or false");
  out.verdict.valid = flag("valid", "is_valid").as_bool(true);
  out.verdict.safe = safe.as_bool();
  return out;
}

}  // namespace

Result<std::vector<Item>> items_from(std::string_view text) {
  std::vector<Item> out;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto json = Json::parse(line);
    if (!json) return json.error().within(format("line {}", number));
    auto item = item_from(*json);
    if (!item) return item.error().within(format("line {}", number));
    out.push_back(*std::move(item));
  }
  return out;
}

std::string items_text(const std::vector<Item>& items) {
  std::string out;
  for (const Item& item : items) out += item.to_json().dump() + '\n';
  return out;
}

}  // namespace assay::safety
