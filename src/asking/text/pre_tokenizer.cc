#include "text/pre_tokenizer.h"

#include <algorithm>

#include "base/format.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/unicode.h"

namespace assay::text {
namespace {

using StepKind = PreTokenizer::Step::Kind;

constexpr int kPreTokenizersDepthMax = 20;
constexpr std::size_t kStepsMax = 200;
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Joins matches and the text between them as the behaviour asks. Pieces come in order; one is held
// back until the next one decides whether it grows.
class Joiner {
 public:
  Joiner(std::string_view text, SplitBehavior behavior) : text_(text), behavior_(behavior) {}

  template <typename Emit>
  void take(std::size_t begin, std::size_t end, bool match, const Emit& emit) {
    switch (behavior_) {
      case SplitBehavior::isolated:
        emit(text_.substr(begin, end - begin));
        return;
      case SplitBehavior::removed:
        if (!match) emit(text_.substr(begin, end - begin));
        return;
      default:
        break;
    }
    const bool grows =
        held_ && (behavior_ == SplitBehavior::contiguous             ? match == held_match_
                  : behavior_ == SplitBehavior::merged_with_previous ? match && !held_match_
                                                                     : !match && held_match_);
    if (grows) {
      held_end_ = end;
    } else {
      flush(emit);
      held_ = true;
      held_begin_ = begin;
      held_end_ = end;
    }
    held_match_ = match;
  }

  template <typename Emit>
  void flush(const Emit& emit) {
    if (held_) emit(text_.substr(held_begin_, held_end_ - held_begin_));
    held_ = false;
  }

 private:
  std::string_view text_;
  SplitBehavior behavior_;
  bool held_ = false;
  bool held_match_ = false;
  std::size_t held_begin_ = 0;
  std::size_t held_end_ = 0;
};

Result<SplitBehavior> read_behavior(const Json& json, SplitBehavior fallback,
                                    std::string_view where) {
  if (json.is_null()) return fallback;
  const std::string_view name = json.as_string();
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  return invalid(format("{}.behavior: no such behavior '{}'", where, name));
}

std::shared_ptr<const Regex> with_states(Regex pattern) {
  pattern.use_states();
  return std::make_shared<const Regex>(std::move(pattern));
}

std::shared_ptr<const CharTable> table(const CharSet& set) {
  return std::make_shared<const CharTable>(set);
}

}  // namespace

// One run over one text: each step passes each piece to the next step at once.
struct PreTokenizer::Run {
  const PreTokenizer& self;
  PreTokenizerScratch& scratch;
  const WordSink& sink;

  void step(std::size_t i, std::string_view text, bool at_start) {
    if (text.empty() || scratch.regex.exhausted) return;
    if (i == self.steps_.size()) {
      sink(text);
      return;
    }
    const Step& step = self.steps_[i];
    const std::string_view whole = text;
    const auto emit = [&](std::string_view piece) {
      this->step(i + 1, piece, at_start && piece.data() == whole.data());
    };
    switch (step.kind) {
      case StepKind::split:
        by_regex(step, text, emit);
        return;
      case StepKind::characters:
        by_characters(step, text, emit);
        return;
      case StepKind::bert:
        by_bert(step, text, emit);
        return;
      case StepKind::fixed_length:
        by_length(step.length, text, emit);
        return;
      case StepKind::byte_level:
        byte_level(i, text, at_start);
        return;
      case StepKind::metaspace:
        metaspace(i, text, at_start);
        return;
    }
  }

  template <typename Emit>
  void by_regex(const Step& step, std::string_view text, const Emit& emit) {
    const RegexStates* states = step.pattern->states();
    if (states != nullptr && step.behavior == SplitBehavior::isolated) {
      states->cut(text, scratch.regex, emit);
      return;
    }
    Joiner joiner(text, step.behavior);
    std::size_t done = 0;
    Regex::Match match;
    for (std::size_t at = 0; step.pattern->find(text, at, scratch.regex, match);) {
      if (match.begin > done) joiner.take(done, match.begin, step.invert, emit);
      if (match.end > match.begin) joiner.take(match.begin, match.end, !step.invert, emit);
      at = done = match.end;
      if (match.end > match.begin) continue;
      if (at >= text.size()) break;
      at += utf8_length(static_cast<unsigned char>(text[at]));
    }
    if (done < text.size()) joiner.take(done, text.size(), step.invert, emit);
    joiner.flush(emit);
  }

  template <typename Emit>
  void by_characters(const Step& step, std::string_view text, const Emit& emit) {
    Joiner joiner(text, step.behavior);
    std::size_t plain = 0;
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint c = decode_at(text, at);
      if (step.chars->contains(c.value)) {
        if (at > plain) joiner.take(plain, at, false, emit);
        joiner.take(at, at + c.bytes, true, emit);
        plain = at + c.bytes;
      }
      at += c.bytes;
    }
    if (plain < text.size()) joiner.take(plain, text.size(), false, emit);
    joiner.flush(emit);
  }

  // Removes white space; each punctuation character is a piece.
  template <typename Emit>
  void by_bert(const Step&, std::string_view text, const Emit& emit) {
    std::size_t plain = 0;
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint c = decode_at(text, at);
      const bool space = is_space(c.value);
      const bool punctuation = is_bert_punctuation(c.value);
      if (space || punctuation) {
        if (at > plain) emit(text.substr(plain, at - plain));
        if (punctuation) emit(text.substr(at, c.bytes));
        plain = at + c.bytes;
      }
      at += c.bytes;
    }
    if (plain < text.size()) emit(text.substr(plain));
  }

  template <typename Emit>
  void by_length(std::size_t length, std::string_view text, const Emit& emit) {
    std::size_t begin = 0;
    std::size_t chars = 0;
    for (std::size_t at = 0; at < text.size();) {
      at += utf8_length(static_cast<unsigned char>(text[at]));
      if (++chars < length && at < text.size()) continue;
      emit(text.substr(begin, at - begin));
      begin = at;
      chars = 0;
    }
  }

  std::string& room(std::size_t i) {
    while (scratch.texts.size() <= i * 2 + 1) scratch.texts.emplace_back();
    return scratch.texts[i * 2];
  }

  void byte_level(std::size_t i, std::string_view text, bool at_start) {
    const Step& step = self.steps_[i];
    if (step.prefix_space && text.front() != ' ') {
      std::string& copy = room(i);
      copy.assign(1, ' ');
      copy += text;
      text = copy;
    }
    const bool raw = self.raw_bytes_ && i + 1 == self.steps_.size();
    const auto emit = [&](std::string_view piece) {
      if (raw) {
        sink(piece);
        return;
      }
      room(i);
      std::string& spelled = scratch.texts[i * 2 + 1];
      spelled.clear();
      append_byte_level(spelled, piece);
      this->step(i + 1, spelled, at_start && piece.data() == text.data());
    };
    if (step.use_regex) {
      by_regex(step, text, emit);
    } else {
      emit(text);
    }
  }

  void metaspace(std::size_t i, std::string_view text, bool at_start) {
    const Step& step = self.steps_[i];
    const std::string_view mark = step.replacement;
    std::string& copy = room(i);
    copy.clear();
    const bool wanted =
        step.prepend == Step::Prepend::always || (step.prepend == Step::Prepend::first && at_start);
    const bool there = text.front() == ' ' || text.starts_with(mark);
    if (wanted && !there) copy += mark;
    for (const char c : text) {
      if (c == ' ') {
        copy += mark;
      } else {
        copy += c;
      }
    }
    const std::string_view whole = copy;
    const auto emit = [&](std::string_view piece) {
      this->step(i + 1, piece, at_start && piece.data() == whole.data());
    };
    if (!step.split) {
      emit(whole);
      return;
    }
    // Each mark begins a piece that includes the text after it.
    std::size_t begin = 0;
    for (std::size_t at = whole.find(mark); at != std::string_view::npos;
         at = whole.find(mark, at + mark.size())) {
      if (at > begin) emit(whole.substr(begin, at - begin));
      begin = at;
    }
    emit(whole.substr(begin));
  }
};

void PreTokenizer::run(std::string_view text, bool at_start, PreTokenizerScratch& scratch,
                       const WordSink& sink) const {
  Run{*this, scratch, sink}.step(0, text, at_start);
}

const RegexStates* PreTokenizer::cutter() const {
  if (steps_.empty() || steps_.size() > 2) return nullptr;
  const auto splits = [](const Step& step) {
    return step.kind == StepKind::byte_level
               ? step.use_regex && !step.prefix_space
               : step.kind == StepKind::split && step.behavior == SplitBehavior::isolated &&
                     !step.invert;
  };
  const auto passes_bytes = [this](const Step& step) {
    return raw_bytes_ && step.kind == StepKind::byte_level && !step.prefix_space;
  };
  const Step& last = steps_.back();
  if (!splits(steps_.front()) || (last.kind == StepKind::byte_level && !passes_bytes(last))) {
    return nullptr;
  }
  if (steps_.size() == 2 && (!passes_bytes(last) || last.use_regex)) return nullptr;
  return steps_.front().pattern->states();
}

bool PreTokenizer::ends_with_byte_level() const {
  return !steps_.empty() && steps_.back().kind == StepKind::byte_level;
}

PreTokenizer PreTokenizer::split_by(Regex pattern) {
  PreTokenizer made;
  Step step;
  step.pattern = with_states(std::move(pattern));
  made.steps_.push_back(std::move(step));
  return made;
}

Result<PreTokenizer> PreTokenizer::read(const Json& json, std::string_view where) {
  PreTokenizer made;
  TRY(read_into(json, std::string(where), 0, made.steps_));
  if (made.steps_.size() > kStepsMax) {
    return invalid(format("{}: more than {} steps", where, kStepsMax));
  }
  return made;
}

Result<PreTokenizer::Step> read_metaspace(const Json& json, std::string_view where) {
  PreTokenizer::Step step;
  step.kind = StepKind::metaspace;
  step.replacement = json["replacement"].as_string("\xE2\x96\x81");
  if (step.replacement.empty()) return invalid(format("{}.replacement: is empty", where));
  step.split = json["split"].as_bool(true);
  using Prepend = PreTokenizer::Step::Prepend;
  const std::string_view scheme =
      json["prepend_scheme"].as_string(json["add_prefix_space"].as_bool(true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return invalid(format("{}.prepend_scheme: no such scheme '{}'", where, scheme));
  }
  step.prepend = scheme == "always"  ? Prepend::always
                 : scheme == "first" ? Prepend::first
                                     : Prepend::never;
  return step;
}

Result<void> PreTokenizer::read_into(const Json& json, const std::string& where, int depth,
                                     std::vector<Step>& steps) {
  if (json.is_null()) return {};
  if (depth > kPreTokenizersDepthMax) return invalid(format("{}: nested too deeply", where));
  const std::string_view type = json["type"].as_string();
  Step step;
  if (type == "Sequence") {
    std::size_t i = 0;
    for (const Json& child : json["pretokenizers"].items()) {
      TRY(read_into(child, format("{}.pretokenizers[{}]", where, i++), depth + 1, steps));
    }
    return {};
  }
  if (type == "Split") {
    ASSIGN_OR_RETURN(Regex pattern, read_pattern(json["pattern"], where));
    step.pattern = with_states(std::move(pattern));
    step.invert = json["invert"].as_bool();
    ASSIGN_OR_RETURN(step.behavior,
                     read_behavior(json["behavior"], SplitBehavior::isolated, where));
  } else if (type == "ByteLevel") {
    step.kind = StepKind::byte_level;
    step.prefix_space = json["add_prefix_space"].as_bool(true);
    step.use_regex = json["use_regex"].as_bool(true);
    ASSIGN_OR_RETURN(Regex pattern, Regex::compile(kGpt2Pattern));
    step.pattern = with_states(std::move(pattern));
  } else if (type == "Metaspace") {
    ASSIGN_OR_RETURN(step, read_metaspace(json, where));
  } else if (type == "Whitespace") {
    ASSIGN_OR_RETURN(Regex pattern, Regex::compile(R"(\w+|[^\w\s]+)", RegexDialect::rust));
    step.pattern = with_states(std::move(pattern));
    step.invert = true;
    step.behavior = SplitBehavior::removed;
  } else if (type == "WhitespaceSplit") {
    step.kind = StepKind::characters;
    step.chars = table(CharSet::where(is_space));
    step.behavior = SplitBehavior::removed;
  } else if (type == "Punctuation") {
    step.kind = StepKind::characters;
    step.chars = table(CharSet::where(is_bert_punctuation));
    ASSIGN_OR_RETURN(step.behavior,
                     read_behavior(json["behavior"], SplitBehavior::isolated, where));
  } else if (type == "Digits") {
    step.kind = StepKind::characters;
    step.chars = table(CharSet::where(is_numeric));
    step.behavior =
        json["individual_digits"].as_bool() ? SplitBehavior::isolated : SplitBehavior::contiguous;
  } else if (type == "CharDelimiterSplit") {
    const std::string_view delimiter = json["delimiter"].as_string();
    if (delimiter.empty()) return invalid(format("{}.delimiter: must be one character", where));
    const char32_t c = decode_at(delimiter, 0).value;
    step.kind = StepKind::characters;
    step.chars = table(CharSet::of(c, c));
    step.behavior = SplitBehavior::removed;
  } else if (type == "BertPreTokenizer") {
    step.kind = StepKind::bert;
  } else if (type == "FixedLength") {
    step.kind = StepKind::fixed_length;
    step.length = static_cast<std::size_t>(json["length"].as_uint(5));
    if (step.length == 0) return invalid(format("{}.length: must be at least 1", where));
  } else {
    return Error{Code::unsupported, format("{}: no such pre-tokenizer '{}'", where, type)};
  }
  steps.push_back(std::move(step));
  return {};
}

}  // namespace assay::text
