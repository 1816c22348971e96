#include "text/tokenizer.h"

#include <algorithm>
#include <span>

#include "base/format.h"
#include "base/mutex.h"
#include "base/text.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"
#include "text/word_cache.h"

namespace assay::text {
namespace {

constexpr std::size_t kScratchBytesMax = std::size_t{16} << 20;

struct VocabularyOf {
  const Vocabulary& operator()(const SentencePieceModel& model) const { return model.vocabulary(); }
  const Vocabulary& operator()(const auto& model) const { return model.vocabulary; }
};

}  // namespace

const Vocabulary& TokenizerParts::vocabulary() const { return std::visit(VocabularyOf{}, model); }

// One thread's working memory. It is kept and lent again, so that the word cache stays warm.
struct Tokenizer::Scratch {
  PreTokenizerScratch pre{};
  BpeScratch bpe{};
  UnigramScratch unigram{};
  WordCache words{};
  std::string word{};
  std::string normalized{};
  std::vector<TokenId> ids{};    // of one word
  std::vector<TokenId> found{};  // of the text; as long as it may become, not as it is

  bool large() const {
    return bpe.symbols.capacity() * sizeof(BpeSymbol) + normalized.capacity() +
               unigram.nodes.capacity() * sizeof(UnigramScratch::Node) +
               (ids.capacity() + found.capacity()) * sizeof(TokenId) >
           kScratchBytesMax;
  }
};

struct Tokenizer::Pool {
  Mutex mutex{};
  std::vector<std::unique_ptr<Scratch>> free GUARDED_BY(mutex){};
};

class Tokenizer::Borrowed {
 public:
  explicit Borrowed(Pool& pool) : pool_(pool) {
    {
      const Lock lock(pool_.mutex);
      if (!pool_.free.empty()) {
        scratch_ = std::move(pool_.free.back());
        pool_.free.pop_back();
      }
    }
    if (!scratch_) scratch_ = std::make_unique<Scratch>();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    if (scratch_->large()) return;
    const Lock lock(pool_.mutex);
    pool_.free.push_back(std::move(scratch_));
  }
  Scratch& operator*() const { return *scratch_; }
  Scratch* operator->() const { return scratch_.get(); }

 private:
  Pool& pool_;
  std::unique_ptr<Scratch> scratch_{};
};

namespace {

// One call of encode.
template <typename ScratchType>
class Encoding {
 public:
  Encoding(const TokenizerParts& parts, ScratchType& scratch, bool rendered)
      : parts_(parts),
        scratch_(scratch),
        cutter_(parts.pre_tokenizer.cutter()),
        rendered_(rendered) {
    if (const auto* bpe = std::get_if<BpeModel>(&parts_.model)) cut_ = bpe->cut_at_marker;
    if (const auto* piece = std::get_if<SentencePieceModel>(&parts_.model)) {
      cut_ = piece->cut_at_marker();
    }
    sink_.self = this;
    sink_.take = [](void* self, std::string_view word) {
      static_cast<Encoding*>(self)->word(word);
    };
  }

  std::span<const TokenId> ids() const { return std::span(scratch_.found).first(count_); }
  // Returns the first word that the model cannot encode; "" when there is none.
  const std::string& unspelled() const { return unspelled_; }
  bool gave_up() const { return scratch_.pre.regex.exhausted; }
  bool overgrown() const { return scratch_.pre.regex.overgrown; }

  void text(std::string_view text) {
    scratch_.pre.regex.begin(text.size());
    if (!rendered_ || parts_.added.none(AddedTokens::Stage::in_templates)) {
      between(text, AddedTokens::Stage::before_normalizing,
              [this](std::string_view piece, bool at_start) { this->piece(piece, at_start); });
      return;
    }
    between(text, AddedTokens::Stage::in_templates,
            [this](std::string_view piece, bool at_start) { this->piece(piece, at_start); });
  }

 private:
  template <typename Take>
  void between(std::string_view text, AddedTokens::Stage stage, const Take& take) {
    if (parts_.added.none(stage)) {
      if (!text.empty()) take(text, true);
      return;
    }
    std::size_t from = 0;
    AddedTokens::Found last;
    for (AddedTokens::Found found; parts_.added.next(text, stage, last, found); last = found) {
      if (found.begin > from) take(text.substr(from, found.begin - from), from == 0);
      *room(1) = found.id;
      ++count_;
      from = found.end;
    }
    if (from < text.size()) take(text.substr(from), from == 0);
  }

  void piece(std::string_view piece, bool at_start) {
    if (const auto* model = std::get_if<SentencePieceModel>(&parts_.model)) {
      scratch_.normalized = model->normalize(piece, scratch_.pre.regex);
      if (overgrown()) return;
      scratch_.pre.regex.made(scratch_.normalized.size());
      word(scratch_.normalized);
      return;
    }
    if (!parts_.normalizer.empty()) {
      scratch_.normalized.assign(piece);
      if (!parts_.normalizer.run(scratch_.normalized, scratch_.pre.regex)) return;
      scratch_.pre.regex.made(scratch_.normalized.size());
      piece = scratch_.normalized;
    }
    between(piece, AddedTokens::Stage::after_normalizing,
            [this, at_start](std::string_view part, bool first) {
              if (cutter_ == nullptr || cut_) {
                parts_.pre_tokenizer.run(part, at_start && first, scratch_.pre, sink_);
                return;
              }
              const char* end = part.data() + part.size();
              cutter_->cut(part, scratch_.pre.regex, [this, end](std::string_view word) {
                cached(word, static_cast<std::size_t>(end - word.data()));
              });
            });
  }

  void word(std::string_view word) {
    if (cut_) {
      std::size_t begin = 0;
      std::size_t at = word.find(kSpaceMarker, 1);
      for (; at != std::string_view::npos; at = word.find(kSpaceMarker, at + kSpaceMarker.size())) {
        if (word.substr(0, at).ends_with(kSpaceMarker)) continue;
        cached(word.substr(begin, at - begin), word.size() - begin);
        begin = at;
      }
      word.remove_prefix(begin);
    }
    if (!word.empty()) cached(word, word.size());
  }

  // Room for `more` ids behind those that were found.
  TokenId* room(std::size_t more) {
    if (scratch_.found.size() - count_ < more) {
      scratch_.found.resize(std::max<std::size_t>(1024, 2 * (count_ + more)));
    }
    return scratch_.found.data() + count_;
  }

  // `readable`: how many bytes may be read from word.data() on.
  void cached(std::string_view word, std::size_t readable) {
    if (word.size() > WordCache::kBytesMax) {
      computed(word);
      return;
    }
    const WordCache::Key key = WordCache::key(word, readable);
    const std::size_t known = scratch_.words.find(key, word.size(), room(WordCache::kIdsMax));
    count_ += known;
    if (known > 0) return;
    computed(word);
    scratch_.words.keep(key, word.size(), scratch_.ids);
  }

  void computed(std::string_view word) {
    scratch_.ids.clear();
    model(word);
    std::copy(scratch_.ids.begin(), scratch_.ids.end(), room(scratch_.ids.size()));
    count_ += scratch_.ids.size();
  }

  void model(std::string_view word) {
    struct Visitor {
      Encoding& self;
      std::string_view word;
      bool operator()(const BpeModel& m) const {
        m.encode(word, self.scratch_.bpe, self.scratch_.ids);
        return true;
      }
      bool operator()(const UnigramModel& m) const {
        return m.encode(word, self.scratch_.unigram, self.scratch_.ids);
      }
      bool operator()(const WordPieceModel& m) const {
        return m.encode(word, self.scratch_.word, self.scratch_.ids);
      }
      bool operator()(const WordLevelModel& m) const { return m.encode(word, self.scratch_.ids); }
      bool operator()(const RankModel& m) const {
        m.encode(word, self.scratch_.bpe, self.scratch_.ids);
        return true;
      }
      bool operator()(const SentencePieceModel& m) const {
        return m.encode(word, self.scratch_.bpe, self.scratch_.unigram, self.scratch_.ids);
      }
    };
    if (!std::visit(Visitor{*this, word}, parts_.model) && unspelled_.empty()) unspelled_ = word;
  }

  const TokenizerParts& parts_;
  ScratchType& scratch_;
  const RegexStates* cutter_;
  std::size_t count_ = 0;  // ids found
  WordSink sink_{};
  std::string unspelled_{};
  bool cut_ = false;
  bool rendered_;
};

}  // namespace

Result<void> RankModel::find_bytes() {
  for (unsigned b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    byte_ids[b] = vocabulary.find({&byte, 1});
    if (byte_ids[b] == kNoToken) {
      return invalid(format("no token for byte 0x{:02x}: all 256 are needed", b));
    }
  }
  pair_ids.assign(std::size_t{1} << 16, kNoToken);
  for (std::size_t id = 0; id < vocabulary.id_end(); ++id) {
    const std::string_view token = vocabulary.token(static_cast<TokenId>(id));
    if (token.size() == 2) pair_ids[pair(token)] = vocabulary.find(token);
  }
  return {};
}

void RankModel::encode(std::string_view word, BpeScratch& scratch,
                       std::vector<TokenId>& out) const {
  if (const TokenId whole = vocabulary.find(word); whole != kNoToken) {
    out.push_back(whole);
    return;
  }
  scratch.symbols.clear();
  for (std::uint32_t i = 0; i < word.size(); ++i) {
    scratch.symbols.push_back(
        {byte_ids[static_cast<unsigned char>(word[i])], i, i + 1, 0, 0, false});
  }
  merge_symbols(
      scratch,
      [this, word, &scratch](const BpeSymbol& left, const BpeSymbol& right) -> Merge {
        const std::string_view joined = word.substr(left.begin, right.end - left.begin);
        const TokenId id = joined.size() == 2
                               ? pair_ids[pair(joined)]
                               : scratch.pairs.find(left.id, right.id, [this, joined] {
                                   return vocabulary.find(joined);
                                 });
        return id == kNoToken ? Merge{} : Merge{static_cast<std::uint32_t>(id), id};
      },
      [&out](const BpeSymbol& symbol) { out.push_back(symbol.id); });
}

Tokenizer::Tokenizer(std::unique_ptr<TokenizerParts> parts)
    : parts_(std::move(parts)), pool_(std::make_unique<Pool>()) {}
Tokenizer::~Tokenizer() = default;

Result<void> Tokenizer::encode(std::string_view text, std::vector<TokenId>& ids,
                               bool add_special) const {
  return encode(text, ids, add_special, false);
}

Result<std::size_t> Tokenizer::count_rendered(std::string_view text) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 16);
  TRY(encode(text, ids, false, true));
  return ids.size();
}

Result<void> Tokenizer::encode(std::string_view text, std::vector<TokenId>& ids, bool add_special,
                               bool rendered) const {
  if (text.size() > kTextBytesMax) {
    return invalid(format("a text of {} is longer than the {} that can be tokenized at once",
                          human_bytes(text.size()), human_bytes(kTextBytesMax)));
  }
  std::string repaired;
  if (!valid_utf8(text)) {
    repaired = replace_invalid_utf8(text);
    text = repaired;
  }
  const std::size_t before = ids.size();
  if (add_special) ids.insert(ids.end(), parts_->before.begin(), parts_->before.end());
  const Borrowed scratch(*pool_);
  Encoding encoding(*parts_, *scratch, rendered);
  encoding.text(text);
  if (encoding.gave_up() || encoding.overgrown() || !encoding.unspelled().empty()) {
    ids.resize(before);
    if (encoding.overgrown()) {
      RegexStack limits;
      limits.begin(text.size());
      return invalid(format("{}: its normalizer makes more than {} of a text of {}",
                            parts_->description, human_bytes(limits.bytes_max),
                            human_bytes(text.size())));
    }
    if (encoding.gave_up()) {
      return invalid(format("{}: a regex of the tokenizer needs too many steps on this text",
                            parts_->description));
    }
    return invalid(format("{}: no token for '{}', and none for what is unknown",
                          parts_->description, encoding.unspelled().substr(0, 80)));
  }
  ids.insert(ids.end(), encoding.ids().begin(), encoding.ids().end());
  if (add_special) ids.insert(ids.end(), parts_->after.begin(), parts_->after.end());
  return {};
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, bool add_special) const {
  std::vector<TokenId> ids;
  TRY(encode(text, ids, add_special));
  return ids;
}

Result<std::size_t> Tokenizer::count(std::string_view text, bool add_special) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 16);
  TRY(encode(text, ids, add_special));
  return ids.size();
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  if (const auto* model = std::get_if<SentencePieceModel>(&parts_->model)) {
    return model->decode(ids, skip_special);
  }
  const Vocabulary& vocabulary = parts_->vocabulary();
  const bool bytes = parts_->decoder.joins_bytes();
  std::string joined;
  std::vector<std::string> tokens;
  for (const TokenId id : ids) {
    std::string_view token = vocabulary.token(id);
    if (const AddedToken* added = parts_->added.find(id)) {
      if (skip_special && added->special) continue;
      token = added->content;
    } else if (!vocabulary.has(id)) {
      continue;
    }
    if (bytes) {
      parts_->decoder.append_bytes(token, joined);
    } else {
      tokens.emplace_back(token);
    }
  }
  if (!bytes) return parts_->decoder.run(std::move(tokens));
  return valid_utf8(joined) ? joined : replace_invalid_utf8(joined);
}

std::size_t Tokenizer::vocabulary_size() const {
  const Vocabulary& vocabulary = parts_->vocabulary();
  std::size_t size = vocabulary.size();
  for (const AddedToken& token : parts_->added.all()) {
    if (vocabulary.find(token.content) == kNoToken) ++size;
  }
  return size;
}

std::size_t Tokenizer::id_end() const {
  std::size_t end = parts_->vocabulary().id_end();
  for (const AddedToken& token : parts_->added.all()) {
    end = std::max(end, static_cast<std::size_t>(token.id) + 1);
  }
  return end;
}

std::optional<TokenId> Tokenizer::id_of(std::string_view token) const {
  if (const AddedToken* added = parts_->added.find(token)) return added->id;
  const TokenId id = parts_->vocabulary().find(token);
  return id == kNoToken ? std::nullopt : std::optional(id);
}

std::string Tokenizer::token_of(TokenId id) const {
  if (const AddedToken* added = parts_->added.find(id)) return added->content;
  return std::string(parts_->vocabulary().token(id));
}

bool Tokenizer::is_special(TokenId id) const {
  if (const auto* model = std::get_if<SentencePieceModel>(&parts_->model)) {
    return model->is_control(id);
  }
  const AddedToken* added = parts_->added.find(id);
  return added != nullptr && added->special;
}

const std::string& Tokenizer::description() const { return parts_->description; }

std::string StreamDecoder::push(TokenId id) {
  if (tokenizer_.parts_->decoder.joins_bytes()) {
    if (skip_special_ && tokenizer_.is_special(id)) return {};
    tokenizer_.parts_->decoder.append_bytes(tokenizer_.token_of(id), held_);
    const std::size_t whole = held_.size() - incomplete_tail(held_);
    std::string text = replace_invalid_utf8(std::string_view(held_).substr(0, whole));
    held_.erase(0, whole);
    return text;
  }
  ids_.push_back(id);
  const std::string text = tokenizer_.decode(ids_, skip_special_);
  if (text.size() <= told_.size() || text.ends_with("\xEF\xBF\xBD")) return {};
  std::string fresh = text.substr(told_.size());
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(told_ids_));
  told_ids_ = ids_.size();
  told_ = tokenizer_.decode(ids_, skip_special_);
  return fresh;
}

std::string StreamDecoder::finish() {
  std::string rest = replace_invalid_utf8(held_);
  held_.clear();
  if (ids_.size() > told_ids_) {
    const std::string text = tokenizer_.decode(ids_, skip_special_);
    if (text.size() > told_.size()) rest += text.substr(told_.size());
  }
  ids_.clear();
  told_ids_ = 0;
  told_.clear();
  return rest;
}

}  // namespace assay::text
