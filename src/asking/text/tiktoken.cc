// Reads tiktoken files (a line for a token: base64, space, rank) and SentencePiece models, and
// detects which of the three kinds of tokenizer a path holds.
#include <array>

#include "base/base64.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"

namespace assay::text {
namespace {

constexpr std::string_view kGpt2 =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCl100k =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|)"
    R"(\s++$|\s*[\r\n]|\s+(?!\S)|\s)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kKimi =
    R"([\p{Han}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Known {
  std::string_view name{};
  std::string_view pattern{};
};
// A longer name comes before a shorter one that it contains.
constexpr std::array<Known, 11> kKnown = {{{"cl100k_base", kCl100k},
                                           {"o200k_base", kO200k},
                                           {"p50k_base", kGpt2},
                                           {"r50k_base", kGpt2},
                                           {"gpt2", kGpt2},
                                           {"multilingual", kGpt2},
                                           {"whisper", kGpt2},
                                           {"llama3", kLlama3},
                                           {"llama-3", kLlama3},
                                           {"qwen", kQwen},
                                           {"kimi", kKimi}}};

// Looks up an exact name, else compiles a regex; a file's name need only contain a known name.
Result<std::string_view> pattern_for(std::string_view file, const std::string& asked) {
  for (const Known& known : kKnown) {
    if (asked == known.name) return known.pattern;
  }
  if (!asked.empty()) return std::string_view(asked);
  const std::string lowered = lower(file);
  for (const Known& known : kKnown) {
    if (lowered.find(known.name) != std::string::npos) return known.pattern;
  }
  return invalid(
      "a tiktoken file does not say how text is cut before it is merged: name its pattern (gpt2, "
      "cl100k_base, o200k_base, llama3, qwen, kimi, whisper) or give the regex");
}

Result<void> read_ranks(std::string_view bytes, RankModel& model) {
  std::size_t number = 0;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view line = trim(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    ++number;
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    const auto rank = parse_int(space == std::string_view::npos ? "" : line.substr(space + 1));
    // Whisper's file has an empty token, spelled as padding alone; no text has it.
    const std::string_view spelled = line.substr(0, space) == "=" ? "" : line.substr(0, space);
    const auto token = decode_base64(spelled);
    if (!rank || *rank < 0 || *rank > kTokenIdMax || !token || (token->empty() && line[0] != '=')) {
      return invalid(format("line {}: must be base64, a space and a rank", number));
    }
    model.vocabulary.add(*token, static_cast<TokenId>(*rank));
  }
  return model.find_bytes();
}

// Reads the special tokens from the files beside this one.
SpecialTokens special_tokens_of(const std::filesystem::path& folder) {
  SpecialTokens special;
  const auto bytes = read_file(folder / "tokenizer_config.json", std::size_t{64} << 20);
  if (!bytes) return special;
  const auto json = Json::parse(*bytes);
  if (!json) return special;
  for (const auto& [id, token] : (*json)["added_tokens_decoder"].members()) {
    const auto number = parse_int(id);
    const std::string_view content = token["content"].as_string();
    if (!number || *number < 0 || *number > kTokenIdMax || content.empty()) continue;
    special.emplace_back(content, static_cast<TokenId>(*number));
  }
  return special;
}

}  // namespace

Result<std::unique_ptr<const Tokenizer>> parse_tiktoken(std::string_view bytes,
                                                        std::string_view name,
                                                        const TokenizerOptions& options,
                                                        const SpecialTokens& special) {
  auto parts = std::make_unique<TokenizerParts>();
  RankModel model;
  const auto read = read_ranks(bytes, model);
  if (!read) return read.error().within(name);
  const auto pattern = pattern_for(name, options.tiktoken_pattern);
  if (!pattern) return pattern.error().within(name);
  auto regex = Regex::compile(*pattern, RegexDialect::rust);
  if (!regex) return regex.error().within(name);
  parts->pre_tokenizer = PreTokenizer::split_by(*std::move(regex));
  for (const auto& [content, id] : special) {
    AddedToken token;
    token.content = content;
    token.id = id;
    token.special = true;
    token.normalized = false;
    parts->added.add(std::move(token), parts->normalizer);
  }
  parts->decoder = Decoder::raw();
  parts->description = format("{}: tiktoken, {} tokens", name, model.vocabulary.size());
  parts->model = std::move(model);
  return std::make_unique<const Tokenizer>(std::move(parts));
}

Result<std::unique_ptr<const Tokenizer>> parse_sentencepiece(std::string_view bytes,
                                                             std::string_view name) {
  auto parts = std::make_unique<TokenizerParts>();
  auto model = SentencePieceModel::read(bytes);
  if (!model) return model.error().within(name);
  if (model->bos() != kNoToken) parts->before.push_back(model->bos());
  if (model->eos() != kNoToken) parts->after.push_back(model->eos());
  parts->description = format("{}: SentencePiece {}, {} pieces", name,
                              model->is_unigram() ? "unigram" : "BPE", model->vocabulary().size());
  parts->model = *std::move(model);
  return std::make_unique<const Tokenizer>(std::move(parts));
}

Result<std::filesystem::path> tokenizer_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  for (const char* name : {"tokenizer.json", "tekken.json", "tiktoken.model", "tokenizer.model",
                           "qwen.tiktoken", "multilingual.tiktoken", "spiece.model",
                           "sentencepiece.bpe.model", "spm.model", "vocab.txt"}) {
    if (std::filesystem::exists(path / name, ignored)) return path / name;
  }
  return Error{
      Code::not_found,
      format("'{}': no tokenizer.json, tekken.json, tiktoken.model or tokenizer.model in it",
             path.string())};
}

Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::filesystem::path& path,
                                                        const TokenizerOptions& options) {
  ASSIGN_OR_RETURN(const std::filesystem::path file, tokenizer_file(path));
  ASSIGN_OR_RETURN(const std::string bytes, read_file(file, std::size_t{1} << 30));
  const std::string name = file.string();
  const std::string_view head = std::string_view(bytes).substr(0, 4096);
  if (file.extension() == ".json" || trim(head).starts_with('{')) {
    return parse_tokenizer_json(bytes, name);
  }
  if (file.filename() == "vocab.txt") return parse_word_pieces(bytes, name);
  // A protobuf of pieces begins with field 1; base64 never does.
  if (!head.empty() && head[0] == '\n') return parse_sentencepiece(bytes, name);
  return parse_tiktoken(bytes, name, options, special_tokens_of(file.parent_path()));
}

}  // namespace assay::text
