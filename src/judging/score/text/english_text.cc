#include "score/text/english_text.h"

#include <array>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

bool decimal(char c) { return c >= '0' && c <= '9'; }
bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
struct Rewrite {
  std::string_view from{};
  std::string_view to{};
  bool whole_word = true;  // needs a word edge before it too; one after it always
};

// Applied in this order.
constexpr std::array<Rewrite, 51> kRewrites = {{
    {"won't", "will not"},
    {"can't", "can not"},
    {"let's", "let us"},
    {"ain't", "aint"},
    {"y'all", "you all"},
    {"wanna", "want to"},
    {"gotta", "got to"},
    {"gonna", "going to"},
    {"i'ma", "i am going to"},
    {"imma", "i am going to"},
    {"woulda", "would have"},
    {"coulda", "could have"},
    {"shoulda", "should have"},
    {"ma'am", "madam"},
    {"mr", "mister "},
    {"mrs", "missus "},
    {"st", "saint "},
    {"dr", "doctor "},
    {"prof", "professor "},
    {"capt", "captain "},
    {"gov", "governor "},
    {"ald", "alderman "},
    {"gen", "general "},
    {"sen", "senator "},
    {"rep", "representative "},
    {"pres", "president "},
    {"rev", "reverend "},
    {"hon", "honorable "},
    {"asst", "assistant "},
    {"assoc", "associate "},
    {"lt", "lieutenant "},
    {"col", "colonel "},
    {"jr", "junior "},
    {"sr", "senior "},
    {"esq", "esquire "},
    {"'d been", " had been", false},
    {"'s been", " has been", false},
    {"'d gone", " had gone", false},
    {"'s gone", " has gone", false},
    {"'d done", " had done", false},
    {"'s got", " has got", false},
    {"n't", " not", false},
    {"'re", " are", false},
    {"'s", " is", false},
    {"'d", " would", false},
    {"'ll", " will", false},
    {"'t", " not", false},
    {"'ve", " have", false},
    {"'m", " am", false},
}};

std::string rewritten(const std::string& text, const Rewrite& rule) {
  if (rule.from.empty()) return text;
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find(rule.from); at != std::string::npos;) {
    const std::size_t end = at + rule.from.size();
    if ((!rule.whole_word || word_edge(text, at)) && word_edge(text, end)) {
      out.append(text, done, at - done).append(rule.to);
      done = end;
      at = text.find(rule.from, end);
    } else {
      at = text.find(rule.from, at + 1);
    }
  }
  return out.append(text, done);
}

// Removes <…>, […], and (…) that is not empty.
std::string without_asides(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '<' || text[at] == '[') {
      const std::size_t end = text.find_first_of(">]", at + 1);
      if (end != std::string_view::npos) {
        at = end;
        continue;
      }
    }
    out += text[at];
  }
  std::string kept;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '(') {
      const std::size_t end = out.find(')', at + 1);
      if (end != std::string::npos && end > at + 1) {
        at = end;
        continue;
      }
    }
    kept += out[at];
  }
  return kept;
}

std::string without_fillers(std::string text) {
  for (const std::string_view filler : {"hmm", "mm", "mhm", "mmm", "uh", "um"}) {
    text = rewritten(text, {filler, "", true});
  }
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      while (!out.empty() && blank(out.back())) out.pop_back();
    }
    out += c;
  }
  return out;
}

// Removes commas between digits, and points that no digit follows.
std::string without_points(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool after = at + 1 < text.size() && decimal(text[at + 1]);
    // A digit that ended one pair does not begin another: "1,2,3" keeps its second comma.
    if (c == ',' && at > 0 && decimal(text[at - 1]) && after) {
      out += text[++at];
      if (at + 1 < text.size() && text[at + 1] == ',') out += text[++at];
      continue;
    }
    out += c;
  }
  std::string points;
  for (std::size_t at = 0; at < out.size(); ++at) {
    const bool last = at + 1 == out.size();
    if (out[at] == '.' && (last || !decimal(out[at + 1]))) {
      points += ' ';
      if (!last) points += out[++at];  // it is consumed: the second of two points stays
      continue;
    }
    points += out[at];
  }
  return points;
}

std::string_view plain_letter(char32_t c) {
  constexpr std::pair<char32_t, std::string_view> kLetters[] = {
      {U'œ', "oe"}, {U'Œ', "OE"}, {U'ø', "o"}, {U'Ø', "O"}, {U'æ', "ae"}, {U'Æ', "AE"},
      {U'ß', "ss"}, {U'ẞ', "SS"}, {U'đ', "d"}, {U'Đ', "D"}, {U'ð', "d"},  {U'Ð', "D"},
      {U'þ', "th"}, {U'Þ', "th"}, {U'ł', "l"}, {U'Ł', "L"}};
  for (const auto& [letter, plain] : kLetters) {
    if (letter == c) return plain;
  }
  return {};
}

// Removes accents; other symbols become a space, except those that numbers need.
std::string without_symbols(std::string_view text) {
  const std::string parts = text::normalize(text, text::NormalForm::nfkd);
  std::string out;
  for (std::size_t at = 0; at < parts.size();) {
    const text::CodePoint c = text::decode_at(parts, at);
    const std::string_view bytes = std::string_view(parts).substr(at, c.bytes);
    at += c.bytes;
    const std::string_view kKept[] = {".", "%", "$", "¢", "€", "£"};
    bool kept = false;
    for (const std::string_view one : kKept) kept = kept || one == bytes;
    if (kept) {
      out += bytes;
    } else if (const std::string_view plain = plain_letter(c.value); !plain.empty()) {
      out += plain;
    } else {
      const text::CategoryMask category = text::bit(text::category(c.value));
      if ((category & text::bit(text::GeneralCategory::mn)) != 0) continue;
      const text::CategoryMask symbols =
          text::category_mask("M") | text::category_mask("S") | text::category_mask("P");
      out += (category & symbols) != 0 ? std::string_view(" ") : bytes;
    }
  }
  return out;
}

// Replaces a point or currency without a digit after it, and a % without one before, by spaces.
std::string without_lone_signs(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    for (const std::string_view sign : {".", "$", "¢", "€", "£"}) {
      if (text.substr(at).starts_with(sign)) length = sign.size();
    }
    const std::size_t next = at + length;
    if (length == 0 || next >= text.size() || decimal(text[next])) {
      out += text[at++];
      continue;
    }
    out += ' ';
    const std::size_t after = text::utf8_length(static_cast<unsigned char>(text[next]));
    out += text.substr(next, after);
    at = next + after;
  }
  std::string signs;
  bool spent = true;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '%' && !spent && !decimal(out[at - 1])) {
      signs += ' ';
      spent = true;
      continue;
    }
    signs += out[at];
    spent = false;
  }
  return signs;
}

}  // namespace

bool word_edge(std::string_view text, std::size_t at) {
  const auto word = [&](std::size_t i) { return text::is_word(text::decode_at(text, i).value); };
  const bool left = at > 0 && word(text::previous(text, at));
  const bool right = at < text.size() && word(at);
  return left != right;
}

Result<Spellings> read_spellings(const std::filesystem::path& file) {
  if (file.empty()) return Spellings();
  ASSIGN_OR_RETURN(const std::string text, read_file(file, std::size_t{16} << 20));
  auto json = Json::parse(text);
  if (!json) return json.error().within(format("extras.spellings: {}", file.string()));
  if (!json->is_object()) {
    return invalid(format("extras.spellings: {}: must be an object of texts", file.string()));
  }
  Spellings out;
  for (const auto& [from, to] : json->members()) out[from] = to.as_string();
  return out;
}

std::string english_text(std::string_view text, const Spellings& spellings) {
  std::string plain = without_fillers(without_asides(text::lower_case(text)));
  for (const Rewrite& rule : kRewrites) plain = rewritten(plain, rule);
  const std::string numbers = english_numbers(without_symbols(without_points(plain)));
  std::string spelled;
  for (const std::string_view word : split(numbers, ' ')) {
    if (word.empty()) continue;
    const auto at = spellings.find(std::string(word));
    if (!spelled.empty()) spelled += ' ';
    spelled += at == spellings.end() ? word : std::string_view(at->second);
  }
  std::string out;
  for (const char c : without_lone_signs(spelled)) {
    if (blank(c) && !out.empty() && out.back() == ' ') continue;
    out += blank(c) ? ' ' : c;
  }
  return out;
}

}  // namespace assay::score
