// Reads Mistral's tekken.json: a list of byte strings in the order of their ranks, the pattern that
// cuts a text, and control tokens that stand before the others (id = rank + their number).
//
// As in mistral-common, a control token that a user spells is plain text; only the text that a chat
// template made has control tokens.
#include <array>
#include <set>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

namespace assay::text {
namespace {

constexpr std::int64_t kBeginOfSequence = 1;

// Files before version v11 name no control tokens; these are theirs, by rank.
constexpr std::array<std::string_view, 20> kOldControlTokens = {"<unk>",
                                                                "<s>",
                                                                "</s>",
                                                                "[INST]",
                                                                "[/INST]",
                                                                "[AVAILABLE_TOOLS]",
                                                                "[/AVAILABLE_TOOLS]",
                                                                "[TOOL_RESULTS]",
                                                                "[/TOOL_RESULTS]",
                                                                "[TOOL_CALLS]",
                                                                "[IMG]",
                                                                "<pad>",
                                                                "[IMG_BREAK]",
                                                                "[IMG_END]",
                                                                "[PREFIX]",
                                                                "[MIDDLE]",
                                                                "[SUFFIX]",
                                                                "[SYSTEM_PROMPT]",
                                                                "[/SYSTEM_PROMPT]",
                                                                "[TOOL_CONTENT]"};

Result<std::int64_t> count_at(const Json& config, const char* field) {
  const std::int64_t count = config[field].is_integer() ? config[field].as_int(-1) : -1;
  if (count < 0 || count > kTokenIdMax) {
    return invalid(format("config.{}: must be a whole number, 0 to {}", field, kTokenIdMax));
  }
  return count;
}

Result<void> read_tekken_ranks(const Json& vocabulary, std::int64_t used, std::int64_t shift,
                               RankModel& model) {
  if (static_cast<std::int64_t>(vocabulary.size()) < used) {
    return invalid(format("vocab: {} tokens, where config.default_vocab_size needs {}",
                          vocabulary.size(), used));
  }
  for (std::int64_t i = 0; i < used; ++i) {
    const Json& entry = vocabulary[static_cast<std::size_t>(i)];
    const auto bytes = decode_base64(entry["token_bytes"].as_string());
    if (entry["rank"].as_int(-1) != i || !bytes || bytes->empty()) {
      return invalid(format("vocab[{}]: must have the rank {} and token_bytes in base64", i, i));
    }
    if (model.vocabulary.find(*bytes) != kNoToken) {
      return invalid(format("vocab[{}]: the same bytes as an earlier token", i));
    }
    model.vocabulary.add(*bytes, static_cast<TokenId>(i + shift));
  }
  return {};
}

// Ranks without a token of the file are called <SPECIAL_rank>.
Result<void> read_control(const Json& special, std::int64_t count, TokenizerParts& parts) {
  const auto place = [&parts](std::string_view content, std::int64_t rank) {
    AddedToken token;
    token.content = content;
    token.id = static_cast<TokenId>(rank);
    token.special = true;
    token.normalized = false;
    token.in_templates_only = true;
    parts.added.add(std::move(token), parts.normalizer);
  };
  std::set<std::int64_t> named;
  if (special.is_null()) {
    for (const std::string_view content : kOldControlTokens) {
      const auto rank = static_cast<std::int64_t>(named.size());
      if (rank < count) place(content, rank);
      named.insert(rank);
    }
  }
  for (std::size_t i = 0; i < special.size(); ++i) {
    const std::string_view content = special[i]["token_str"].as_string();
    const std::int64_t rank = special[i]["rank"].as_int(-1);
    if (content.empty() || rank < 0 || rank >= count || !named.insert(rank).second) {
      return invalid(
          format("special_tokens[{}]: must have a token_str and a rank of its own below "
                 "config.default_num_special_tokens ({})",
                 i, count));
    }
    place(content, rank);
  }
  for (std::int64_t rank = 0; rank < count; ++rank) {
    if (!named.contains(rank)) place(format("<SPECIAL_{}>", rank), rank);
  }
  return {};
}

}  // namespace

bool is_tekken(const Json& json) {
  return json["config"]["pattern"].is_string() && json["vocab"].is_array();
}

Result<std::unique_ptr<const Tokenizer>> make_tekken(const Json& json, std::string_view name) {
  const Json& config = json["config"];
  ASSIGN_OR_RETURN(const std::int64_t size, count_at(config, "default_vocab_size"));
  ASSIGN_OR_RETURN(const std::int64_t control, count_at(config, "default_num_special_tokens"));
  if (control > size) return invalid("config: more special tokens than tokens");
  auto parts = std::make_unique<TokenizerParts>();
  RankModel model;
  TRY(read_tekken_ranks(json["vocab"], size - control, control, model));
  TRY(model.find_bytes());
  ASSIGN_OR_RETURN(Regex regex, Regex::compile(config["pattern"].as_string(), RegexDialect::rust));
  parts->pre_tokenizer = PreTokenizer::split_by(std::move(regex));
  TRY(read_control(json["special_tokens"], control, *parts));
  if (control > kBeginOfSequence) {
    parts->before.push_back(static_cast<TokenId>(kBeginOfSequence));
  }
  parts->decoder = Decoder::raw();
  parts->description = format("{}: tekken, {} tokens", name, size);
  parts->model = std::move(model);
  return std::make_unique<const Tokenizer>(std::move(parts));
}

}  // namespace assay::text
