#include "text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "base/base64.h"
#include "base/format.h"
#include "text/bpe.h"
#include "text/unicode.h"

namespace assay::text {
namespace {

using NormalKind = Normalizer::Step::Kind;

constexpr int kNormalizersDepthMax = 20;
constexpr std::size_t kNormalizersMax = 200;

template <typename Map>
std::string each_char(std::string_view text, const Map& map) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    map(c.value, out);
    at += c.bytes;
  }
  return out;
}

bool is_mark(char32_t c, CategoryMask which) { return (bit(category(c)) & which) != 0; }

// Tests BERT's own CJK blocks, including its spelling of Extension E.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string bert(std::string text, const Normalizer::Step& step) {
  using G = GeneralCategory;
  constexpr CategoryMask kControl = bit(G::cc) | bit(G::cf) | bit(G::cs) | bit(G::co);
  if (step.clean_text) {
    text = each_char(text, [](char32_t c, std::string& out) {
      if (c == '\t' || c == '\n' || c == '\r') {
        out += ' ';
      } else if (c == 0 || c == kReplacement || is_mark(c, kControl)) {
      } else if (is_space(c)) {
        out += ' ';
      } else {
        append_utf8(out, c);
      }
    });
  }
  if (step.chinese_chars) {
    text = each_char(text, [](char32_t c, std::string& out) {
      const bool apart = is_chinese(c);
      if (apart) out += ' ';
      append_utf8(out, c);
      if (apart) out += ' ';
    });
  }
  if (step.accents) {
    text = each_char(normalize(text, NormalForm::nfd), [](char32_t c, std::string& out) {
      if (!is_mark(c, bit(G::mn))) append_utf8(out, c);
    });
  }
  return step.lowercase ? lower_case_each(text) : text;
}

std::string strip_accents(std::string_view text) {
  using G = GeneralCategory;
  return each_char(text, [](char32_t c, std::string& out) {
    if (!is_mark(c, bit(G::mn) | bit(G::mc) | bit(G::me))) append_utf8(out, c);
  });
}

std::string nmt(std::string_view text) {
  return each_char(text, [](char32_t c, std::string& out) {
    const bool gone = (c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
                      c == 0x8F || c == 0x9F;
    if (gone) return;
    const bool space = c == 9 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == kReplacement;
    append_utf8(out, space ? ' ' : c);
  });
}

void strip_ends(std::string& text, bool left, bool right) {
  std::size_t begin = 0;
  while (left && begin < text.size()) {
    const CodePoint c = decode_at(text, begin);
    if (!is_space(c.value)) break;
    begin += c.bytes;
  }
  std::size_t end = text.size();
  while (right && end > begin) {
    const std::size_t last = previous(text, end);
    if (!is_space(decode_at(text, last).value)) break;
    end = last;
  }
  text = text.substr(begin, end - begin);
}

// As in the public library: a short grapheme is looked up whole, else character by character.
std::string map_graphemes(std::string_view text, const CharsMap& chars, RegexStack& stack) {
  std::string out;
  const auto map = [&](std::string_view piece) {
    const CharsMap::Hit hit = chars.exact(piece);
    if (hit.length > 0) out += hit.replacement;
    return hit.length > 0;
  };
  for (std::size_t at = 0; at < text.size() && !stack.overgrown;) {
    stack.overgrown = out.size() > stack.bytes_max;
    CodePoint c = decode_at(text, at);
    std::size_t end = at + c.bytes;
    std::int32_t state = 0;
    while (end < text.size()) {
      const CodePoint next = decode_at(text, end);
      if (utf8proc_grapheme_break_stateful(static_cast<std::int32_t>(c.value),
                                           static_cast<std::int32_t>(next.value), &state)) {
        break;
      }
      c = next;
      end += next.bytes;
    }
    const std::string_view grapheme = text.substr(at, end - at);
    if (grapheme.size() >= 6 || !map(grapheme)) {
      for (std::size_t k = 0; k < grapheme.size();) {
        const std::string_view one =
            grapheme.substr(k, utf8_length(static_cast<unsigned char>(grapheme[k])));
        if (!map(one)) out += one;
        k += one.size();
      }
    }
    at = end;
  }
  return out;
}

}  // namespace

Result<CharsMap> CharsMap::read(std::string_view blob) {
  CharsMap made;
  if (blob.empty()) return made;
  std::uint32_t bytes = 0;
  if (blob.size() < 4) return Error{Code::corrupt, "precompiled_charsmap: too short"};
  std::memcpy(&bytes, blob.data(), 4);
  if (bytes % 4 != 0 || bytes == 0 || bytes > blob.size() - 4) {
    return Error{Code::corrupt, "precompiled_charsmap: the trie is larger than the map"};
  }
  made.units_.resize(bytes / 4);
  std::memcpy(made.units_.data(), blob.data() + 4, bytes);
  made.strings_ = blob.substr(4 + bytes);
  return made;
}

// Darts-clone's unit: bit 8 means that a value follows; bits 0-7 and 31 are the label, the rest is
// the position of the children.
template <typename Visit>
void CharsMap::walk(std::string_view text, const Visit& visit) const {
  if (units_.empty()) return;
  const auto offset = [](std::uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
  std::size_t node = offset(units_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0) return;
    node ^= byte;
    if (node >= units_.size()) return;
    const std::uint32_t unit = units_[node];
    if ((unit & ((1u << 31) | 0xFF)) != byte) return;
    node ^= offset(unit);
    if (node >= units_.size()) return;
    if ((unit >> 8 & 1) != 0) visit(i + 1, units_[node] & ((1u << 31) - 1));
  }
}

std::string_view CharsMap::replacement(std::uint32_t offset) const {
  if (offset >= strings_.size()) return {};
  const std::size_t end = strings_.find('\0', offset);
  return std::string_view(strings_).substr(offset, end == std::string::npos ? end : end - offset);
}

CharsMap::Hit CharsMap::longest(std::string_view text) const {
  Hit hit;
  std::uint32_t last = 0;
  walk(text, [&](std::size_t length, std::uint32_t value) {
    hit.length = length;
    last = value;
  });
  if (hit.length > 0) hit.replacement = replacement(last);
  return hit;
}

CharsMap::Hit CharsMap::exact(std::string_view text) const {
  // The public library takes the shortest key that begins the text.
  Hit hit;
  walk(text, [&](std::size_t, std::uint32_t value) {
    if (hit.length == 0) hit = {text.size(), replacement(value)};
  });
  return hit;
}

bool replace_all(std::string& text, const Regex& pattern, std::string_view content,
                 RegexStack& stack) {
  std::string out;
  std::size_t done = 0;
  Regex::Match match;
  for (std::size_t at = 0; pattern.find(text, at, stack, match);) {
    if (out.size() + content.size() + match.begin - done > stack.bytes_max) {
      stack.overgrown = true;
      return false;
    }
    out.append(text, done, match.begin - done);
    out.append(content);
    done = match.end;
    at = match.end;
    if (match.end == match.begin) {
      if (at >= text.size()) break;
      at += utf8_length(static_cast<unsigned char>(text[at]));
    }
  }
  if (stack.exhausted) return false;
  if (done == 0 && out.empty()) return true;
  out.append(text, done);
  text = std::move(out);
  return true;
}

bool Normalizer::run(std::string& text, RegexStack& stack) const {
  for (const Step& step : steps_) {
    if (text.empty()) return true;
    stack.overgrown = stack.overgrown || text.size() > stack.bytes_max;
    if (stack.overgrown) return false;
    switch (step.kind) {
      case NormalKind::nfc:
        text = normalize(text, NormalForm::nfc);
        break;
      case NormalKind::nfd:
        text = normalize(text, NormalForm::nfd);
        break;
      case NormalKind::nfkc:
        text = normalize(text, NormalForm::nfkc);
        break;
      case NormalKind::nfkd:
        text = normalize(text, NormalForm::nfkd);
        break;
      case NormalKind::lowercase:
        text = lower_case_each(text);
        break;
      case NormalKind::strip:
        strip_ends(text, step.left, step.right);
        break;
      case NormalKind::strip_accents:
        text = strip_accents(text);
        break;
      case NormalKind::replace:
        if (!replace_all(text, *step.pattern, step.content, stack)) return false;
        break;
      case NormalKind::prepend:
        text.insert(0, step.content);
        break;
      case NormalKind::precompiled:
        text = map_graphemes(text, *step.chars, stack);
        break;
      case NormalKind::bert:
        text = bert(std::move(text), step);
        break;
      case NormalKind::nmt:
        text = nmt(text);
        break;
      case NormalKind::byte_level: {
        std::string spelled;
        append_byte_level(spelled, text);
        text = std::move(spelled);
        break;
      }
    }
  }
  stack.overgrown = stack.overgrown || text.size() > stack.bytes_max;
  return !stack.overgrown;
}

Result<Regex> read_pattern(const Json& pattern, std::string_view where) {
  if (const Json* text = pattern.find("String"); text != nullptr && text->is_string()) {
    return Regex::literal(text->as_string());
  }
  if (const Json* regex = pattern.find("Regex"); regex != nullptr && regex->is_string()) {
    auto compiled = Regex::compile(regex->as_string());
    if (!compiled) return compiled.error().within(where);
    return compiled;
  }
  return invalid(format("{}.pattern: must be {{\"String\": …}} or {{\"Regex\": …}}", where));
}

Result<Normalizer> Normalizer::read(const Json& json, std::string_view where) {
  Normalizer made;
  TRY(read_into(json, std::string(where), 0, made.steps_));
  return made;
}

Result<void> Normalizer::read_into(const Json& json, const std::string& where, int depth,
                                   std::vector<Step>& steps) {
  if (json.is_null()) return {};
  if (depth > kNormalizersDepthMax) return invalid(format("{}: nested too deeply", where));
  const std::string_view type = json["type"].as_string();
  if (type == "Sequence") {
    std::size_t i = 0;
    for (const Json& child : json["normalizers"].items()) {
      TRY(read_into(child, format("{}.normalizers[{}]", where, i++), depth + 1, steps));
    }
    return {};
  }
  Step step;
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    step.kind = type == "NFC"    ? NormalKind::nfc
                : type == "NFD"  ? NormalKind::nfd
                : type == "NFKC" ? NormalKind::nfkc
                                 : NormalKind::nfkd;
  } else if (type == "Lowercase") {
    step.kind = NormalKind::lowercase;
  } else if (type == "Strip") {
    step.kind = NormalKind::strip;
    step.left = json["strip_left"].as_bool(true);
    step.right = json["strip_right"].as_bool(true);
  } else if (type == "StripAccents") {
    step.kind = NormalKind::strip_accents;
  } else if (type == "Replace") {
    step.kind = NormalKind::replace;
    step.content = json["content"].as_string();
    ASSIGN_OR_RETURN(Regex pattern, read_pattern(json["pattern"], where));
    step.pattern = std::make_shared<const Regex>(std::move(pattern));
  } else if (type == "Prepend") {
    step.kind = NormalKind::prepend;
    step.content = json["prepend"].as_string();
  } else if (type == "Precompiled") {
    step.kind = NormalKind::precompiled;
    ASSIGN_OR_RETURN(const std::string blob,
                     decode_base64(json["precompiled_charsmap"].as_string()));
    auto chars = CharsMap::read(blob);
    if (!chars) return chars.error().within(where);
    step.chars = std::make_shared<const CharsMap>(*std::move(chars));
  } else if (type == "BertNormalizer") {
    step.kind = NormalKind::bert;
    step.clean_text = json["clean_text"].as_bool(true);
    step.chinese_chars = json["handle_chinese_chars"].as_bool(true);
    step.lowercase = json["lowercase"].as_bool(true);
    step.accents = json["strip_accents"].as_bool(step.lowercase);
  } else if (type == "Nmt") {
    step.kind = NormalKind::nmt;
  } else if (type == "ByteLevel") {
    step.kind = NormalKind::byte_level;
  } else {
    return Error{Code::unsupported, format("{}: no such normalizer '{}'", where, type)};
  }
  if (steps.size() >= kNormalizersMax) {
    return invalid(format("{}: more than {} normalizers", where, kNormalizersMax));
  }
  steps.push_back(std::move(step));
  return {};
}

}  // namespace assay::text
