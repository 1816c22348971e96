#include "text/decoder.h"

#include <array>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

namespace assay::text {
namespace {

using DecodeKind = Decoder::Step::Kind;
using Tokens = std::vector<std::string>;

constexpr int kDecodersDepthMax = 20;

void replace_text(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Applies the English clean-up of WordPiece and CTC.
void clean_up(std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPairs = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [from, to] : kPairs) replace_text(text, from, to);
}

void word_piece(const Decoder::Step& step, Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      if (tokens[i].starts_with(step.content)) {
        tokens[i].erase(0, step.content.size());
      } else {
        tokens[i].insert(0, 1, ' ');
      }
    }
    if (step.cleanup) clean_up(tokens[i]);
  }
}

void ctc(const Decoder::Step& step, Tokens& tokens) {
  Tokens kept;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && tokens[i] == tokens[i - 1]) continue;
    std::string token = tokens[i];
    replace_text(token, step.content, "");
    if (step.cleanup) {
      clean_up(token);
      replace_text(token, step.delimiter, " ");
    }
    if (!token.empty()) kept.push_back(std::move(token));
  }
  tokens = std::move(kept);
}

// Returns the byte of "<0x0A>", or -1.
int byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void byte_fallback(Tokens& tokens) {
  Tokens joined;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (valid_utf8(bytes)) {
      joined.push_back(bytes);
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) joined.emplace_back("\xEF\xBF\xBD");
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const int byte = byte_of(token); byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    flush();
    joined.push_back(std::move(token));
  }
  flush();
  tokens = std::move(joined);
}

void strip_step(const Decoder::Step& step, Tokens& tokens) {
  for (std::string& token : tokens) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < step.start; ++i) {
      if (!std::string_view(token).substr(begin).starts_with(step.content)) break;
      begin += step.content.size();
    }
    std::size_t end = token.size();
    for (std::size_t i = 0; i < step.stop; ++i) {
      if (!std::string_view(token).substr(begin, end - begin).ends_with(step.content)) break;
      end -= step.content.size();
    }
    token = token.substr(begin, end - begin);
  }
}

void fuse(Tokens& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens.assign(1, all);
}

}  // namespace

void Decoder::append_bytes(std::string_view token, std::string& out) const {
  if (steps_[0].kind == DecodeKind::raw || !append_from_byte_level(out, token)) out += token;
}

void Decoder::apply(const Step& step, Tokens& tokens) const {
  switch (step.kind) {
    case DecodeKind::raw:
    case DecodeKind::byte_level: {
      std::string bytes;
      for (const std::string& token : tokens) {
        if (step.kind == DecodeKind::raw || !append_from_byte_level(bytes, token)) bytes += token;
      }
      tokens.assign(1, valid_utf8(bytes) ? std::move(bytes) : replace_invalid_utf8(bytes));
      return;
    }
    case DecodeKind::word_piece:
      word_piece(step, tokens);
      return;
    case DecodeKind::metaspace:
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        replace_text(tokens[i], step.content, i == 0 && step.prepend ? "" : " ");
      }
      return;
    case DecodeKind::bpe:
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        replace_text(tokens[i], step.content, i + 1 == tokens.size() ? "" : " ");
      }
      return;
    case DecodeKind::ctc:
      ctc(step, tokens);
      return;
    case DecodeKind::replace: {
      RegexStack stack;
      for (std::string& token : tokens) {
        if (!replace_all(token, *step.pattern, step.content, stack)) return;
        stack.made(token.size());
      }
      return;
    }
    case DecodeKind::byte_fallback:
      byte_fallback(tokens);
      return;
    case DecodeKind::fuse:
      fuse(tokens);
      return;
    case DecodeKind::strip:
      strip_step(step, tokens);
      return;
  }
}

std::string Decoder::run(Tokens tokens) const {
  std::string out;
  if (steps_.empty()) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) out += ' ';
      out += tokens[i];
    }
    return out;
  }
  for (const Step& step : steps_) apply(step, tokens);
  for (const std::string& token : tokens) out += token;
  return out;
}

Decoder Decoder::raw() {
  Decoder made;
  Step step;
  step.kind = DecodeKind::raw;
  made.steps_.push_back(std::move(step));
  return made;
}

Result<Decoder> Decoder::read(const Json& json, std::string_view where) {
  Decoder made;
  TRY(read_into(json, std::string(where), 0, made.steps_));
  return made;
}

Result<void> Decoder::read_into(const Json& json, const std::string& where, int depth,
                                std::vector<Step>& steps) {
  if (json.is_null()) return {};
  if (depth > kDecodersDepthMax) return invalid(format("{}: nested too deeply", where));
  const std::string_view type = json["type"].as_string();
  if (type == "Sequence") {
    std::size_t i = 0;
    for (const Json& child : json["decoders"].items()) {
      TRY(read_into(child, format("{}.decoders[{}]", where, i++), depth + 1, steps));
    }
    return {};
  }
  Step step;
  if (type == "ByteLevel") {
    step.kind = DecodeKind::byte_level;
  } else if (type == "WordPiece") {
    step.kind = DecodeKind::word_piece;
    step.content = json["prefix"].as_string("##");
    step.cleanup = json["cleanup"].as_bool(true);
  } else if (type == "Metaspace") {
    ASSIGN_OR_RETURN(const PreTokenizer::Step space, read_metaspace(json, where));
    step.kind = DecodeKind::metaspace;
    step.content = space.replacement;
    step.prepend = space.prepend != PreTokenizer::Step::Prepend::never;
  } else if (type == "BPEDecoder") {
    step.kind = DecodeKind::bpe;
    step.content = json["suffix"].as_string("</w>");
  } else if (type == "CTC") {
    step.kind = DecodeKind::ctc;
    step.content = json["pad_token"].as_string("<pad>");
    step.delimiter = json["word_delimiter_token"].as_string("|");
    step.cleanup = json["cleanup"].as_bool(true);
  } else if (type == "Replace") {
    step.kind = DecodeKind::replace;
    step.content = json["content"].as_string();
    ASSIGN_OR_RETURN(Regex pattern, read_pattern(json["pattern"], where));
    step.pattern = std::make_shared<const Regex>(std::move(pattern));
  } else if (type == "ByteFallback") {
    step.kind = DecodeKind::byte_fallback;
  } else if (type == "Fuse") {
    step.kind = DecodeKind::fuse;
  } else if (type == "Strip") {
    step.kind = DecodeKind::strip;
    step.content = json["content"].as_string(" ");
    step.start = static_cast<std::size_t>(json["start"].as_uint());
    step.stop = static_cast<std::size_t>(json["stop"].as_uint());
    if (step.content.empty()) return invalid(format("{}.content: is empty", where));
  } else {
    return Error{Code::unsupported, format("{}: no such decoder '{}'", where, type)};
  }
  steps.push_back(std::move(step));
  return {};
}

}  // namespace assay::text
