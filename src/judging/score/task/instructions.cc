#include "score/task/instructions.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "score/answer/python_text.h"
#include "score/task/language.h"
#include "score/task/words.h"
#include "text/regex.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

// What a check sees: the instruction's arguments, and the reply or a part of it.
struct Asked {
  const Json& args;
  const Sentences& sentences;
  Patterns& patterns;
  std::string_view name{};
};

std::string without_space(std::string_view text) { return std::string(python_strip(text)); }
bool is_blank(std::string_view text) { return python_strip(text).empty(); }
std::string in_lower_case(std::string_view text) { return text::lower_case(text); }

Error lacks(const Asked& asked, std::string_view argument) {
  return invalid(
      format("instruction {}: its argument '{}' is missing in kwargs", asked.name, argument));
}

// The original drops null, 0 and "" and then draws a value; a dataset has none of them.
Result<std::string> text_argument(const Asked& asked, std::string_view argument) {
  const Json& value = asked.args[argument];
  if (!value.is_string() || value.as_string().empty()) return lacks(asked, argument);
  return readable(value.as_string());
}
Result<std::size_t> count_argument(const Asked& asked, std::string_view argument) {
  const Json& value = asked.args[argument];
  if (!value.is_number() || value.as_double() <= 0) return lacks(asked, argument);
  return static_cast<std::size_t>(value.as_double());
}
Result<std::vector<std::string>> texts_argument(const Asked& asked, std::string_view argument) {
  std::vector<std::string> out;
  for (const Json& one : asked.args[argument].items()) {
    out.push_back(readable(one.as_string()));
  }
  if (out.empty()) return lacks(asked, argument);
  return out;
}

// "less than" or "at least".
Result<bool> relation_holds(const Asked& asked, std::string_view relation, std::size_t count,
                            std::string_view threshold) {
  ASSIGN_OR_RETURN(const std::string how, text_argument(asked, relation));
  ASSIGN_OR_RETURN(const std::size_t than, count_argument(asked, threshold));
  if (how == "less than") return count < than;
  if (how == "at least") return count >= than;
  return invalid(format("instruction {}: {} is '{}', neither 'less than' nor 'at least'",
                        asked.name, relation, how));
}

// The matches of a pattern of Python's re: keywords are patterns too, and nearly all are words. One
// that can't be read has no match; the original ends with an error there.
std::vector<std::string> all_matches(const Asked& asked, const std::string& pattern,
                                     std::string_view text) {
  const text::Regex* const regex = asked.patterns.find(pattern);
  if (regex == nullptr) return {};
  text::RegexStack stack;
  stack.begin(text.size());
  std::vector<std::string> out;
  text::Regex::Match match;
  for (std::size_t at = 0; at <= text.size() && regex->find(text, at, stack, match);) {
    out.emplace_back(text.substr(match.begin, match.end - match.begin));
    if (match.end > match.begin) {
      at = match.end;
    } else {
      if (match.end >= text.size()) break;
      at = match.end + text::decode_at(text, match.end).bytes;
    }
  }
  return out;
}

// The parts between the matches, as re.split of a pattern without groups.
std::vector<std::string> parts_around(const Asked& asked, const std::string& pattern,
                                      std::string_view text) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (const std::string& match : all_matches(asked, pattern, text)) {
    const std::size_t at = text.find(match, from);
    out.emplace_back(text.substr(from, at - from));
    from = at + match.size();
  }
  out.emplace_back(text.substr(from));
  return out;
}

std::vector<std::string> parts_between(std::string_view mark, std::string_view text) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(mark, from)) != std::string_view::npos;) {
    out.emplace_back(text.substr(from, at - from));
    from = at + mark.size();
  }
  out.emplace_back(text.substr(from));
  return out;
}

using Checked = Result<bool>;

Checked keywords(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const auto words, texts_argument(asked, "keywords"));
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return !all_matches(asked, "(?i:" + word + ")", value).empty();
  });
}

Checked keyword_frequency(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string word, text_argument(asked, "keyword"));
  return relation_holds(asked, "relation",
                        all_matches(asked, "(?i:" + without_space(word) + ")", value).size(),
                        "frequency");
}

Checked forbidden_words(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const auto words, texts_argument(asked, "forbidden_words"));
  return std::none_of(words.begin(), words.end(), [&](const std::string& word) {
    return !all_matches(asked, "(?i:\\b" + word + "\\b)", value).empty();
  });
}

Checked letter_frequency(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string given, text_argument(asked, "letter"));
  const std::string letter = in_lower_case(given);
  if (letter.size() != 1 || letter[0] < 'a' || letter[0] > 'z') {
    return invalid(format("instruction {}: letter '{}' is none from a to z", asked.name, given));
  }
  const std::string text = in_lower_case(value);
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), letter[0]));
  // Here the original takes each relation but the first as the second.
  ASSIGN_OR_RETURN(const std::size_t than, count_argument(asked, "let_frequency"));
  ASSIGN_OR_RETURN(const std::string how, text_argument(asked, "let_relation"));
  return how == "less than" ? count < than : count >= than;
}

Checked response_language(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string wanted, text_argument(asked, "language"));
  const std::string_view language = language_of(value);
  return language.empty() || language == wanted;
}

Checked number_sentences(const Asked& asked, const std::string& value) {
  return relation_holds(asked, "relation", asked.sentences.list(value).size(), "num_sentences");
}

Checked number_paragraphs(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::size_t wanted, count_argument(asked, "num_paragraphs"));
  const auto all = parts_around(asked, "\\s?\\*\\*\\*\\s?", value);
  std::size_t count = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_blank(all[i])) continue;
    if (i != 0 && i + 1 != all.size()) return false;
    --count;
  }
  return count == wanted;
}

Checked number_words(const Asked& asked, const std::string& value) {
  return relation_holds(asked, "relation", word_count(value), "num_words");
}

// The first word without what stands around it.
std::string first_word_of(std::string_view paragraph) {
  const Characters text = characters(paragraph);
  std::size_t at = 0;
  while (at < text.size() && text[at] == U'\'') ++at;
  while (at < text.size() && text[at] == U'"') ++at;
  Characters word;
  for (; at < text.size() && !python_space(text[at]); ++at) {
    if (CharactersView(U".,?!'\"").find(text[at]) != CharactersView::npos) break;
    word += text[at];
  }
  return in_lower_case(utf8(word));
}

Checked nth_paragraph_first_word(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::size_t wanted, count_argument(asked, "num_paragraphs"));
  ASSIGN_OR_RETURN(const std::size_t nth, count_argument(asked, "nth_paragraph"));
  ASSIGN_OR_RETURN(const std::string word, text_argument(asked, "first_word"));
  const auto all = parts_between("\n\n", value);
  const auto count = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const std::string& one) { return !is_blank(one); }));
  if (nth > count) return false;
  const std::string paragraph = without_space(all[nth - 1]);
  if (paragraph.empty()) return false;
  return count == wanted && first_word_of(paragraph) == in_lower_case(word);
}

Checked number_placeholders(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::size_t wanted, count_argument(asked, "num_placeholders"));
  return all_matches(asked, "\\[.*?\\]", value).size() >= wanted;
}

Checked postscript(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string given, text_argument(asked, "postscript_marker"));
  const std::string marker = without_space(given);
  const std::string pattern = marker == "P.P.S"  ? "p\\.\\s?p\\.\\s?s.*$"
                              : marker == "P.S." ? "p\\.\\s?s\\..*$"
                                                 : in_lower_case(marker) + ".*$";
  return !all_matches(asked, "(?m)\\s*" + pattern, in_lower_case(value)).empty();
}

Checked number_bullet_lists(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::size_t wanted, count_argument(asked, "num_bullets"));
  return all_matches(asked, "(?m)^\\s*\\*[^\\*].*$", value).size() +
             all_matches(asked, "(?m)^\\s*-.*$", value).size() ==
         wanted;
}

Checked constrained_response(const Asked&, const std::string& value) {
  return value.find("My answer is yes.") != std::string::npos ||
         value.find("My answer is no.") != std::string::npos ||
         value.find("My answer is maybe.") != std::string::npos;
}

std::string_view without_ends(std::string_view text, std::string_view first,
                              std::string_view last) {
  if (text.starts_with(first)) text.remove_prefix(first.size());
  if (text.ends_with(last)) text.remove_suffix(last.size());
  return text;
}

std::string_view without_marks(std::string_view text, char first, char last) {
  while (text.starts_with(first)) text.remove_prefix(1);
  while (text.ends_with(last)) text.remove_suffix(1);
  return text;
}

Checked number_highlighted_sections(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::size_t wanted, count_argument(asked, "num_highlights"));
  std::size_t count = 0;
  for (const std::string& one : all_matches(asked, "\\*[^\\n\\*]*\\*", value)) {
    count += is_blank(without_marks(one, '*', '*')) ? 0U : 1U;
  }
  for (const std::string& one : all_matches(asked, "\\*\\*[^\\n\\*]*\\*\\*", value)) {
    count += is_blank(without_ends(one, "**", "**")) ? 0U : 1U;
  }
  return count >= wanted;
}

Checked multiple_sections(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string mark, text_argument(asked, "section_spliter"));
  ASSIGN_OR_RETURN(const std::size_t wanted, count_argument(asked, "num_sections"));
  return all_matches(asked, "\\s?" + without_space(mark) + "\\s?\\d+\\s?", value).size() >= wanted;
}

Checked json_format(const Asked&, const std::string& value) {
  const std::string all = without_space(value);
  std::string_view text = all;
  for (const std::string_view fence : {"```json", "```Json", "```JSON", "```"}) {
    text = without_ends(text, fence, "");
  }
  text = python_strip(without_ends(text, "", "```"));
  // Python also reads these three.
  if (text == "NaN" || text == "Infinity" || text == "-Infinity") return true;
  return Json::parse(text).has_value();
}

Checked title(const Asked& asked, const std::string& value) {
  for (const std::string& one : all_matches(asked, "<<[^\\n]+>>", value)) {
    if (!is_blank(without_marks(one, '<', '>'))) return true;
  }
  return false;
}

Checked two_responses(const Asked&, const std::string& value) {
  const auto all = parts_between("******", value);
  std::vector<std::string> valid;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_blank(all[i])) {
      valid.push_back(without_space(all[i]));
    } else if (i != 0 && i + 1 != all.size()) {
      return false;
    }
  }
  return valid.size() == 2 && valid[0] != valid[1];
}

Checked repeat_prompt(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string prompt, text_argument(asked, "prompt_to_repeat"));
  return in_lower_case(without_space(value)).starts_with(in_lower_case(without_space(prompt)));
}

Checked end_checker(const Asked& asked, const std::string& value) {
  ASSIGN_OR_RETURN(const std::string phrase, text_argument(asked, "end_phrase"));
  const std::string all = without_space(value);
  return in_lower_case(without_marks(all, '"', '"'))
      .ends_with(in_lower_case(without_space(phrase)));
}

Checked capital_word_frequency(const Asked& asked, const std::string& value) {
  std::size_t count = 0;
  for (const std::string& sentence : asked.sentences.list(value)) {
    for (const std::string& token : treebank_tokens(sentence)) count += is_upper(token) ? 1U : 0U;
  }
  // As for letters: each relation but the first is the second.
  ASSIGN_OR_RETURN(const std::size_t than, count_argument(asked, "capital_frequency"));
  ASSIGN_OR_RETURN(const std::string how, text_argument(asked, "capital_relation"));
  return how == "less than" ? count < than : count >= than;
}

Checked english_capital(const Asked&, const std::string& value) {
  return is_upper(value) && language_of(value) == "en";
}
Checked english_lowercase(const Asked&, const std::string& value) {
  return is_lower(value) && language_of(value) == "en";
}
Checked no_comma(const Asked&, const std::string& value) {
  return value.find(',') == std::string::npos;
}
Checked quotation(const Asked&, const std::string& value) {
  const std::string text = without_space(value);
  return text.size() > 1 && text.front() == '"' && text.back() == '"';
}

struct Instruction {
  std::string_view name{};
  Checked (*check)(const Asked&, const std::string&) = nullptr;
};

constexpr std::array<Instruction, 25> kInstructions{{
    {"keywords:existence", keywords},
    {"keywords:frequency", keyword_frequency},
    {"keywords:forbidden_words", forbidden_words},
    {"keywords:letter_frequency", letter_frequency},
    {"language:response_language", response_language},
    {"length_constraints:number_sentences", number_sentences},
    {"length_constraints:number_paragraphs", number_paragraphs},
    {"length_constraints:number_words", number_words},
    {"length_constraints:nth_paragraph_first_word", nth_paragraph_first_word},
    {"detectable_content:number_placeholders", number_placeholders},
    {"detectable_content:postscript", postscript},
    {"detectable_format:number_bullet_lists", number_bullet_lists},
    {"detectable_format:constrained_response", constrained_response},
    {"detectable_format:number_highlighted_sections", number_highlighted_sections},
    {"detectable_format:multiple_sections", multiple_sections},
    {"detectable_format:json_format", json_format},
    {"detectable_format:title", title},
    {"combination:two_responses", two_responses},
    {"combination:repeat_prompt", repeat_prompt},
    {"startend:end_checker", end_checker},
    {"change_case:capital_word_frequency", capital_word_frequency},
    {"change_case:english_capital", english_capital},
    {"change_case:english_lowercase", english_lowercase},
    {"punctuation:no_comma", no_comma},
    {"startend:quotation", quotation},
}};

Result<const Instruction*> kind_of(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Instruction& one : kInstructions) {
    if (one.name == name) return &one;
    names.push_back(one.name);
  }
  const std::string_view near = nearest(name, names);
  return invalid(format("instruction_id_list: unknown instruction '{}'{}", name,
                        near.empty() ? "" : format(", did you mean '{}'?", near)));
}

std::string without_asterisks(std::string text) {
  std::erase(text, '*');
  return text;
}

// The replies of which one is enough for loose, in the original's order.
std::vector<std::string> loose_forms(const std::string& reply) {
  const std::size_t first = reply.find('\n');
  const std::size_t last = reply.rfind('\n');
  const bool lines = first != std::string::npos;
  const std::string no_first = lines ? without_space(reply.substr(first + 1)) : std::string();
  const std::string no_last = lines ? without_space(reply.substr(0, last)) : std::string();
  const std::string neither = lines && last > first
                                  ? without_space(reply.substr(first + 1, last - first - 1))
                                  : std::string();
  return {reply,
          without_asterisks(reply),
          no_first,
          no_last,
          neither,
          without_asterisks(no_first),
          without_asterisks(no_last),
          without_asterisks(neither)};
}

}  // namespace

std::uint64_t Followed::number(const std::vector<bool>& which) {
  return static_cast<std::uint64_t>(std::count(which.begin(), which.end(), true));
}

Result<InstructionJudge> InstructionJudge::make(const Json& extras, const Json& of_run) {
  const Json& chosen = extras["punkt"].is_string() ? extras : of_run;
  ASSIGN_OR_RETURN(Sentences sentences, Sentences::make(chosen));
  InstructionJudge out(std::move(sentences));
  out.note_ = "languages are recognised by this program's own rules, not by langdetect";
  if (!chosen["punkt"].is_string()) {
    out.note_ += "; sentences are cut by built-in rules, not by nltk's model (extras.punkt)";
  }
  return out;
}

Result<Followed> InstructionJudge::judge(const Json& columns, const std::string& reply) {
  const Json& names = columns["instruction_id_list"];
  const Json& kwargs = columns["kwargs"];
  if (!names.is_array() || names.size() == 0) {
    return invalid("column 'instruction_id_list': expected a list of instructions");
  }
  Followed out;
  const std::string text = readable(reply);
  const std::vector<std::string> forms = loose_forms(text);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(const Instruction* const kind, kind_of(names[i].as_string()));
    const Asked asked{kwargs[i], sentences_, patterns_, kind->name};
    bool loose = false;
    for (std::size_t form = 0; form < forms.size(); ++form) {
      bool follows = false;
      if (!is_blank(forms[form])) {
        ASSIGN_OR_RETURN(follows, kind->check(asked, forms[form]));
      }
      if (form == 0) out.strict.push_back(follows);
      loose = loose || follows;
      if (loose) break;
    }
    out.loose.push_back(loose);
  }
  return out;
}

}  // namespace assay::score
