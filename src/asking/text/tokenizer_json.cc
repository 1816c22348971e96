// Reads Hugging Face's tokenizer.json. Its truncation and padding are not applied: counts are of
// whole texts.
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

namespace assay::text {
namespace {

constexpr std::size_t kTokenBytesMax = std::size_t{1} << 20;

Result<TokenId> read_id(const Json& json, std::string_view where) {
  const std::int64_t id = json.as_int(-1);
  if (!json.is_integer() || id < 0 || id > kTokenIdMax) {
    return invalid(format("{}: must be a token id, 0 to {}", where, kTokenIdMax));
  }
  return static_cast<TokenId>(id);
}

// {"token": id, …}
Result<void> read_vocabulary(const Json& json, Vocabulary& vocabulary) {
  if (!json.is_object()) return invalid("model.vocab: must be an object");
  std::size_t bytes = 0;
  for (const auto& [token, id] : json.members()) bytes += token.size();
  vocabulary.reserve(json.size(), bytes);
  for (const auto& [token, id] : json.members()) {
    if (token.size() > kTokenBytesMax) return invalid("model.vocab: a token of more than 1 MiB");
    ASSIGN_OR_RETURN(const TokenId number,
                     read_id(id, format("model.vocab['{}']", token.substr(0, 80))));
    vocabulary.add(token, number);
  }
  return {};
}

Result<TokenId> read_unknown(const Json& json, const Vocabulary& vocabulary) {
  if (json.is_null()) return kNoToken;
  return vocabulary.find(json.as_string());  // a missing token is found later, when it is needed
}

Result<void> read_merges(const Json& json, BpeModel& model) {
  model.merges.reserve(json.size());
  std::uint32_t rank = 0;
  std::string joined;
  for (const Json& merge : json.items()) {
    std::string_view left;
    std::string_view right;
    if (merge.is_string()) {
      const std::string_view line = merge.as_string();
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) {
        return invalid(format("model.merges[{}]: '{}' is not two tokens", rank, line));
      }
      left = line.substr(0, space);
      right = line.substr(space + 1);
    } else {
      left = merge[0].as_string();
      right = merge[1].as_string();
    }
    if (right.size() < model.prefix.size()) {
      return invalid(format("model.merges[{}]: '{}' is shorter than the prefix", rank, right));
    }
    joined.assign(left);
    joined += right.substr(model.prefix.size());
    const TokenId a = model.vocabulary.find(left);
    const TokenId b = model.vocabulary.find(right);
    const TokenId c = model.vocabulary.find(joined);
    if (a == kNoToken || b == kNoToken || c == kNoToken) {
      return invalid(
          format("model.merges[{}]: '{}' + '{}': not in the vocabulary", rank, left, right));
    }
    model.merges.add(a, b, {rank++, c});
  }
  return {};
}

Result<BpeModel> read_bpe(const Json& json, PreTokenizer& pre_tokenizer) {
  BpeModel model;
  TRY(read_vocabulary(json["vocab"], model.vocabulary));
  model.prefix = json["continuing_subword_prefix"].as_string();
  model.suffix = json["end_of_word_suffix"].as_string();
  model.fuse_unknown = json["fuse_unk"].as_bool();
  model.byte_fallback = json["byte_fallback"].as_bool();
  model.ignore_merges = json["ignore_merges"].as_bool();
  if (json["dropout"].as_double() > 0) {
    return Error{Code::unsupported, "model.dropout: only 0 is supported (counts must repeat)"};
  }
  ASSIGN_OR_RETURN(model.unknown, read_unknown(json["unk_token"], model.vocabulary));
  TRY(read_merges(json["merges"], model));
  model.byte_level = pre_tokenizer.ends_with_byte_level() && model.prefix.empty() &&
                     model.suffix.empty() && !model.byte_fallback;
  if (model.byte_level) pre_tokenizer.keep_bytes();
  model.finish();
  return model;
}

Result<UnigramModel> read_unigram(const Json& json) {
  UnigramModel model;
  const Json& vocabulary = json["vocab"];
  if (!vocabulary.is_array() || vocabulary.size() == 0) {
    return invalid("model.vocab: must be a list of [piece, score]");
  }
  if (vocabulary.size() > static_cast<std::size_t>(kTokenIdMax)) {
    return invalid("model.vocab: too many pieces");
  }
  double lowest = 0;
  TokenId id = 0;
  for (const Json& entry : vocabulary.items()) {
    const double score = entry[1].as_double();
    if (!entry[0].is_string() || !entry[1].is_number()) {
      return invalid(format("model.vocab[{}]: must be [piece, score]", id));
    }
    lowest = id == 0 ? score : std::min(lowest, score);
    model.vocabulary.add(entry[0].as_string(), id);
    model.pieces.add(entry[0].as_string(), id++);
    model.scores.push_back(score);
  }
  model.unknown_score = lowest - 10;
  model.byte_fallback = json["byte_fallback"].as_bool();
  if (!json["unk_id"].is_null()) {
    ASSIGN_OR_RETURN(model.unknown, read_id(json["unk_id"], "model.unk_id"));
    if (!model.vocabulary.has(model.unknown)) return invalid("model.unk_id: no such piece");
  }
  model.finish();
  return model;
}

Result<WordPieceModel> read_word_piece(const Json& json) {
  WordPieceModel model;
  TRY(read_vocabulary(json["vocab"], model.vocabulary));
  ASSIGN_OR_RETURN(model.unknown, read_unknown(json["unk_token"], model.vocabulary));
  model.prefix = json["continuing_subword_prefix"].as_string("##");
  model.chars_max = static_cast<std::size_t>(json["max_input_chars_per_word"].as_uint(100));
  return model;
}

Result<std::string> read_model(const Json& json, TokenizerParts& parts) {
  std::string_view type = json["type"].as_string();
  if (type.empty()) {
    type = json.find("merges") != nullptr                     ? "BPE"
           : json["vocab"].is_array()                         ? "Unigram"
           : json.find("max_input_chars_per_word") != nullptr ? "WordPiece"
                                                              : "WordLevel";
  }
  if (type == "BPE") {
    ASSIGN_OR_RETURN(BpeModel model, read_bpe(json, parts.pre_tokenizer));
    const std::string_view kind = model.byte_level ? "byte-level BPE" : "BPE";
    parts.model = std::move(model);
    return std::string(kind);
  }
  if (type == "Unigram") {
    ASSIGN_OR_RETURN(parts.model, read_unigram(json));
  } else if (type == "WordPiece") {
    ASSIGN_OR_RETURN(parts.model, read_word_piece(json));
  } else if (type == "WordLevel") {
    WordLevelModel model;
    TRY(read_vocabulary(json["vocab"], model.vocabulary));
    ASSIGN_OR_RETURN(model.unknown, read_unknown(json["unk_token"], model.vocabulary));
    parts.model = std::move(model);
  } else {
    return Error{Code::unsupported, format("model: no such type '{}'", type)};
  }
  return std::string(type);
}

// The file lists ids, but the public library assigns its own: the model's id if it has the token,
// else the next free one.
Result<void> read_added(const Json& json, TokenizerParts& parts) {
  const Vocabulary& vocabulary = parts.vocabulary();
  auto next = static_cast<TokenId>(vocabulary.size());
  std::size_t i = 0;
  for (const Json& entry : json.items()) {
    AddedToken token;
    token.content = entry["content"].as_string();
    if (token.content.size() > kTokenBytesMax) {
      return invalid(format("added_tokens[{}].content: longer than 1 MiB", i));
    }
    token.single_word = entry["single_word"].as_bool();
    token.strip_left = entry["lstrip"].as_bool();
    token.strip_right = entry["rstrip"].as_bool();
    token.special = entry["special"].as_bool();
    token.normalized = entry["normalized"].as_bool(!token.special);
    token.id = vocabulary.find(token.content);
    if (const AddedToken* same = parts.added.find(token.content)) token.id = same->id;
    if (token.id == kNoToken) {
      if (next > kTokenIdMax) return invalid("added_tokens: too many");
      token.id = next++;
    } else {
      next = std::max(next, token.id + 1);
    }
    if (!parts.added.add(std::move(token), parts.normalizer)) {
      return invalid(format("added_tokens[{}]: the normalizer takes too many steps or bytes", i));
    }
    ++i;
  }
  return {};
}

Result<void> surround(const Json& pair_cls, const Json& pair_sep, TokenizerParts& parts) {
  ASSIGN_OR_RETURN(const TokenId cls, read_id(pair_cls[1], "post_processor.cls"));
  ASSIGN_OR_RETURN(const TokenId sep, read_id(pair_sep[1], "post_processor.sep"));
  parts.before.insert(parts.before.begin(), cls);
  parts.after.push_back(sep);
  return {};
}

Result<void> read_template(const Json& json, TokenizerParts& parts) {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
  bool seen = false;
  for (const Json& item : json["single"].items()) {
    if (item.find("Sequence") != nullptr) {
      seen = true;
      continue;
    }
    const std::string_view name = item["SpecialToken"]["id"].as_string();
    const Json& ids = json["special_tokens"][name]["ids"];
    if (!ids.is_array()) {
      return invalid(format("post_processor.special_tokens: no '{}'", name));
    }
    for (const Json& id : ids.items()) {
      ASSIGN_OR_RETURN(const TokenId number, read_id(id, "post_processor.special_tokens"));
      (seen ? after : before).push_back(number);
    }
  }
  parts.before.insert(parts.before.begin(), before.begin(), before.end());
  parts.after.insert(parts.after.end(), after.begin(), after.end());
  return {};
}

Result<void> read_post_processor(const Json& json, TokenizerParts& parts, int depth) {
  const std::string_view type = json["type"].as_string();
  if (json.is_null() || type == "ByteLevel") return {};
  if (type == "Sequence") {
    if (depth > 20) return invalid("post_processor: nested too deeply");
    for (const Json& child : json["processors"].items()) {
      TRY(read_post_processor(child, parts, depth + 1));
    }
    return {};
  }
  if (type == "TemplateProcessing") return read_template(json, parts);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return surround(json["cls"], json["sep"], parts);
  }
  return Error{Code::unsupported, format("post_processor: no such type '{}'", type)};
}

Result<std::unique_ptr<const Tokenizer>> build(std::string_view bytes, std::string_view name) {
  ASSIGN_OR_RETURN(const Json json, Json::parse(bytes));
  if (is_tekken(json)) return make_tekken(json, name);
  if (!json["model"].is_object())
    return invalid("no \"model\": neither a tokenizer.json nor a tekken.json");
  auto parts = std::make_unique<TokenizerParts>();
  ASSIGN_OR_RETURN(parts->normalizer, Normalizer::read(json["normalizer"], "normalizer"));
  ASSIGN_OR_RETURN(parts->pre_tokenizer,
                   PreTokenizer::read(json["pre_tokenizer"], "pre_tokenizer"));
  ASSIGN_OR_RETURN(const std::string kind, read_model(json["model"], *parts));
  TRY(read_added(json["added_tokens"], *parts));
  TRY(read_post_processor(json["post_processor"], *parts, 0));
  ASSIGN_OR_RETURN(parts->decoder, Decoder::read(json["decoder"], "decoder"));
  parts->description = format("{}: {}, {} tokens", name, kind, parts->vocabulary().size());
  return std::make_unique<const Tokenizer>(std::move(parts));
}

}  // namespace

Result<std::unique_ptr<const Tokenizer>> parse_tokenizer_json(std::string_view bytes,
                                                              std::string_view name) {
  auto made = build(bytes, name);
  if (!made) return made.error().within(name);
  return made;
}

Result<std::unique_ptr<const Tokenizer>> parse_word_pieces(std::string_view bytes,
                                                           std::string_view name) {
  Json vocabulary = Json::object();
  Json added = Json::array();
  bool cased = false;
  std::int64_t id = 0;
  for (std::string_view piece : split(bytes, '\n')) {
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    if (piece.empty()) continue;
    if (piece.starts_with('[') && piece.ends_with(']') && piece.size() > 2) {
      if (!piece.starts_with("[unused")) {
        added.push_back(Json().set("id", id).set("content", piece).set("special", true));
      }
    } else {
      cased = cased || std::ranges::any_of(piece, [](char c) { return c >= 'A' && c <= 'Z'; });
    }
    vocabulary.set(piece, id++);
  }
  if (vocabulary.find("[UNK]") == nullptr) return invalid(format("{}: no piece [UNK]", name));
  const Json model = Json()
                         .set("type", "WordPiece")
                         .set("unk_token", "[UNK]")
                         .set("continuing_subword_prefix", "##")
                         .set("max_input_chars_per_word", 100)
                         .set("vocab", std::move(vocabulary));
  const Json whole =
      Json()
          .set("normalizer", Json().set("type", "BertNormalizer").set("lowercase", !cased))
          .set("pre_tokenizer", Json().set("type", "BertPreTokenizer"))
          .set("decoder", Json().set("type", "WordPiece").set("prefix", "##"))
          .set("added_tokens", std::move(added))
          .set("model", model);
  return parse_tokenizer_json(whole.dump(), name);
}

}  // namespace assay::text
