#include "score/answer/latex_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "score/answer/latex_symbols.h"
#include "score/answer/python_text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

constexpr int kLatexDepthMax = 100;

// A command with arguments: `arguments` has { for one, [ for an optional one, * for a star. `shows`
// has %1, %2, … for the arguments. `broken` is shown where an argument is missing; null: an error.
struct Command {
  std::string_view name{};
  std::string_view arguments{};
  std::string_view shows{};
  const char* broken = "";
};
constexpr std::array<Command, 55> kCommands = {{
    {"frac", "{{", "%1/%2", "%s/%s"},
    {"nicefrac", "{{", "%1/%2", "%s/%s"},
    {"textfrac", "", "%s/%s"},
    {"sqrt", "[{", "\u221a(%2)", nullptr},
    {"text", "{", "%1"},
    {"textbf", "{", "%1"},
    {"textit", "{", "%1"},
    {"textrm", "{", "%1"},
    {"textsc", "{", "%1"},
    {"textsl", "{", "%1"},
    {"emph", "{", "%1"},
    {"mathrm", "{", "%1"},
    {"textmd", "{", ""},
    {"textsf", "{", ""},
    {"texttt", "{", ""},
    {"textup", "{", ""},
    {"mbox", "{", ""},
    {"ensuremath", "{", ""},
    {"label", "{", ""},
    {"ref", "{", "<ref>", "<ref>"},
    {"eqref", "{", "(<ref>)", "(<ref>)"},
    {"hphantom", "[{", ""},
    {"vphantom", "[{", ""},
    {"xleftarrow", "[{", ""},
    {"xrightarrow", "[{", ""},
    {"color", "[{", ""},
    {"textcolor", "[{{", "%3", nullptr},
    {"colorbox", "[{{", "%3", nullptr},
    {"fcolorbox", "[{[{{", "%5", nullptr},
    {"hspace", "*{", ""},
    {"vspace", "*{", "\n", "\n"},
    {"footnote", "[{", "[%2]", nullptr},
    {"overline", "{", "%1", "%s"},
    {"underline", "{", "%1", "%s"},
    {"widehat", "{", "%1", "%s"},
    {"widetilde", "{", "%1", "%s"},
    {"wideparen", "{", "%1", "%s"},
    {"overleftarrow", "{", "%1", "%s"},
    {"overrightarrow", "{", "%1", "%s"},
    {"overleftrightarrow", "{", "%1", "%s"},
    {"underleftarrow", "{", "%1", "%s"},
    {"underrightarrow", "{", "%1", "%s"},
    {"underleftrightarrow", "{", "%1", "%s"},
    {"overbrace", "{", "%1", "%s"},
    {"underbrace", "{", "%1", "%s"},
    {"overgroup", "{", "%1", "%s"},
    {"undergroup", "{", "%1", "%s"},
    {"overbracket", "{", "%1", "%s"},
    {"underbracket", "{", "%1", "%s"},
    {"overleftharpoon", "{", "%1", "%s"},
    {"overrightharpoon", "{", "%1", "%s"},
    {"ket", "{", "|%1\u27e9", "|%s\u27e9"},
    {"bra", "{", "\u27e8%1|", "\u27e8%s|"},
    {"braket", "{{", "\u27e8%1|%2\u27e9", "\u27e8%s|%s\u27e9"},
    {"\\", "*[", "\n", "\n"},
}};

// Accents, shown as a combining character after each character of the argument.
struct Accent {
  std::string_view name{};
  char32_t mark = 0;
};
constexpr std::array<Accent, 26> kAccents = {
    {{"hat", 0x302},  {"bar", 0x305},   {"vec", 0x20D7},  {"tilde", 0x303}, {"dot", 0x307},
     {"ddot", 0x308}, {"check", 0x30C}, {"breve", 0x306}, {"acute", 0x301}, {"grave", 0x300},
     {"not", 0x338},  {"'", 0x301},     {"`", 0x300},     {"\"", 0x308},    {"^", 0x302},
     {"~", 0x303},    {"c", 0x327},     {"=", 0x304},     {".", 0x307},     {"H", 0x30B},
     {"v", 0x30C},    {"u", 0x306},     {"b", 0x331},     {"d", 0x323},     {"k", 0x328},
     {"r", 0x30A}}};

// Letters of a style: where A and a are, and those that stand elsewhere.
struct Style {
  std::string_view name{};
  char32_t upper = 0;
  char32_t lower = 0;
  std::u32string_view elsewhere{};  // pairs
};
constexpr std::array<Style, 8> kStyles = {{
    {"mathbf", 0x1D400, 0x1D41A, U""},
    {"mathit", 0x1D434, 0x1D44E, U"h\u210e"},
    {"mathsf", 0x1D5A0, 0x1D5BA, U""},
    {"mathtt", 0x1D670, 0x1D68A, U""},
    {"mathbb", 0x1D538, 0x1D552, U"C\u2102H\u210dN\u2115P\u2119Q\u211aR\u211dZ\u2124"},
    {"mathcal", 0x1D49C, 0x1D4B6,
     U"B\u212cE\u2130F\u2131H\u210bI\u2110L\u2112M\u2133R\u211be\u212fg\u210ao\u2134"},
    {"mathscr", 0x1D49C, 0x1D4B6,
     U"B\u212cE\u2130F\u2131H\u210bI\u2110L\u2112M\u2133R\u211be\u212fg\u210ao\u2134"},
    {"mathfrak", 0x1D504, 0x1D51E, U"C\u212dH\u210cI\u2111R\u211cZ\u2128"},
}};

template <typename Table>
auto row_of(const Table& table, std::string_view name) -> decltype(table.data()) {
  for (const auto& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string styled(const Style& style, std::string_view text) {
  Characters out = characters(text);
  for (char32_t& c : out) {
    const std::size_t at = style.elsewhere.find(c);
    if (c < 0x80 && at != std::u32string_view::npos) {
      c = style.elsewhere[at + 1];
    } else if (c >= 'A' && c <= 'Z') {
      c = style.upper + (c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      c = style.lower + (c - 'a');
    }
  }
  return utf8(out);
}

std::string accented(char32_t mark, std::string_view text) {
  Characters out;
  for (const char32_t c : characters(text)) {
    out += c;
    out += mark;
  }
  return text::normalize(utf8(out), text::NormalForm::nfc);
}

std::string_view symbol(std::string_view name) {
  static const auto kTable = [] {
    std::map<std::string_view, std::string_view> table;
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < kLatexSymbols.size();) {
      const std::size_t end =
          std::min(kLatexSymbols.find_first_of(" \n", at), kLatexSymbols.size());
      if (end > at) words.push_back(kLatexSymbols.substr(at, end - at));
      at = end + 1;
    }
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) table.emplace(words[i], words[i + 1]);
    return table;
  }();
  const auto at = kTable.find(name);
  return at == kTable.end() ? std::string_view() : at->second;
}

// What a command without arguments shows.
std::string shown_symbol(std::string_view name) {
  if (name.size() == 1 && std::string_view("{}$%#_&").find(name[0]) != std::string_view::npos) {
    return std::string(name);
  }
  if (name.size() == 1 && std::string_view(",;: ").find(name[0]) != std::string_view::npos) {
    return " ";
  }
  if (name == "-") return "\u00ad";
  if (name == "backslash" || name == "textbackslash") return "\\";
  std::string out(symbol(name));
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

bool is_matrix(std::string_view name) {
  constexpr std::array<std::string_view, 6> kMatrices = {
      "array", "pmatrix", "bmatrix", "smallmatrix", "psmallmatrix", "bsmallmatrix"};
  return std::find(kMatrices.begin(), kMatrices.end(), name) != kMatrices.end();
}
bool is_display(std::string_view name) {
  if (name.ends_with('*')) name.remove_suffix(1);
  constexpr std::array<std::string_view, 6> kDisplays = {"equation", "eqnarray", "align",
                                                         "multline", "gather",   "dmath"};
  return std::find(kDisplays.begin(), kDisplays.end(), name) != kDisplays.end();
}

std::string display_block(std::string_view content) {
  std::string out = "\n    ";
  for (const char c : python_strip(content)) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n";
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::string> run() {
    std::string out = nodes("");
    if (failed_) return std::nullopt;
    return out;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }
  void skip_spaces() {
    while (!at_end() &&
           std::string_view(" \t\n\r\v\f").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }
  std::string fail() {
    failed_ = true;
    at_ = text_.size();
    return {};
  }

  // Reads up to `stop` and over it. A group or environment that does not end is the whole rest.
  std::string nodes(std::string_view stop) {
    if (++depth_ > kLatexDepthMax) return fail();
    std::string out;
    while (!at_end()) {
      if (!stop.empty() && take(stop)) break;
      out += node();
    }
    --depth_;
    return out;
  }

  std::string node() {
    const char c = text_[at_];
    if (c == '\\') return command();
    if (c == '{') {
      ++at_;
      return nodes("}");
    }
    if (c == '}') {
      ++at_;
      return {};
    }
    if (c == '%') {  // a comment
      at_ = std::min(text_.find('\n', at_), text_.size());
      return {};
    }
    return characters_or_special();
  }

  std::string characters_or_special() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSpecials = {
        {{"---", "\u2014"},
         {"--", "\u2013"},
         {"``", "\u201c"},
         {"''", "\u201d"},
         {"!`", "\u00a1"},
         {"?`", "\u00bf"},
         {"~", "\u00a0"},
         {"&", "   "}}};
    for (const auto& [from, to] : kSpecials) {
      if (take(from)) return std::string(to);
    }
    const std::uint32_t bytes = text::decode_at(text_, at_).bytes;
    at_ += bytes;
    return std::string(text_.substr(at_ - bytes, bytes));
  }

  // The name after a backslash, with the white space behind a name of letters.
  std::string_view name() {
    const std::size_t begin = ++at_;
    if (at_end()) return {};
    const text::CodePoint first = text::decode_at(text_, at_);
    at_ += first.bytes;
    if (!python_letter(first.value)) return text_.substr(begin, at_ - begin);
    while (!at_end()) {
      const text::CodePoint next = text::decode_at(text_, at_);
      if (!python_letter(next.value)) break;
      at_ += next.bytes;
    }
    const std::string_view out = text_.substr(begin, at_ - begin);
    // An empty line is a paragraph and stays.
    const std::size_t after = at_;
    skip_spaces();
    const std::string_view spaces = text_.substr(after, at_ - after);
    if (std::count(spaces.begin(), spaces.end(), '\n') > 1) at_ = after;
    return out;
  }

  std::string command() {
    const std::string_view called = name();
    if (called == "begin") return environment();
    if (called == "end") {
      return environment_name() ? std::string() : "\\end";
    }
    if (called == "(") return std::string(python_strip(std::string_view(nodes("\\)"))));
    if (called == "[") return display_block(nodes("\\]"));
    if (called == "href") return fail();
    if (const Style* const style = row_of(kStyles, called)) return styled(*style, argument_or(""));
    if (const Accent* const accent = row_of(kAccents, called)) {
      return accented(accent->mark, argument_or(" "));
    }
    if (const Command* const one = row_of(kCommands, called)) return with_arguments(*one);
    return shown_symbol(called);
  }

  std::string argument_or(std::string_view other) {
    const std::size_t begin = at_;
    if (auto got = argument()) return *std::move(got);
    at_ = begin;
    return std::string(other);
  }

  std::string with_arguments(const Command& command) {
    const std::size_t begin = at_;
    std::array<std::string, 6> got{};
    std::size_t count = 0;
    for (const char kind : command.arguments) {
      if (kind == '*') {
        take("*");
        ++count;
      } else if (kind == '[') {
        got[count++] = optional_argument(command.name != "\\");
      } else if (auto one = argument()) {
        got[count++] = *std::move(one);
      } else if (failed_ || command.broken == nullptr) {
        return fail();
      } else {
        at_ = begin;
        return command.broken;
      }
    }
    std::string out;
    for (std::size_t i = 0; i < command.shows.size(); ++i) {
      const char c = command.shows[i];
      const bool placed = c == '%' && i + 1 < command.shows.size() && command.shows[i + 1] >= '1' &&
                          command.shows[i + 1] <= '6';
      if (placed) {
        out += got[static_cast<std::size_t>(command.shows[++i] - '1')];
      } else {
        out += c;
      }
    }
    return out;
  }

  // A group, one character, or a command without its arguments. nullopt at the end of the text.
  std::optional<std::string> argument() {
    skip_spaces();
    if (at_end()) return std::nullopt;
    const char c = text_[at_];
    if (c == '{') {
      ++at_;
      return nodes("}");
    }
    if (c == '}') return std::string();  // it ends the group around
    if (c != '\\') return characters_or_special();
    const std::string_view called = name();
    if (called == "begin" || called == "end") return std::nullopt;
    if (const Command* const one = row_of(kCommands, called)) {
      if (one->broken == nullptr) return fail();
      return std::string(one->broken);
    }
    if (row_of(kStyles, called) != nullptr || row_of(kAccents, called) != nullptr) {
      return std::string();
    }
    return shown_symbol(called);
  }

  std::string optional_argument(bool after_spaces) {
    const std::size_t begin = at_;
    if (after_spaces) skip_spaces();
    if (take("[")) return nodes("]");
    at_ = begin;
    return {};
  }

  // {name}; without one, or with other characters in it, nothing is taken.
  std::optional<std::string> environment_name() {
    const std::size_t begin = at_;
    skip_spaces();
    if (take("{")) {
      const std::size_t close = text_.find('}', at_);
      if (close != std::string_view::npos) {
        const Characters name = characters(text_.substr(at_, close - at_));
        const auto allowed = [](char32_t c) {
          return python_word(c) ||
                 std::u32string_view(U"* ._-").find(c) != std::u32string_view::npos;
        };
        if (!name.empty() && std::all_of(name.begin(), name.end(), allowed)) {
          at_ = close + 1;
          return utf8(name);
        }
      }
    }
    at_ = begin;
    return std::nullopt;
  }

  std::string environment() {
    const auto named = environment_name();
    if (!named) return "\\begin";
    const std::string& name = *named;
    if (name == "array") optional_argument(true);
    if (name == "array" || name == "tabular") argument_or("");
    const std::string end = "\\end{" + name + "}";
    if (is_matrix(name)) return matrix(end);
    std::string out = nodes(end);
    return is_display(name) ? display_block(out) : out;
  }

  // Columns are separated by &, rows by \\. A column without anything is left out.
  std::string matrix(const std::string& end) {
    if (++depth_ > kLatexDepthMax) return fail();
    std::vector<std::vector<std::string>> rows(1);
    std::string cell;
    bool any = false;
    const auto end_cell = [&] {
      if (any) rows.back().emplace_back(python_strip(std::string_view(cell)));
      cell.clear();
      any = false;
    };
    while (!at_end() && !take(end)) {
      if (take("&")) {
        end_cell();
      } else if (next_is("\\\\")) {
        command();
        end_cell();
        rows.emplace_back();
      } else {
        cell += node();
        any = true;
      }
    }
    end_cell();
    --depth_;
    std::size_t width = 0;
    std::size_t cells = 0;
    for (const auto& row : rows) {
      cells += row.size();
      for (const std::string& one : row) width = std::max(width, characters(one).size());
    }
    if (cells == 0) return fail();
    std::string out = "[ ";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) out += "; ";
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        if (k > 0) out += ' ';
        out.append(width - characters(rows[i][k]).size(), ' ');
        out += rows[i][k];
      }
    }
    return out + " ]";
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> latex_text(std::string_view latex) { return Reader(latex).run(); }

}  // namespace assay::score
