#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "text/unicode_newer.h"

namespace assay::text {
namespace {

using Table = std::vector<std::uint8_t>;

const std::uint8_t* categories() {
  static const Table kTable = [] {
    Table filled(kCodePoints);
    for (char32_t c = 0; c < kCodePoints; ++c) {
      filled[c] = static_cast<std::uint8_t>(utf8proc_category(static_cast<std::int32_t>(c)));
    }
    for (const NewRange& range : kNewRanges) {
      std::fill(filled.begin() + range.first, filled.begin() + range.last + 1,
                static_cast<std::uint8_t>(range.category));
    }
    return filled;
  }();
  return kTable.data();
}

constexpr std::array<std::string_view, 30> kNames = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kLongNames = {{
    {"letter", "L"},
    {"mark", "M"},
    {"number", "N"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"symbol", "S"},
    {"separator", "Z"},
    {"other", "C"},
    {"lowercase_letter", "Ll"},
    {"uppercase_letter", "Lu"},
    {"titlecase_letter", "Lt"},
    {"modifier_letter", "Lm"},
    {"other_letter", "Lo"},
    {"decimal_number", "Nd"},
}};

struct Range {
  char32_t first = 0;
  char32_t last = 0;
};

// Script=Han (Unicode 16.0, Scripts.txt).
constexpr std::array<Range, 22> kHan = {{
    {0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},
    {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
    {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739}, {0x2B740, 0x2B81D},
    {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D},
    {0x30000, 0x3134A}, {0x31350, 0x323AF},
}};

// Other_Alphabetic except letters, marks and Nl: circled and squared letters.
constexpr std::array<Range, 4> kAlphabeticSymbols = {
    {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}}};

template <std::size_t N>
bool in_ranges(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

constexpr CategoryMask mask_of(std::initializer_list<GeneralCategory> list) {
  CategoryMask mask = 0;
  for (const GeneralCategory one : list) mask |= bit(one);
  return mask;
}

using G = GeneralCategory;
constexpr CategoryMask kWord =
    mask_of({G::lu, G::ll, G::lt, G::lm, G::lo, G::mn, G::mc, G::me, G::nd, G::nl, G::pc});
constexpr CategoryMask kNumber = mask_of({G::nd, G::nl, G::no});
constexpr CategoryMask kPunctuation = mask_of({G::pc, G::pd, G::ps, G::pe, G::pi, G::pf, G::po});

// The length of the longest valid prefix of a character at bytes[at]: the whole length when it is
// valid, else the number of bytes that one U+FFFD replaces. `valid` tells which.
std::size_t sequence_at(std::string_view bytes, std::size_t at, bool& valid) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(bytes[at + k]); };
  const unsigned char first = byte(0);
  valid = first < 0x80;
  if (valid || first < 0xC2 || first > 0xF4) return 1;
  const std::size_t length = utf8_length(first);
  // The second byte's range is narrower after some first ones (no surrogates, no overlong forms).
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  std::size_t good = 1;
  while (good < length && at + good < bytes.size() && byte(good) >= low && byte(good) <= high) {
    ++good;
    low = 0x80;
    high = 0xBF;
  }
  valid = good == length;
  return good;
}

}  // namespace

GeneralCategory category(char32_t c) {
  static const std::uint8_t* const kTable = categories();
  return static_cast<GeneralCategory>(kTable[c]);
}

CategoryMask category_mask(std::string_view name) {
  const std::string lowered = lower(name);
  for (const auto& [long_name, short_name] : kLongNames) {
    if (lowered == long_name) name = short_name;
  }
  CategoryMask mask = 0;
  for (unsigned i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name || (name.size() == 1 && kNames[i][0] == name[0])) {
      mask |= CategoryMask{1} << i;
    }
  }
  return mask;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word(char32_t c) {
  if (c < 0x80) {
    const char32_t letter = c | 0x20;
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '_';
  }
  if ((bit(category(c)) & kWord) != 0) return true;
  return in_ranges(kAlphabeticSymbols, c) || c == 0x200C || c == 0x200D;
}

bool is_oniguruma_word(char32_t c) {
  if (c < 0x100 && is_numeric(c)) return true;
  return is_word(c) && c != 0x200C && c != 0x200D;
}

bool is_han(char32_t c) { return c >= 0x2E80 && in_ranges(kHan, c); }

bool is_numeric(char32_t c) { return (bit(category(c)) & kNumber) != 0; }

bool is_bert_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  }
  return (bit(category(c)) & kPunctuation) != 0;
}

char32_t to_lower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<std::int32_t>(c)));
}

char32_t to_upper(char32_t c) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<std::int32_t>(c)));
}

char32_t fold(char32_t c) { return to_lower(to_upper(c)); }

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    bool valid = false;
    const std::size_t length = sequence_at(bytes, at, valid);
    if (valid) {
      out.append(bytes.substr(at, length));
    } else {
      append_utf8(out, kReplacement);
    }
    at += length;
  }
  return out;
}

std::size_t incomplete_tail(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const std::size_t at = bytes.size() - back;
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (byte < 0x80) return 0;
    if ((byte & 0xC0) == 0x80) continue;
    bool valid = false;
    const std::size_t length = sequence_at(bytes, at, valid);
    return !valid && length == back && utf8_length(byte) > back && byte >= 0xC2 && byte <= 0xF4
               ? back
               : 0;
  }
  return 0;
}

std::string normalize(std::string_view text, NormalForm form) {
  // ASCII is its own normal form, and most text is ASCII.
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii || text.size() > (std::size_t{1} << 30)) return std::string(text);
  int options = UTF8PROC_STABLE;
  if (form == NormalForm::nfc || form == NormalForm::nfkc) {
    options |= UTF8PROC_COMPOSE;
  } else {
    options |= UTF8PROC_DECOMPOSE;
  }
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  std::uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const std::uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                   static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length < 0) return std::string(text);
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length)};
}

namespace {

using G = GeneralCategory;
constexpr CategoryMask kCased = bit(G::lu) | bit(G::ll) | bit(G::lt);
// Unicode's Case_Ignorable: marks, modifiers, and punctuation inside words.
constexpr CategoryMask kIgnorable = bit(G::mn) | bit(G::me) | bit(G::cf) | bit(G::lm) | bit(G::sk);
constexpr std::u32string_view kInsideWords =
    U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";

bool is_cased(char32_t c) { return (bit(category(c)) & kCased) != 0; }
bool is_case_ignorable(char32_t c) {
  return (bit(category(c)) & kIgnorable) != 0 || kInsideWords.find(c) != std::u32string_view::npos;
}

bool letter_follows(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const CodePoint c = decode_at(text, at);
    at += c.bytes;
    if (!is_case_ignorable(c.value)) return is_cased(c.value);
  }
  return false;
}

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;

// `final_sigma`: a sigma at a word's end (a letter before it, none after) has its own form.
std::string lowered(std::string_view text, bool final_sigma) {
  final_sigma = final_sigma && text.find("\xCE\xA3") != std::string_view::npos;
  bool letter_before = false;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    at += c.bytes;
    if (c.value == 0x130) {
      out += "i\xCC\x87";  // the one letter whose lower case is two code points
    } else if (final_sigma && c.value == kCapitalSigma && letter_before &&
               !letter_follows(text, at)) {
      append_utf8(out, kFinalSigma);
    } else {
      append_utf8(out, to_lower(c.value));
    }
    if (final_sigma && !is_case_ignorable(c.value)) letter_before = is_cased(c.value);
  }
  return out;
}

}  // namespace

std::string lower_case(std::string_view text) { return lowered(text, true); }

std::string lower_case_each(std::string_view text) { return lowered(text, false); }

std::string upper_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    at += c.bytes;
    if (c.value == 0xDF) {
      out += "SS";
    } else {
      append_utf8(out, to_upper(c.value));
    }
  }
  return out;
}

}  // namespace assay::text
