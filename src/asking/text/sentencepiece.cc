#include "text/sentencepiece.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "base/format.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "text/unicode.h"

namespace assay::text {
namespace {

constexpr std::size_t kPiecesMax = std::size_t{1} << 24;

}  // namespace

struct SentencePieceModel::Reader {
  SentencePieceModel& model;
  std::string_view charsmap{};

  Result<void> piece(std::string_view bytes) {
    std::string_view text;
    float score = 0;
    auto type = Type::normal;
    ProtoReader wire(bytes);
    while (!wire.done()) {
      const ProtoField field = wire.next();
      if (field.number == 1) text = field.bytes;
      if (field.number == 2) {
        const auto raw = static_cast<std::uint32_t>(field.value);
        std::memcpy(&score, &raw, 4);
      }
      if (field.number == 3 && field.value >= 1 && field.value <= 6) {
        type = static_cast<Type>(field.value);
      }
    }
    if (wire.broken()) return Error{Code::corrupt, "a piece is cut off"};
    const auto id = static_cast<TokenId>(model.types_.size());
    if (text.empty() || !valid_utf8(text)) {
      return Error{Code::corrupt, format("piece {} is empty or not UTF-8", id)};
    }
    if (model.types_.size() >= kPiecesMax) return invalid("too many pieces");
    model.pieces_.vocabulary.add(text, id);
    model.types_.push_back(type);
    model.scores_.push_back(score);
    if (type == Type::unknown) model.pieces_.unknown = id;
    return {};
  }

  void trainer(std::string_view bytes) {
    ProtoReader wire(bytes);
    while (!wire.done()) {
      const ProtoField field = wire.next();
      const auto id = static_cast<std::int64_t>(field.value);
      if (field.number == 3) model_type = field.value;
      if (field.number == 24) model.suffix_space_ = field.value != 0;
      if (field.number == 35) model.byte_fallback_ = field.value != 0;
      if (field.number == 41) bos = id;
      if (field.number == 42) eos = id;
      if (field.number == 44) model.unknown_surface_ = field.bytes;
    }
  }

  void normalizer(std::string_view bytes) {
    ProtoReader wire(bytes);
    while (!wire.done()) {
      const ProtoField field = wire.next();
      if (field.number == 2) charsmap = field.bytes;
      if (field.number == 3) model.dummy_prefix_ = field.value != 0;
      if (field.number == 4) model.remove_extra_spaces_ = field.value != 0;
      if (field.number == 5) model.escape_spaces_ = field.value != 0;
    }
  }

  std::uint64_t model_type = 1;
  std::int64_t bos = 1;
  std::int64_t eos = 2;
};

Result<SentencePieceModel> SentencePieceModel::read(std::string_view bytes) {
  SentencePieceModel made;
  Reader reader{made};
  ProtoReader wire(bytes);
  while (!wire.done()) {
    const ProtoField field = wire.next();
    if (field.number == 1) TRY(reader.piece(field.bytes));
    if (field.number == 2) reader.trainer(field.bytes);
    if (field.number == 3) reader.normalizer(field.bytes);
  }
  if (wire.broken() || made.types_.empty()) {
    return Error{Code::corrupt, "not a SentencePiece model, or cut off"};
  }
  if (reader.model_type != 1 && reader.model_type != 2) {
    return Error{Code::unsupported, "only unigram and BPE models are supported"};
  }
  made.unigram_ = reader.model_type == 1;
  const auto control = [&](std::int64_t id) {
    const bool known = id >= 0 && id < static_cast<std::int64_t>(made.types_.size());
    return known ? static_cast<TokenId>(id) : kNoToken;
  };
  made.bos_ = control(reader.bos);
  made.eos_ = control(reader.eos);
  ASSIGN_OR_RETURN(made.chars_, CharsMap::read(reader.charsmap));
  TRY(made.finish());
  return made;
}

Result<void> SentencePieceModel::finish() {
  float lowest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i] != Type::normal) continue;
    lowest = std::min(lowest, scores_[i]);
  }
  pieces_.single_precision = true;
  pieces_.byte_fallback = byte_fallback_;
  pieces_.unknown_score = lowest - 10.0f;
  pieces_.scores.resize(types_.size());
  cut_at_marker_ = !unigram_ && escape_spaces_ && !suffix_space_;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const std::string_view text = pieces_.vocabulary.token(id);
    pieces_.scores[i] = scores_[i];
    if (types_[i] == Type::user_defined) {
      // As sentencepiece 0.2: the bonus grows with the length and is above all learned scores.
      const double bonus = 0.1 * (static_cast<double>(text.size()) - 1);
      pieces_.scores[i] = static_cast<double>(static_cast<float>(bonus));
      user_defined_.add(text, id);
      has_user_defined_ = true;
    }
    if (types_[i] == Type::unused) has_unused_ = true;
    const bool joinable = types_[i] == Type::normal || types_[i] == Type::user_defined;
    if (joinable && unigram_) pieces_.pieces.add(text, id);
    if (joinable || types_[i] == Type::unused) joinable_.add(text, id);
    const std::size_t inner = text.find(kSpaceMarker, 1);
    if (joinable && inner != std::string_view::npos &&
        !text.substr(0, inner).ends_with(kSpaceMarker)) {
      cut_at_marker_ = false;
    }
  }
  if (has_user_defined_ || has_unused_ || joinable_.find(kSpaceMarker) == kNoToken) {
    cut_at_marker_ = false;
  }
  pieces_.finish();
  for (const TokenId byte : pieces_.byte_ids) {
    if (byte_fallback_ && type(byte) != Type::byte) {
      return Error{Code::corrupt, "byte fallback is on, but a byte's piece is missing"};
    }
  }
  if (pieces_.unknown == kNoToken) return Error{Code::corrupt, "there is no unknown piece"};
  if (unigram_) return {};
  std::map<float, std::uint32_t, std::greater<>> order;
  for (const float score : scores_) order.emplace(score, 0);
  std::uint32_t rank = 0;
  for (auto& [score, place] : order) place = rank++;
  for (const float score : scores_) ranks_.push_back(order[score]);
  return {};
}

std::size_t SentencePieceModel::user_defined_at(std::string_view text) const {
  if (!has_user_defined_) return 0;
  std::size_t longest = 0;
  std::uint32_t node = ByteTrie::kRoot;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = user_defined_.child(node, static_cast<unsigned char>(text[i]));
    if (node == ByteTrie::kNone) break;
    if (user_defined_.value(node) >= 0) longest = i + 1;
  }
  return longest;
}

std::string SentencePieceModel::normalize(std::string_view text, RegexStack& stack) const {
  std::string out;
  out.reserve(text.size() + text.size() / 4 + 8);
  struct Prefix {
    std::string_view text{};
    std::size_t length = 0;
  };
  const auto prefix = [&]() -> Prefix {
    if (const std::size_t fixed = user_defined_at(text)) return {text.substr(0, fixed), fixed};
    const CharsMap::Hit hit = chars_.longest(text);
    if (hit.length > 0) return {hit.replacement, hit.length};
    const std::size_t length = utf8_length(static_cast<unsigned char>(text[0]));
    return {text.substr(0, length), length};
  };
  while (remove_extra_spaces_ && !text.empty()) {
    const Prefix first = prefix();
    if (first.text != " ") break;
    text.remove_prefix(first.length);
  }
  if (text.empty()) return out;
  const std::string_view space = escape_spaces_ ? kSpaceMarker : std::string_view(" ");
  if (dummy_prefix_ && !suffix_space_) out += space;
  bool after_space = remove_extra_spaces_;
  std::size_t seen = 0;  // bytes from the map, dropped spaces included
  while (!text.empty()) {
    auto [piece, length] = prefix();
    seen += piece.size();
    if (seen > stack.bytes_max) {
      stack.overgrown = true;
      return {};
    }
    while (after_space && piece.starts_with(' ')) piece.remove_prefix(1);
    for (const char c : piece) {
      if (c == ' ') {
        out += space;
      } else {
        out += c;
      }
    }
    if (!piece.empty()) after_space = piece.ends_with(' ');
    text.remove_prefix(length);
    if (!remove_extra_spaces_) after_space = false;
  }
  while (remove_extra_spaces_ && out.ends_with(space)) out.resize(out.size() - space.size());
  if (dummy_prefix_ && suffix_space_) out += space;
  return out;
}

void SentencePieceModel::emit(std::string_view piece, TokenId id, bool& after_unknown,
                              std::vector<TokenId>& out) const {
  const bool is_unknown = id == pieces_.unknown;
  if (is_unknown && byte_fallback_) {
    for (const char c : piece) out.push_back(pieces_.byte_ids[static_cast<unsigned char>(c)]);
  } else if (!is_unknown || !after_unknown) {
    out.push_back(id);
  }
  after_unknown = is_unknown && !byte_fallback_;
}

bool SentencePieceModel::encode(std::string_view text, BpeScratch& bpe, UnigramScratch& unigram,
                                std::vector<TokenId>& out) const {
  if (unigram_) return pieces_.encode(text, unigram, out);
  encode_bpe(text, bpe, out);
  return true;
}

void SentencePieceModel::encode_bpe(std::string_view text, BpeScratch& scratch,
                                    std::vector<TokenId>& out) const {
  scratch.symbols.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t fixed = user_defined_at(text.substr(at));
    const std::size_t length =
        fixed > 0 ? fixed : utf8_length(static_cast<unsigned char>(text[at]));
    TokenId id = joinable_.find(text.substr(at, length));
    if (id == kNoToken) id = pieces_.unknown;
    scratch.symbols.push_back({id, static_cast<std::uint32_t>(at),
                               static_cast<std::uint32_t>(at + length), 0, 0, fixed > 0});
    at += length;
  }
  // Merges may make unused pieces; these are split again into the two halves that they came from.
  std::map<std::string_view, std::size_t> unused;  // start of its second half
  const auto merge_of = [&](const BpeSymbol& left, const BpeSymbol& right) -> Merge {
    if (left.frozen || right.frozen) return {};
    const std::string_view joined = text.substr(left.begin, right.end - left.begin);
    const TokenId id = joinable_.find(joined);
    if (id == kNoToken) return {};
    if (has_unused_ && type(id) == Type::unused) unused[joined] = right.begin - left.begin;
    return {ranks_[static_cast<std::size_t>(id)], id};
  };
  bool after_unknown = false;
  const auto take_apart = [&](const auto& self, std::string_view piece, TokenId id) -> void {
    const auto half = type(id) == Type::unused ? unused.find(piece) : unused.end();
    if (half == unused.end()) {
      emit(piece, id, after_unknown, out);
      return;
    }
    for (const std::string_view part :
         {piece.substr(0, half->second), piece.substr(half->second)}) {
      const TokenId known = joinable_.find(part);
      self(self, part, known == kNoToken ? pieces_.unknown : known);
    }
  };
  merge_symbols(scratch, merge_of, [&](const BpeSymbol& symbol) {
    take_apart(take_apart, text.substr(symbol.begin, symbol.end - symbol.begin), symbol.id);
  });
}

std::string SentencePieceModel::decode(std::span<const TokenId> ids, bool skip_control) const {
  std::string out;
  std::string bytes;
  bool at_start = true;
  const auto flush = [&] {
    // Each invalid byte becomes one U+FFFD.
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = utf8_length(static_cast<unsigned char>(bytes[at]));
      const std::string_view one = std::string_view(bytes).substr(at, length);
      const bool good = one.size() == length && valid_utf8(one);
      out += good ? one : std::string_view("\xEF\xBF\xBD");
      at += good ? length : 1;
    }
    bytes.clear();
  };
  for (const TokenId id : ids) {
    if (type(id) == Type::none) continue;
    const auto byte = std::find(pieces_.byte_ids.begin(), pieces_.byte_ids.end(), id);
    if (type(id) == Type::byte && byte != pieces_.byte_ids.end()) {
      bytes += static_cast<char>(byte - pieces_.byte_ids.begin());
      continue;
    }
    flush();
    if (type(id) == Type::control) {
      if (!skip_control) out += pieces_.vocabulary.token(id);
      continue;
    }
    if (!out.empty()) at_start = false;
    if (type(id) == Type::unknown) {
      out += unknown_surface_;
      continue;
    }
    std::string_view piece = pieces_.vocabulary.token(id);
    if (at_start && (dummy_prefix_ || remove_extra_spaces_) && piece.starts_with(kSpaceMarker)) {
      piece.remove_prefix(kSpaceMarker.size());
      if (!remove_extra_spaces_) at_start = false;
    }
    for (std::size_t at = 0; at < piece.size();) {
      const bool marker = piece.substr(at).starts_with(kSpaceMarker);
      out += marker ? ' ' : piece[at];
      at += marker ? kSpaceMarker.size() : 1;
    }
  }
  flush();
  return out;
}

}  // namespace assay::text
