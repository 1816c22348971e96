#include "text/bpe.h"

#include <algorithm>
#include <bit>

#include "base/format.h"
#include "text/unicode.h"

namespace assay::text {
namespace {

struct ByteAlphabet {
  std::array<char32_t, 256> chars{};
  std::array<std::int16_t, 0x180> bytes{};
};

// Printable bytes keep their character; the others become U+0100 and on, in order.
constexpr ByteAlphabet make_alphabet() {
  ByteAlphabet made;
  for (auto& byte : made.bytes) byte = -1;
  char32_t next = 0x100;
  for (unsigned b = 0; b < 256; ++b) {
    const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    made.chars[b] = printable ? b : next++;
    made.bytes[made.chars[b]] = static_cast<std::int16_t>(b);
  }
  return made;
}
constexpr ByteAlphabet kAlphabet = make_alphabet();

// True if a marker follows another character.
bool has_inner_marker(std::string_view token) {
  for (std::size_t at = 1; (at = token.find(kSpaceMarker, at)) != std::string_view::npos; ++at) {
    if (at < kSpaceMarker.size() ||
        token.substr(at - kSpaceMarker.size(), kSpaceMarker.size()) != kSpaceMarker) {
      return true;
    }
  }
  return false;
}

}  // namespace

char32_t byte_to_char(unsigned char byte) { return kAlphabet.chars[byte]; }

int char_to_byte(char32_t c) { return c < kAlphabet.bytes.size() ? kAlphabet.bytes[c] : -1; }

void append_byte_level(std::string& out, std::string_view bytes) {
  for (const char c : bytes) append_utf8(out, byte_to_char(static_cast<unsigned char>(c)));
}

bool append_from_byte_level(std::string& out, std::string_view text) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const int byte = char_to_byte(c.value);
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(byte);
    at += c.bytes;
  }
  return true;
}

void MergeTable::reserve(std::size_t merges) {
  if (size_ > 0) return;
  slots_.assign(std::bit_ceil(std::max<std::size_t>(16, merges * 2)), Slot{});
  mask_ = slots_.size() - 1;
}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  if ((size_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old(std::max<std::size_t>(16, slots_.size() * 2));
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.key == kFree) continue;
      std::size_t i = spread(slot.key) & mask_;
      while (slots_[i].key != kFree) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }
  const std::uint64_t key = pair(left, right);
  std::size_t i = spread(key) & mask_;
  while (slots_[i].key != kFree && slots_[i].key != key) i = (i + 1) & mask_;
  if (slots_[i].key == kFree) ++size_;
  slots_[i] = {key, merge};
}

void BpeModel::finish() {
  all_bytes = true;
  for (unsigned b = 0; b < 256; ++b) {
    std::string spelled;
    if (byte_level) {
      append_utf8(spelled, byte_to_char(static_cast<unsigned char>(b)));
    } else {
      spelled = format("<0x{:02X}>", b);
    }
    byte_ids[b] = vocabulary.find(spelled);
    all_bytes = all_bytes && byte_ids[b] != kNoToken;
  }
  for (unsigned c = 0; c < 128; ++c) {
    const char letter = static_cast<char>(c);
    ascii_ids[c] = vocabulary.find({&letter, 1});
  }
  cut_at_marker = !byte_level && prefix.empty() && suffix.empty() && !ignore_merges &&
                  vocabulary.find(kSpaceMarker) != kNoToken;
  for (std::size_t id = 0; id < vocabulary.id_end(); ++id) {
    const std::string_view token = vocabulary.token(static_cast<TokenId>(id));
    if (cut_at_marker && has_inner_marker(token)) cut_at_marker = false;
    if (!byte_level || !ignore_merges) continue;
    std::string bytes;
    if (append_from_byte_level(bytes, token)) words.add(bytes, static_cast<TokenId>(id));
  }
}

void BpeModel::start_bytes(std::string_view word, BpeScratch& scratch) const {
  std::uint32_t at = 0;
  bool last_unknown = false;
  for (const char c : word) {
    TokenId id = byte_ids[static_cast<unsigned char>(c)];
    const std::uint32_t begin = at++;
    const bool is_unknown = id == kNoToken;
    if (is_unknown) id = unknown;
    if (id == kNoToken) continue;
    if (is_unknown && last_unknown && fuse_unknown) {
      scratch.symbols.back().end = at;
      continue;
    }
    last_unknown = is_unknown;
    scratch.symbols.push_back({id, begin, at, 0, 0});
  }
}

void BpeModel::start_characters(std::string_view word, BpeScratch& scratch) const {
  BpeSymbol pending{};  // an unknown that may still grow; id kNoToken: none
  const auto flush = [&] {
    if (pending.id != kNoToken) scratch.symbols.push_back(pending);
    pending.id = kNoToken;
  };
  for (std::size_t at = 0; at < word.size();) {
    const auto first = static_cast<unsigned char>(word[at]);
    const std::size_t length = utf8_length(first);
    const auto begin = static_cast<std::uint32_t>(at);
    const auto end = static_cast<std::uint32_t>(at + length);
    std::string_view spelled = word.substr(at, length);
    const bool decorated = (at > 0 && !prefix.empty()) || (end == word.size() && !suffix.empty());
    if (decorated) {
      scratch.word.assign(at > 0 ? prefix : std::string());
      scratch.word += spelled;
      if (end == word.size()) scratch.word += suffix;
      spelled = scratch.word;
    }
    at += length;
    const TokenId id = first < 0x80 && !decorated ? ascii_ids[first] : vocabulary.find(spelled);
    if (id != kNoToken) {
      flush();
      scratch.symbols.push_back({id, begin, end, 0, 0});
      continue;
    }
    if (byte_fallback) {
      const bool known = std::all_of(spelled.begin(), spelled.end(), [this](char c) {
        return byte_ids[static_cast<unsigned char>(c)] != kNoToken;
      });
      if (known) {
        // An unknown before these bytes is added after them, as in the public library.
        for (std::uint32_t k = 0; k < spelled.size(); ++k) {
          scratch.symbols.push_back(
              {byte_ids[static_cast<unsigned char>(spelled[k])], begin + k, begin + k + 1, 0, 0});
        }
        continue;
      }
    }
    if (unknown == kNoToken) continue;
    if (pending.id != kNoToken && fuse_unknown) {
      pending.end = end;
    } else {
      flush();
      pending = {unknown, begin, end, 0, 0};
    }
  }
  flush();
}

void BpeModel::encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const {
  if (ignore_merges) {
    const TokenId whole = byte_level ? words.find(word) : vocabulary.find(word);
    if (whole != kNoToken) {
      out.push_back(whole);
      return;
    }
  }
  scratch.symbols.clear();
  if (byte_level) {
    start_bytes(word, scratch);
  } else {
    start_characters(word, scratch);
  }
  merge_symbols(
      scratch,
      [this](const BpeSymbol& left, const BpeSymbol& right) {
        return merges.find(left.id, right.id);
      },
      [&out](const BpeSymbol& symbol) { out.push_back(symbol.id); });
}

}  // namespace assay::text
