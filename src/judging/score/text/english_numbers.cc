// Numbers in words, as Whisper's normalizer reads them: from left to right, with one unfinished
// number, which is a whole number, or a text of digits and points ("nineteen oh five" is 1905, "one
// point five" is 1.5).
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/text.h"
#include "score/text/english_text.h"

namespace assay::score {
namespace {

__extension__ using Whole = unsigned __int128;

struct Word {
  std::string name{};
  Whole value = 0;
  std::string suffix{};  // of "thirds", "fifth", "twenties"
};

std::string text_of(Whole value) {
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value > 0);
  return out;
}

bool numeral(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::string_view, 19> kOnes = {
    "one",     "two",     "three",     "four",     "five",    "six",      "seven",
    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 8> kTens = {"twenty", "thirty",  "forty",  "fifty",
                                                   "sixty",  "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 12> kMultipliers = {
    "hundred",     "thousand",   "million",    "billion",   "trillion",  "quadrillion",
    "quintillion", "sextillion", "septillion", "octillion", "nonillion", "decillion"};

// Every word of a kind; with `suffixed` also its plural and its ordinal.
std::vector<Word> make_ones(bool suffixed) {
  std::vector<Word> out;
  if (!suffixed) {
    for (const std::string_view name : kOnes)
      out.push_back({std::string(name), out.size() + 1, ""});
    return out;
  }
  for (std::size_t i = 0; i < kOnes.size(); ++i) {
    const std::string name(kOnes[i]);
    const Whole value = i + 1;
    out.push_back({name == "six" ? "sixes" : name + "s", value, "s"});
    if (value > 3 && value != 5 && value != 12) {
      out.push_back({name + (name.ends_with('t') ? "h" : "th"), value, "th"});
    }
  }
  for (const auto& [name, value, suffix] :
       {Word{"zeroth", 0, "th"}, Word{"first", 1, "st"}, Word{"second", 2, "nd"},
        Word{"third", 3, "rd"}, Word{"fifth", 5, "th"}, Word{"twelfth", 12, "th"}}) {
    out.push_back({name, value, suffix});
  }
  return out;
}

std::vector<Word> make_tens(bool suffixed) {
  std::vector<Word> out;
  for (std::size_t i = 0; i < kTens.size(); ++i) {
    const std::string name(kTens[i]);
    const Whole value = 10 * (i + 2);
    const std::string stem = name.substr(0, name.size() - 1);
    if (!suffixed) out.push_back({name, value, ""});
    if (suffixed) out.push_back({stem + "ies", value, "s"});
    if (suffixed) out.push_back({stem + "ieth", value, "th"});
  }
  return out;
}

std::vector<Word> make_multipliers(bool suffixed) {
  std::vector<Word> out;
  Whole value = 100;
  for (const std::string_view name : kMultipliers) {
    if (!suffixed) out.push_back({std::string(name), value, ""});
    if (suffixed) out.push_back({std::string(name) + "s", value, "s"});
    if (suffixed) out.push_back({std::string(name) + "th", value, "th"});
    value *= value == 100 ? 10 : 1000;
  }
  return out;
}

// The kinds of words.
struct Words {
  std::vector<Word> ones = make_ones(false);
  std::vector<Word> ones_suffixed = make_ones(true);
  std::vector<Word> tens = make_tens(false);
  std::vector<Word> tens_suffixed = make_tens(true);
  std::vector<Word> multipliers = make_multipliers(false);
  std::vector<Word> multipliers_suffixed = make_multipliers(true);

  static const Word* find(const std::vector<Word>& all, std::string_view name) {
    for (const Word& one : all) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }
};

const Words& words() {
  static const Words kWords;
  return kWords;
}

bool is_zero(std::string_view word) { return word == "o" || word == "oh" || word == "zero"; }
bool is_one(std::string_view word) { return Words::find(words().ones, word) != nullptr; }
bool is_ten(std::string_view word) { return Words::find(words().tens, word) != nullptr; }
bool is_multiplier(std::string_view word) {
  return Words::find(words().multipliers, word) != nullptr;
}
bool is_decimal(std::string_view word) { return is_zero(word) || is_one(word) || is_ten(word); }

std::string_view sign_of(std::string_view word) {
  if (word == "minus" || word == "negative") return "-";
  if (word == "plus" || word == "positive") return "+";
  return {};
}

std::string_view currency_of(std::string_view word) {
  if (word == "pound" || word == "pounds") return "£";
  if (word == "euro" || word == "euros") return "€";
  if (word == "dollar" || word == "dollars") return "$";
  if (word == "cent" || word == "cents") return "¢";
  return {};
}

bool is_special(std::string_view word) {
  return word == "and" || word == "double" || word == "triple" || word == "point";
}

bool is_number_word(std::string_view word) {
  const Words& all = words();
  return is_decimal(word) || is_multiplier(word) || is_special(word) || !sign_of(word).empty() ||
         !currency_of(word).empty() || word == "per" || word == "percent" ||
         Words::find(all.ones_suffixed, word) != nullptr ||
         Words::find(all.tens_suffixed, word) != nullptr ||
         Words::find(all.multipliers_suffixed, word) != nullptr;
}

// Matches digits, optionally with a point and digits.
bool is_digits(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view left = text.substr(0, point);
  const auto all = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), numeral);
  };
  return all(left) && (point == std::string_view::npos || all(text.substr(point + 1)));
}

// Returns the length of a sign or currency at the start of a word; 0: none.
std::size_t prefix_length(std::string_view word) {
  for (const std::string_view prefix : {"-", "+", "£", "€", "$", "¢"}) {
    if (word.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

// `digits` (with at most one point) times `multiplier`, if that is a whole number.
std::optional<Whole> product(const std::string& digits, Whole multiplier) {
  Whole value = 0;
  Whole scale = 1;
  bool point = false;
  if (digits.empty() || digits.size() > 30) return std::nullopt;
  for (const char c : digits) {
    if (c == '.') {
      if (point) return std::nullopt;
      point = true;
      continue;
    }
    if (!numeral(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (point) scale *= 10;
  }
  if (digits == ".") return std::nullopt;
  // Cancel common factors of ten first, so that the product stays small.
  while (scale > 1 && multiplier % 10 == 0) {
    scale /= 10;
    multiplier /= 10;
  }
  while (scale > 1 && value % 10 == 0) {
    scale /= 10;
    value /= 10;
  }
  if (scale != 1) return std::nullopt;
  const Whole all = value * multiplier;
  if (value != 0 && all / value != multiplier) return std::nullopt;
  return all;
}

class NumberReader {
 public:
  std::string read(const std::vector<std::string_view>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (skip_) {
        skip_ = false;
        continue;
      }
      word(i == 0 ? std::string_view() : all[i - 1], all[i],
           i + 1 < all.size() ? all[i + 1] : std::string_view());
    }
    flush();
    return std::move(out_);
  }

 private:
  // The unfinished number: none, whole, or text of digits.
  enum class Kind : std::uint8_t { none, whole, text };

  std::string spelled() const { return kind_ == Kind::whole ? text_of(whole_) : text_; }
  // Python's str(value or ""): no value and zero give "".
  std::string spelled_or_empty() const {
    return kind_ == Kind::none || (kind_ == Kind::whole && whole_ == 0) ? "" : spelled();
  }
  void make_whole(Whole value) {
    kind_ = Kind::whole;
    whole_ = value;
  }
  void make_text(std::string text) {
    kind_ = Kind::text;
    text_ = std::move(text);
  }
  void say(std::string_view text) {
    if (!out_.empty()) out_ += ' ';
    out_ += prefix_;
    out_ += text;
    prefix_.clear();
    kind_ = Kind::none;
  }
  void flush() {
    if (kind_ != Kind::none) say(spelled());
  }

  void word(std::string_view before, std::string_view current, std::string_view next) {
    const bool next_numeric = is_digits(next);
    const std::size_t prefix = prefix_length(current);
    const std::string_view bare = current.substr(prefix);
    const Words& all = words();
    if (is_digits(bare)) {
      arabic(current, bare, prefix);
    } else if (!is_number_word(current)) {
      flush();
      say(current);
    } else if (is_zero(current)) {
      make_text(spelled_or_empty() + "0");
    } else if (const Word* const one = Words::find(all.ones, current)) {
      add_ones(before, *one);
    } else if (const Word* const suffixed = Words::find(all.ones_suffixed, current)) {
      add_ones(before, *suffixed);
      say(spelled() + suffixed->suffix);
    } else if (const Word* const ten = Words::find(all.tens, current)) {
      add_tens(ten->value);
    } else if (const Word* const tens = Words::find(all.tens_suffixed, current)) {
      add_tens(tens->value);
      say(spelled() + tens->suffix);
    } else if (const Word* const many = Words::find(all.multipliers, current)) {
      multiply(many->value);
    } else if (const Word* const most = Words::find(all.multipliers_suffixed, current)) {
      multiply(most->value);
      say(spelled() + most->suffix);
    } else if (const std::string_view sign = sign_of(current); !sign.empty()) {
      flush();
      if (is_number_word(next) || next_numeric) {
        prefix_ = sign;
      } else {
        say(current);
      }
    } else if (const std::string_view money = currency_of(current); !money.empty()) {
      if (kind_ == Kind::none) {
        say(current);
      } else {
        prefix_ = money;
        flush();
      }
    } else {
      rest(before, current, next, next_numeric);
    }
  }

  void arabic(std::string_view current, std::string_view bare, std::size_t prefix) {
    if (kind_ == Kind::text && text_.ends_with('.')) {
      text_ += current;
      return;
    }
    flush();
    if (prefix > 0) prefix_ = current.substr(0, prefix);
    const std::optional<Whole> value = product(std::string(bare), 1);
    if (value) {
      make_whole(*value);
    } else {
      make_text(std::string(bare));
    }
  }

  void add_ones(std::string_view before, const Word& one) {
    if (kind_ == Kind::none) {
      make_whole(one.value);
    } else if (kind_ == Kind::text || is_one(before)) {
      std::string text = spelled();
      if (is_ten(before) && one.value < 10 && !text.empty()) text.pop_back();
      make_text(text + text_of(one.value));
    } else if (whole_ % (one.value < 10 ? 10 : 100) == 0) {
      whole_ += one.value;
    } else {
      make_text(spelled() + text_of(one.value));
    }
  }

  void add_tens(Whole value) {
    if (kind_ == Kind::none) {
      make_whole(value);
    } else if (kind_ == Kind::whole && whole_ % 100 == 0) {
      whole_ += value;
    } else {
      make_text(spelled() + text_of(value));
    }
  }

  void multiply(Whole multiplier) {
    if (kind_ == Kind::none) {
      make_whole(multiplier);
    } else if (kind_ == Kind::text || whole_ == 0) {
      const auto value = product(spelled(), multiplier);
      if (!value) flush();
      make_whole(value ? *value : multiplier);
    } else {
      make_whole(whole_ / 1000 * 1000 + whole_ % 1000 * multiplier);
    }
  }

  // Handles per, percent, and, double, triple, point.
  void rest(std::string_view before, std::string_view current, std::string_view next,
            bool next_numeric) {
    if (current == "percent" || current == "per") {
      const bool whole = current == "percent" || next == "cent";
      if (kind_ != Kind::none && whole) {
        say(spelled() + "%");
        skip_ = current == "per";
      } else {
        flush();
        say(current);
      }
      return;
    }
    if (!is_number_word(next) && !next_numeric) {
      flush();
      say(current);
    } else if (current == "and") {
      if (is_multiplier(before)) return;
      flush();
      say(current);
    } else if (current == "point") {
      if (is_decimal(next) || next_numeric) make_text(spelled_or_empty() + ".");
    } else if (is_one(next) || is_zero(next)) {
      const Word* const one = Words::find(words().ones, next);
      const std::string digits = text_of(one == nullptr ? 0 : one->value);
      std::string text = spelled_or_empty() + digits + digits;
      if (current == "triple") text += digits;
      make_text(std::move(text));
      skip_ = true;
    } else {
      flush();
      say(current);
    }
  }

  Kind kind_ = Kind::none;
  Whole whole_ = 0;
  std::string text_{};
  std::string prefix_{};
  bool skip_ = false;
  std::string out_{};
};

std::vector<std::string_view> spaced(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto space = [&](std::size_t i) {
      return text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r');
    };
    std::size_t end = at;
    while (end < text.size() && !space(end)) ++end;
    if (end > at) out.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return out;
}

// Makes "two and a half" "two point five"; separates digits from letters, except "1st" and "1960s".
std::string prepared(std::string_view text) {
  const std::vector<std::string_view> all = spaced(text);
  std::string joined;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!joined.empty()) joined += ' ';
    if (i > 0 && i + 2 < all.size() + 0 && all[i] == "and" && all[i + 1] == "a" &&
        all[i + 2] == "half") {
      const bool number = is_decimal(all[i - 1]) || is_multiplier(all[i - 1]);
      joined += number ? "point five" : "and a half";
      i += 2;
      continue;
    }
    joined += all[i];
  }
  std::string out;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const char c = joined[i];
    const char last = i == 0 ? ' ' : joined[i - 1];
    const auto letter = [](char x) { return x >= 'a' && x <= 'z'; };
    if ((numeral(c) && letter(last)) || (letter(c) && numeral(last))) out += ' ';
    out += c;
  }
  return out;
}

// Makes "12 th" "12th".
std::string with_suffixes(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (!numeral(text[i])) continue;
    std::size_t next = i + 1;
    while (next < text.size() && text[next] == ' ') ++next;
    if (next == i + 1) continue;
    for (const std::string_view suffix : {"st", "nd", "rd", "th", "s"}) {
      const std::size_t end = next + suffix.size();
      if (text.compare(next, suffix.size(), suffix) != 0 || !word_edge(text, end)) continue;
      out += suffix;
      i = end - 1;
      break;
    }
  }
  return out;
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && numeral(text[at])) ++at;
  return at;
}

// Returns the length of €, £ or $ at `at`.
std::size_t money_length(std::string_view text, std::size_t at) {
  for (const std::string_view sign : {"€", "£", "$"}) {
    if (text.substr(at).starts_with(sign)) return sign.size();
  }
  return 0;
}

// Makes "$2 and ¢7" "$2.07".
std::string with_cents(std::string_view text) {
  constexpr std::string_view kCent = "¢";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t sign = money_length(text, at);
    const std::size_t end = sign == 0 ? at : digits_end(text, at + sign);
    std::size_t cent = end;
    if (sign > 0 && end > at + sign && end < text.size() && text[end] == ' ') {
      cent = end + 1;
      if (text.substr(cent).starts_with("and ")) cent += 4;
    }
    if (cent > end && text.substr(cent).starts_with(kCent)) {
      const std::size_t first = cent + kCent.size();
      const std::size_t last = std::min(digits_end(text, first), first + 2);
      if (last > first && word_edge(text, last)) {
        out += text.substr(at, end - at);
        out += last == first + 1 ? ".0" : ".";
        out += text.substr(first, last - first);
        at = last;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

// Makes "$0.5" "¢5".
std::string with_small_change(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t sign = money_length(text, at);
    const std::size_t zero = at + sign;
    if (sign > 0 && zero + 2 < text.size() && text[zero] == '0' && text[zero + 1] != '\n') {
      // Any character may be between, as in the original's pattern.
      std::size_t first = zero + 2;
      while (first < text.size() && (static_cast<unsigned char>(text[first]) & 0xC0) == 0x80) {
        ++first;
      }
      const std::size_t last = std::min(digits_end(text, first), first + 2);
      if (last > first && word_edge(text, last)) {
        const auto cents = parse_int(text.substr(first, last - first));
        out += "¢" + std::to_string(cents.value_or(0));
        at = last;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

// Makes "1" "one", for the reader.
std::string with_one(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '1' || !word_edge(text, at)) {
      out += text[at];
      continue;
    }
    const bool plural = at + 1 < text.size() && text[at + 1] == 's' && word_edge(text, at + 2);
    out += plural || word_edge(text, at + 1) ? "one" : "1";
  }
  return out;
}

}  // namespace

std::string english_numbers(std::string_view text) {
  const std::string ready = with_suffixes(prepared(text));
  const std::string digits = NumberReader().read(spaced(ready));
  return with_one(with_small_change(with_cents(digits)));
}

}  // namespace assay::score
