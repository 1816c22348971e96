// Punkt with the decisions of nltk 3.10.
#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "score/text/sentences.h"
#include "text/regex.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

// How a word occurred in the training text: upper or lower case, and where in a sentence.
constexpr int kMiddleUpper = 1 << 2;
constexpr int kBeginLower = 1 << 4;
constexpr int kUpper = (1 << 1) | kMiddleUpper | (1 << 3);
constexpr int kLower = kBeginLower | (1 << 5) | (1 << 6);

constexpr std::string_view kNumber = "##number##";

bool is_curled_quote(char32_t c) {
  return std::u32string_view(U"‘’“”«»").find(c) != std::u32string_view::npos;
}

// Characters other than white space that end a word and belong to none.
bool closes_word(char32_t c) {
  switch (c) {
    case U')':
    case U'"':
    case U';':
    case U'}':
    case U']':
    case U'*':
    case U':':
    case U'@':
    case U'\'':
    case U'(':
    case U'{':
    case U'[':
    case U'?':
    case U'!':
      return true;
    default:
      return is_curled_quote(c);
  }
}

bool closes_sentence(char32_t c) {
  switch (c) {
    case U'"':
    case U'\'':
    case U')':
    case U']':
    case U'}':
      return true;
    default:
      return is_curled_quote(c);
  }
}

const text::Regex& word_regex() {
  static const text::Regex kWords = [] {
    const std::string non_word = "[)\";}\\]*:@'({\\[‘’“”«»?!]";
    const std::string multi = "(?:-{2,}|\\.{2,}|(?:\\.\\s){2,}\\.)";
    const std::string pattern = multi + "|(?=[^(\"`{\\[:;&#*@)}\\]\\-,])\\S+?(?=\\s|\\z|" +
                                non_word + "|" + multi + "|,(?=\\z|\\s|" + non_word + "|" + multi +
                                "))|\\S";
    return text::Regex::compile(pattern, text::RegexDialect::rust).value();
  }();
  return kWords;
}

bool ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_any_digit(char32_t c) { return text::category(c) == text::GeneralCategory::nd; }

// -?[.,]?\d[\d,.-]*\.?
bool is_number(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  if (at < word.size() && (word[at] == '.' || word[at] == ',')) ++at;
  if (at >= word.size()) return false;
  const text::CodePoint first = text::decode_at(word, at);
  if (!is_any_digit(first.value)) return false;
  for (at += first.bytes; at < word.size();) {
    const text::CodePoint c = text::decode_at(word, at);
    if (c.value != U',' && c.value != U'.' && c.value != U'-' && !is_any_digit(c.value))
      return false;
    at += c.bytes;
  }
  return true;
}

std::string type_of(std::string_view word) {
  std::string lowered = text::lower_case(word);
  return is_number(lowered) ? std::string(kNumber) : lowered;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const text::CodePoint c = text::decode_at(text, at);
    if (!text::is_space(c.value)) break;
    at += c.bytes;
  }
  return at;
}

std::size_t skip_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const text::CodePoint c = text::decode_at(text, at);
    if (text::is_space(c.value)) break;
    at += c.bytes;
  }
  return at;
}

std::size_t end_without_space(std::string_view text, std::size_t end) {
  while (end > 0) {
    const std::size_t before = text::previous(text, end);
    if (!text::is_space(text::decode_at(text, before).value)) break;
    end = before;
  }
  return end;
}

Result<std::vector<std::string>> read_lines(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file, std::size_t{64} << 20));
  if (!valid_utf8(text)) return invalid(file.string() + ": is not UTF-8");
  std::vector<std::string> out;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) out.emplace_back(line);
  }
  return out;
}

}  // namespace

struct Punkt::Token {
  std::string_view text{};
  std::string type{};
  bool period = false;  // ends in one
  bool ends = false;    // ends the sentence
  bool abbreviation = false;
  bool ellipsis = false;

  std::string_view without_period() const {
    return type.size() > 1 && type.back() == '.' ? std::string_view(type).substr(0, type.size() - 1)
                                                 : std::string_view(type);
  }
  std::string_view without_end() const { return ends ? without_period() : std::string_view(type); }
  char32_t first() const { return text::decode_at(text, 0).value; }
  bool upper() const { return text::category(first()) == text::GeneralCategory::lu; }
  bool lower() const { return text::category(first()) == text::GeneralCategory::ll; }
  // True for a letter and a period.
  bool initial() const {
    const text::CodePoint c = text::decode_at(text, 0);
    return c.bytes + 1U == text.size() && text.back() == '.' && text::is_word(c.value) &&
           !is_any_digit(c.value);
  }
};

// A place that may end a sentence.
struct Punkt::Context {
  std::size_t word = 0;  // start of the word before it
  std::size_t at = 0;    // the mark itself, one byte
  std::size_t next = 0;  // start of the next word; 0: punctuation follows directly
  std::size_t end = 0;   // of what follows
};

Result<Punkt> Punkt::read(const std::filesystem::path& folder) {
  Punkt out;
  ASSIGN_OR_RETURN(const auto abbreviations, read_lines(folder / "abbrev_types.txt"));
  ASSIGN_OR_RETURN(const auto starters, read_lines(folder / "sent_starters.txt"));
  ASSIGN_OR_RETURN(const auto collocations, read_lines(folder / "collocations.tab"));
  ASSIGN_OR_RETURN(const auto contexts, read_lines(folder / "ortho_context.tab"));
  out.abbreviations_.insert(abbreviations.begin(), abbreviations.end());
  out.starters_.insert(starters.begin(), starters.end());
  out.collocations_.insert(collocations.begin(), collocations.end());
  for (const std::string& line : contexts) {
    const std::size_t tab = line.rfind('\t');
    const auto flags = tab == std::string::npos ? Result<std::int64_t>(invalid("no tab"))
                                                : parse_int(std::string_view(line).substr(tab + 1));
    if (!flags) {
      return invalid(format("{}: '{}' is not a word, tab and number",
                            (folder / "ortho_context.tab").string(), line));
    }
    out.contexts_[line.substr(0, tab)] = static_cast<int>(*flags);
  }
  return out;
}

std::vector<Punkt::Token> Punkt::tokens(std::string_view all) const {
  std::vector<Token> out;
  text::RegexStack stack;
  text::Regex::Match match;
  for (const std::string_view line : split(all, '\n')) {
    std::size_t at = 0;
    while (at < line.size() && word_regex().find(line, at, stack, match)) {
      stack.steps = 0;
      Token token;
      token.text = line.substr(match.begin, match.end - match.begin);
      token.type = type_of(token.text);
      token.period = token.text.ends_with('.');
      out.push_back(std::move(token));
      at = match.end;
    }
  }
  return out;
}

void Punkt::first_pass(Token& token) const {
  const std::string_view word = token.text;
  if (word == "." || word == "?" || word == "!") {
    token.ends = true;
  } else if (word.size() > 1 && word.find_first_not_of('.') == std::string_view::npos) {
    token.ellipsis = true;
  } else if (token.period && !word.ends_with("..")) {
    const std::string plain = text::lower_case(word.substr(0, word.size() - 1));
    const bool known = abbreviations_.contains(plain) ||
                       abbreviations_.contains(plain.substr(plain.rfind('-') + 1));
    (known ? token.abbreviation : token.ends) = true;
  }
}

int Punkt::starts_sentence(const Token& token) const {
  if (token.text.size() == 1 &&
      std::string_view(";:,.!?").find(token.text[0]) != std::string_view::npos) {
    return 0;
  }
  const auto found = contexts_.find(std::string(token.without_end()));
  const int seen = found == contexts_.end() ? 0 : found->second;
  if (token.upper() && (seen & kLower) != 0 && (seen & kMiddleUpper) == 0) return 1;
  if (token.lower() && ((seen & kUpper) != 0 || (seen & kBeginLower) == 0)) return 0;
  return -1;
}

void Punkt::second_pass(Token& token, const Token& next) const {
  if (!token.period) return;
  const std::string type(token.without_period());
  const std::string next_type(next.without_end());
  const bool initial = token.initial();
  const auto join = [&token] {
    token.ends = false;
    token.abbreviation = true;
  };
  if (collocations_.contains(type + "\t" + next_type)) return join();
  if ((token.abbreviation || token.ellipsis) && !initial) {
    if (starts_sentence(next) == 1 || (next.upper() && starters_.contains(next_type))) {
      token.ends = true;
      return;
    }
  }
  if (!initial && type != kNumber) return;
  const int starts = starts_sentence(next);
  if (starts == 0) return join();
  const auto found = contexts_.find(next_type);
  const int seen = found == contexts_.end() ? 0 : found->second;
  if (starts == -1 && initial && next.upper() && (seen & kLower) == 0) join();
}

bool Punkt::holds_break(std::string_view all) const {
  std::vector<Token> words = tokens(all);
  for (Token& token : words) first_pass(token);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    second_pass(words[i], words[i + 1]);
    if (words[i].ends) return true;  // and a word follows
  }
  return false;
}

std::vector<std::string_view> Punkt::sentences(std::string_view all) const {
  struct Slice {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Slice> slices;
  std::size_t last_break = 0;
  const auto decide = [&](const Context& one) {
    if (!holds_break(all.substr(one.word, one.end - one.word))) return;
    slices.push_back({last_break, one.at + 1});
    last_break = one.next > 0 ? one.next : one.at + 1;
  };
  // If several marks follow one another without a space, the last one decides.
  Context before;
  bool any = false;
  std::size_t word_begin = 0;
  std::size_t word_end = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at] != '.' && all[at] != '?' && all[at] != '!') continue;
    Context one{.at = at};
    if (at + 1 >= all.size()) continue;
    const text::CodePoint after = text::decode_at(all, at + 1);
    if (closes_word(after.value)) {
      one.end = at + 1 + after.bytes;
    } else {
      one.next = skip_space(all, at + 1);
      if (one.next == at + 1 || one.next == all.size()) continue;
      one.end = skip_word(all, one.next);
    }
    std::size_t space = at;
    while (space > word_end && !ascii_space(all[space - 1])) --space;
    // A space as the very first character does not count, as in nltk.
    one.word = space > word_end + 1 ? space : word_begin;
    if (any && word_end <= one.word) decide(before);
    word_begin = one.word;
    word_end = at;
    before = one;
    any = true;
  }
  if (any) decide(before);
  slices.push_back({last_break, end_without_space(all, all.size())});

  // Closing quotes and brackets belong to the sentence before them.
  std::vector<std::string_view> out;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::size_t begin = slices[i].begin + moved;
    std::size_t end = slices[i].end;
    moved = 0;
    if (i + 1 < slices.size()) {
      const Slice next = slices[i + 1];
      const std::string_view rest = next.end > next.begin
                                        ? all.substr(next.begin, next.end - next.begin)
                                        : std::string_view();
      for (std::size_t at = 0; at < rest.size();) {
        const text::CodePoint c = text::decode_at(rest, at);
        if (!closes_sentence(c.value)) break;
        at += c.bytes;
        const std::size_t spaces = skip_space(rest, at);
        if (spaces == at && at < rest.size() && !rest.substr(at).starts_with("--")) continue;
        end = next.begin + at;
        moved = spaces;
        break;
      }
    }
    if (end > begin) out.push_back(all.substr(begin, end - begin));
  }
  return out;
}

Result<Sentences> Sentences::make(const Json& extras) {
  Sentences out;
  const std::string folder(extras["punkt"].as_string());
  if (folder.empty()) return out;
  auto punkt = Punkt::read(folder);
  if (!punkt) return punkt.error().within("extras.punkt");
  out.punkt_ = std::make_shared<const Punkt>(*std::move(punkt));
  return out;
}

std::string Sentences::lines(std::string_view text) const {
  if (punkt_ == nullptr) return split_sentences(text);
  const std::string readable =
      valid_utf8(text) ? std::string(text) : text::replace_invalid_utf8(text);
  std::string out;
  for (const std::string_view sentence : punkt_->sentences(readable)) {
    if (!out.empty()) out += '\n';
    out += sentence;
  }
  return out;
}

std::vector<std::string> Sentences::list(std::string_view text) const {
  const std::string readable =
      valid_utf8(text) ? std::string(text) : text::replace_invalid_utf8(text);
  std::vector<std::string> out;
  if (punkt_ != nullptr) {
    for (const std::string_view sentence : punkt_->sentences(readable)) out.emplace_back(sentence);
    return out;
  }
  const std::string lines = split_sentences(readable);
  for (const std::string_view line : split(lines, '\n')) {
    if (!trim(line).empty()) out.emplace_back(trim(line));
  }
  return out;
}

std::string Sentences::note() const {
  return punkt_ != nullptr
             ? std::string()
             : "rougeLsum: sentences are cut by the built-in rules, not by nltk's Punkt "
               "(extras.punkt: its punkt_tab/english)";
}

}  // namespace assay::score
