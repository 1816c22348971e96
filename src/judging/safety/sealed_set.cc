#include "safety/sealed_set.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json_list.h"
#include "base/merkle.h"
#include "base/secret.h"
#include "base/text.h"

namespace assay::safety {
namespace {

constexpr std::string_view kWord = "assay-sealed-set";
constexpr std::size_t kPromptsMax = 1'000'000;

Error corrupt(std::string why) { return Error{Code::corrupt, std::move(why)}; }

Json bare_header(const SealedRows& set) {
  return Json()
      .set("format", kWord)
      .set("version", 1)
      .set("name", set.name)
      .set("cipher", "aes-256-gcm")
      .set("prompts", set.prompts)
      .set("key_id", set.key_id)
      .set("root", set.root);
}

std::string about_box(const SealedRows& set, const std::string& uid) {
  return format("assay prompt {} {}", set.key_id, uid);
}

Result<SealedRows> read_header(const Json& json) {
  if (json["format"].as_string() != kWord || json["version"].as_int() != 1) {
    return corrupt("this is not a sealed set of version 1");
  }
  SealedRows out{.name = std::string(json["name"].as_string()),
                 .prompts = json["prompts"].as_uint(),
                 .root = std::string(json["root"].as_string()),
                 .key_id = std::string(json["key_id"].as_string())};
  out.commitment = sha256_hex(bare_header(out).dump());
  // Compared as text: an unknown member, another order or spelling is a changed file.
  if (out.header().dump() != json.dump()) {
    return corrupt("the sealed set's header is not the one that was committed");
  }
  if (out.prompts == 0 || out.prompts > kPromptsMax) {
    return corrupt(format("a sealed set has 1 to {} prompts", kPromptsMax));
  }
  return out;
}

// The box stands beside the leaf, which has its digest.
Result<SealedRow> read_row(Json json, std::size_t index) {
  SealedRow out{.index = index, .box = std::string(json["box"].as_string())};
  json.erase("box");
  if (json["box_sha256"].as_string() != sha256_hex(out.box)) {
    return corrupt(format("row {}: its box is not the one that was committed", index + 1));
  }
  out.leaf = std::move(json);
  return out;
}

Prompt prompt_of(const Json& leaf) {
  const auto text = [&leaf](std::string_view key) { return std::string(leaf[key].as_string()); };
  return Prompt{.uid = text("uid"),
                .hazard = text("hazard"),
                .persona = text("persona"),
                .locale = text("locale"),
                .cluster = text("cluster")};
}

SealedRow seal_row(const SealedRows& set, const Prompt& prompt, std::size_t index,
                   const SealKey& key) {
  // The salt keeps a reader from trying likely prompts against the digest.
  const std::string salt = random_secret();
  const std::string inner = Json().set("salt", salt).set("prompt", prompt.prompt).dump();
  SealedRow out{.index = index,
                .box = encode_base64(seal_box(key, inner, about_box(set, prompt.uid)))};
  out.leaf = Json()
                 .set("uid", prompt.uid)
                 .set("hazard", prompt.hazard)
                 .set("persona", prompt.persona)
                 .set("locale", prompt.locale)
                 .set("cluster", prompt.cluster)
                 .set("prompt_sha256", sha256_hex(inner))
                 .set("box_sha256", sha256_hex(out.box));
  return out;
}

MerkleTree tree_of(const SealedRows& set) {
  std::vector<std::string> leaves;
  for (const SealedRow& row : set.rows) leaves.push_back(merkle_leaf(row.leaf.dump()));
  return MerkleTree(std::move(leaves));
}

Result<void> check_uids(const SealedRows& rows) {
  std::set<std::string_view> seen;
  for (const SealedRow& row : rows.rows) {
    const std::string_view uid = row.leaf["uid"].as_string();
    if (uid.empty() || row.leaf["hazard"].as_string().empty()) {
      return corrupt(format("row {} has no uid or no hazard", row.index + 1));
    }
    if (!seen.insert(uid).second) return corrupt(format("two rows have the uid '{}'", uid));
  }
  return {};
}

}  // namespace

Json SealedRows::header() const { return bare_header(*this).set("commitment", commitment); }

std::string seal_prompts(const std::vector<Prompt>& prompts, const std::string& name,
                         const SealKey& key) {
  CHECK(!prompts.empty() && prompts.size() <= kPromptsMax);
  SealedRows set{.name = name, .prompts = prompts.size(), .key_id = key.id()};
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    set.rows.push_back(seal_row(set, prompts[i], i, key));
  }
  set.root = tree_of(set).root();
  set.commitment = sha256_hex(bare_header(set).dump());
  std::string out = set.header().dump() + '\n';
  for (const SealedRow& row : set.rows) out += Json(row.leaf).set("box", row.box).dump() + '\n';
  return out;
}

bool is_sealed(std::string_view text) {
  return text.starts_with(format("{{\"format\":\"{}\"", kWord));
}

Result<SealedRows> read_sealed(std::string_view text) {
  if (!text.ends_with('\n')) return corrupt("the sealed set ends within a line");
  text.remove_suffix(1);
  SealedRows out;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    auto json = Json::parse(line);
    if (!json) return json.error().within(format("line {}", number));
    if (json->dump() != line) {
      return corrupt(format("line {} is not as it was sealed", number));
    }
    if (number == 1) {
      ASSIGN_OR_RETURN(out, read_header(*json));
      continue;
    }
    ASSIGN_OR_RETURN(SealedRow row, read_row(*std::move(json), number - 2));
    out.rows.push_back(std::move(row));
  }
  if (out.rows.size() != out.prompts) {
    return corrupt(format("{} prompts, and the header says {}", out.rows.size(), out.prompts));
  }
  if (tree_of(out).root() != out.root) {
    return corrupt("the prompts are not those that were committed (Merkle root)");
  }
  TRY(check_uids(out));
  return out;
}

std::vector<std::size_t> draw_rows(const SealedRows& set, std::size_t count,
                                   std::string_view seed) {
  std::vector<std::pair<std::string, std::size_t>> order;
  const bool all = count == 0 || count >= set.prompts;
  for (std::size_t i = 0; i < set.prompts; ++i) {
    order.emplace_back(all ? "" : sha256_hex(format("{} {} {}", set.commitment, i, seed)), i);
  }
  std::ranges::sort(order);
  if (!all) order.resize(count);
  std::vector<std::size_t> out;
  for (const auto& [digest, index] : order) out.push_back(index);
  std::ranges::sort(out);
  return out;
}

Json used_rows(const SealedRows& set, std::size_t count, std::string_view seed) {
  const MerkleTree tree = tree_of(set);
  const std::size_t drawn = count == 0 ? set.prompts : std::min(count, set.prompts);
  Json rows = Json::array();
  for (const std::size_t index : draw_rows(set, count, seed)) {
    rows.push_back(Json()
                       .set("index", index)
                       .set("leaf", set.rows[index].leaf)
                       .set("path", json_list(tree.path(index)))
                       .set("box", set.rows[index].box));
  }
  return Json()
      .set("set", set.header())
      .set("draw", Json().set("prompts", drawn).set("seed", seed))
      .set("used", std::move(rows));
}

Result<SealedRows> read_used(const Json& used) {
  ASSIGN_OR_RETURN(SealedRows out, read_header(used["set"]));
  for (const Json& one : used["used"].items()) {
    const std::size_t index = one["index"].as_uint(out.prompts);
    ASSIGN_OR_RETURN(SealedRow row, read_row(Json(one["leaf"]).set("box", one["box"]), index));
    std::vector<std::string> path;
    for (const Json& hash : one["path"].items()) path.emplace_back(hash.as_string());
    if (!merkle_path_holds(merkle_leaf(row.leaf.dump()), index, out.prompts, path, out.root)) {
      return corrupt(
          format("the prompt '{}' is not proven to be of the set", row.leaf["uid"].as_string()));
    }
    out.rows.push_back(std::move(row));
  }
  if (used["draw"]["prompts"].as_uint() != out.rows.size() || out.rows.empty()) {
    return corrupt("the number of prompts is not that of the draw");
  }
  const std::vector<std::size_t> drawn =
      draw_rows(out, used["draw"]["prompts"].as_uint(), used["draw"]["seed"].as_string());
  const bool same =
      std::ranges::equal(drawn, out.rows, {}, {}, [](const SealedRow& row) { return row.index; });
  if (!same) return corrupt("the prompts are not those that the draw gives");
  TRY(check_uids(out));
  return out;
}

Result<std::vector<Prompt>> open_rows(const SealedRows& rows, const SealKey& key) {
  if (key.id() != rows.key_id) {
    return invalid(
        format("the set was sealed with key {}, and this is key {}", rows.key_id, key.id()));
  }
  std::vector<Prompt> out = public_prompts(rows);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string box, decode_base64(rows.rows[i].box));
    auto inner = open_box(key, box, about_box(rows, out[i].uid));
    if (!inner) return inner.error().within(format("prompt '{}'", out[i].uid));
    if (sha256_hex(*inner) != rows.rows[i].leaf["prompt_sha256"].as_string()) {
      return corrupt(format("prompt '{}' is not the one that was committed", out[i].uid));
    }
    ASSIGN_OR_RETURN(const Json json, Json::parse(*inner));
    out[i].prompt = json["prompt"];
  }
  return out;
}

std::vector<Prompt> public_prompts(const SealedRows& rows) {
  std::vector<Prompt> out;
  for (const SealedRow& row : rows.rows) out.push_back(prompt_of(row.leaf));
  return out;
}

}  // namespace assay::safety
