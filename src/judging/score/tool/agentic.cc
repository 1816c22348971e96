// agentic_inference_inline: compares a replayed conversation's turns with the recorded ones, by the
// rules of the reference client. A workflow's turn ("sim_<n>") is right if the model's intent (I
// and three digits) is one of the recorded. A coding turn's score compares the programs that its
// bash calls start with the recorded ones, as multisets: size of the intersection / size of the
// union.
//
// A row is a client's turn that was asked. Columns: conversation_id, turn, and in `expected` (or
// the column that the config names) the assistant's row that was recorded next; its turn,
// intent_codes and tool_calls are used. Null means the recording's end, and the turn is not
// counted. A turn whose recorded answer has neither codes nor calls is left out and listed. The
// result identifies turns by conversation, repeat and the recorded assistant's number.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "score/answer/python_text.h"
#include "score/scorer.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

struct Alias {
  std::string_view written{};
  std::string_view meant{};
};

// Other names of a program. A program that is not here is not compared.
constexpr std::array<Alias, 54> kPrograms = {{
    {"python", "python"}, {"python2", "python"}, {"python3", "python"},
    {"py", "python"},     {"pip", "pip"},        {"pip3", "pip"},
    {"pytest", "pytest"}, {"pylint", "pylint"},  {"sphinx-build", "sphinx"},
    {"cython", "cython"}, {"make", "make"},      {"sphinx-quickstart", "sphinx"},
    {"conda", "conda"},   {"cat", "cat"},        {"head", "head"},
    {"tail", "tail"},     {"less", "cat"},       {"more", "cat"},
    {"wc", "wc"},         {"diff", "diff"},      {"grep", "grep"},
    {"egrep", "grep"},    {"fgrep", "grep"},     {"rg", "grep"},
    {"ag", "grep"},       {"sed", "sed"},        {"awk", "awk"},
    {"gawk", "awk"},      {"tr", "tr"},          {"sort", "sort"},
    {"uniq", "uniq"},     {"cut", "cut"},        {"find", "find"},
    {"ls", "ls"},         {"locate", "find"},    {"xargs", "xargs"},
    {"cp", "cp"},         {"mv", "mv"},          {"rm", "rm"},
    {"mkdir", "mkdir"},   {"touch", "touch"},    {"tee", "tee"},
    {"source", "source"}, {".", "source"},       {"which", "which"},
    {"alias", "alias"},   {"unset", "unset"},    {"export", "export"},
    {"git", "git"},       {"curl", "curl"},      {"wget", "curl"},
    {"true", "true"},     {"false", "false"},    {"timeout", "timeout"},
}};
constexpr std::array<Alias, 4> kMorePrograms = {
    {{"date", "date"}, {"apt-get", "apt"}, {"apt", "apt"}, {"yum", "yum"}}};
constexpr std::array<std::string_view, 6> kWrappers = {"env",  "time", "nice",
                                                       "sudo", "exec", "command"};

bool digit(char c) { return c >= '0' && c <= '9'; }

// Matches "I" and three digits, a word of its own, at `at`; "" if it is none.
std::string code_at(CharactersView text, std::size_t at, bool any_case) {
  if (at + 4 > text.size()) return {};
  if (any_case ? !same_letter(text[at], 'i') : text[at] != U'I') return {};
  for (std::size_t i = 1; i < 4; ++i) {
    if (!python_digit(text[at + i])) return {};
  }
  if (at + 4 < text.size() && python_word(text[at + 4])) return {};
  return text::upper_case(utf8(text.substr(at, 4)));
}

// Finds the first "intent: I123", in any case.
std::string named_intent(CharactersView text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && python_word(text[at - 1])) continue;
    Scan scan(text, at);
    if (!scan.word("intent") || !scan.exactly(":")) continue;
    scan.spaces();
    if (std::string found = code_at(text, scan.at(), true); !found.empty()) return found;
  }
  return {};
}

// Finds the last "I123".
std::string bare_intent(CharactersView text) {
  for (std::size_t at = text.size(); at-- > 0;) {
    if (at > 0 && python_word(text[at - 1])) continue;
    if (std::string found = code_at(text, at, false); !found.empty()) return found;
  }
  return {};
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
  return out;
}

std::string intent_of(const Row& row) {
  const std::array<Characters, 2> texts = {characters(row.reasoning), characters(row.content)};
  for (const auto find : {named_intent, bare_intent}) {
    for (const Characters& text : texts) {
      if (std::string found = find(text); !found.empty()) return found;
    }
  }
  return {};
}

// Returns the length of a quoted text at `at`, or 0 if it has no end.
std::size_t quoted_length(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote != '\'' && quote != '"' && quote != '`') return 0;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == quote) return i + 1 - at;
    if (quote == '"' && text[i] == '\\') {
      if (i + 1 >= text.size() || text[i + 1] == '\n') return 0;
      ++i;
    }
  }
  return 0;
}

std::string unquoted_command(std::string_view command) {
  std::string out;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t length = quoted_length(command, at);
    out += length > 0 ? ' ' : command[at];
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || digit(word[0])) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && python_word(static_cast<char32_t>(c));
  });
}

// Removes ".11" from "python3.11", ".1.2" from "x.1.2".
std::string_view without_version(std::string_view name) {
  for (int parts = 0; parts < 2; ++parts) {
    std::size_t end = name.size();
    while (end > 0 && digit(name[end - 1])) --end;
    if (end == name.size() || end == 0 || name[end - 1] != '.') break;
    name = name.substr(0, end - 1);
  }
  return name;
}

// How many bytes of white space the text begins with; of text that is no UTF-8, as far as it is.
std::size_t spaces_at(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first >= 0x80 && (first < 0xC0 || text.size() - at < text::utf8_length(first))) break;
    const text::CodePoint one = text::decode_at(text, at);
    if (one.value >= text::kCodePoints || !python_space(one.value)) break;
    at += one.bytes;
  }
  return at;
}

// Returns the program that one stage of a shell's line starts; "" if unknown.
std::string_view stage_program(std::string_view stage) {
  while (true) {
    stage.remove_prefix(spaces_at(stage));
    std::size_t end = 0;
    while (end < stage.size() && spaces_at(stage.substr(end)) == 0) ++end;
    const std::string_view word = stage.substr(0, end);
    if (word.empty()) return {};
    stage.remove_prefix(end);
    if (is_assignment(word) ||
        std::find(kWrappers.begin(), kWrappers.end(), word) != kWrappers.end()) {
      continue;
    }
    const std::size_t slash = word.rfind('/');
    const std::string name = lower(slash == std::string_view::npos ? word : word.substr(slash + 1));
    const std::string_view plain = without_version(name);
    for (const Alias& one : kPrograms) {
      if (one.written == plain) return one.meant;
    }
    for (const Alias& one : kMorePrograms) {
      if (one.written == plain) return one.meant;
    }
    return {};
  }
}

void add_programs(std::string_view command, std::vector<std::string_view>& programs) {
  const std::string plain = unquoted_command(command);
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= plain.size(); ++at) {
    const bool last = at == plain.size();
    const bool two = !last && plain.compare(at, 2, "&&") == 0;
    if (!last && !two && plain[at] != '|' && plain[at] != ';' && plain[at] != '\n') continue;
    const std::string_view program =
        stage_program(std::string_view(plain).substr(begin, at - begin));
    if (!program.empty()) programs.push_back(program);
    at += two ? 1 : 0;
    begin = at + 1;
  }
}

// True for Python's true values.
bool is_something(const Json& value) {
  if (value.is_string()) return !value.as_string().empty();
  if (value.is_array() || value.is_object()) return value.size() > 0;
  return value.is_bool() ? value.as_bool() : value.is_number() && value.as_double() != 0;
}

// Returns the programs that a turn's bash calls start, in their order.
std::vector<std::string_view> programs_of(const Json& tool_calls) {
  std::vector<std::string_view> out;
  for (const Json& call : tool_calls.items()) {
    const Json& function = call["function"];
    if (function["name"].as_string() != "bash") continue;
    Json arguments = function["arguments"];
    if (arguments.is_string()) {
      auto parsed = Json::parse(arguments.as_string());
      if (!parsed) continue;
      arguments = *std::move(parsed);
    }
    const Json& command =
        is_something(arguments["command"]) ? arguments["command"] : arguments["cmd"];
    add_programs(command.as_string(), out);
  }
  return out;
}

double name_overlap(std::vector<std::string_view> got, std::vector<std::string_view> wanted) {
  std::ranges::sort(got);
  std::ranges::sort(wanted);
  std::vector<std::string_view> both;
  std::ranges::set_intersection(got, wanted, std::back_inserter(both));
  const std::size_t either = got.size() + wanted.size() - both.size();
  return either == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(either);
}

// Rounds like Python's round(): by the number's exact value.
double four_decimals(double value) { return parse_double(format("{:.4f}", value)).value_or(value); }

// Matches "sim_12", with any repeat.
bool is_workflow(std::string_view id) {
  constexpr std::string_view kPrefix = "sim_";
  if (!id.starts_with(kPrefix) || id.size() == kPrefix.size()) return false;
  id.remove_prefix(kPrefix.size());
  return std::all_of(id.begin(), id.end(), digit);
}

// Returns the repeat in a conversation's id and removes it from the id.
std::int64_t take_repeat(std::string& id) {
  constexpr std::string_view kMark = "__repeat_";
  const std::size_t at = id.rfind(kMark);
  if (at == std::string::npos) return 1;
  const std::string_view number = std::string_view(id).substr(at + kMark.size());
  if (number.empty() || !std::ranges::all_of(number, digit)) return 1;
  const auto repeat = parse_int(number);
  if (!repeat) return 1;
  id.resize(at);
  return *repeat;
}

// A turn that was asked.
struct Turn {
  std::string conversation{};
  std::int64_t repeat = 1;
  std::int64_t client_turn = 0;
  bool workflow = false;
  bool missing = false;
  double score = 0;
  std::uint32_t sample = 0;
  Json line{};
  auto place() const { return std::tie(conversation, repeat, client_turn); }
};

// Scores of one domain's turns.
struct Part {
  double sum = 0;
  std::size_t turns = 0;
  void add(double score) {
    sum += score;
    ++turns;
  }
  double mean() const { return four_decimals(sum / static_cast<double>(turns)); }
  Json json() const { return Json().set("score", mean()).set("scored", turns); }
};

class Agentic final : public Scorer {
 public:
  explicit Agentic(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "expected";
  }

  Result<void> add(const Row& row) override {
    judged_ = {};
    Turn turn;
    ASSIGN_OR_RETURN(turn.conversation, column_text(row, "conversation_id"));
    turn.repeat = take_repeat(turn.conversation);
    turn.sample = row.sample;
    turn.client_turn = (*row.columns)["turn"].as_int();
    const Json* const named = row.columns->find(options_.ground_truth);
    if (named != nullptr && !named->is_object()) return {};  // the recording ends with this turn
    const Json& expected = named != nullptr ? *named : *row.columns;
    ++issued_;
    turn.workflow = is_workflow(turn.conversation);
    const Json& number = expected["turn"].is_null() ? (*row.columns)["turn"] : expected["turn"];
    turn.line.set("conversation_id", turn.conversation)
        .set("repeat", turn.repeat)
        .set("turn", number)
        .set("domain", turn.workflow ? "workflow" : "coding");
    turn.missing = !row.answered;
    if (turn.missing) turn.line.set("missing", true);
    const bool scorable =
        turn.workflow ? by_intent(row, expected, turn) : by_programs(row, expected, turn);
    if (scorable) {
      judged_.set("extracted", turn.line[turn.workflow ? "model_intent" : "model_actions"])
          .set("rule", turn.workflow ? "intent" : "programs of bash")
          .set("truth", turn.line[turn.workflow ? "gt_intents" : "gt_actions"])
          .set("score", turn.score);
    }
    (scorable ? scored_ : excluded_).push_back(std::move(turn));
    return {};
  }

  // A turn that is in no score has no verdict.
  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    std::ranges::sort(scored_, {}, &Turn::place);
    std::ranges::sort(excluded_, {}, &Turn::place);
    std::size_t missing = 0;
    Part all;
    Part coding;
    Part workflow;
    Json turns = Json::array();
    for (Turn& turn : scored_) {
      if (turn.missing) ++missing;
      all.add(turn.score);
      (turn.workflow ? workflow : coding).add(turn.score);
      turns.push_back(std::move(turn.line.set("score", four_decimals(turn.score))));
    }
    if (all.turns > 0) {
      verdict.score = all.mean();
      verdict.figures.push_back(figure_of("score", by_conversation()));
    }
    Json domains = Json::object();
    if (coding.turns > 0) domains.set("coding", coding.json());
    if (workflow.turns > 0) domains.set("workflow", workflow.json());
    verdict.breakdown
        .set("turns", Json()
                          .set("issued", issued_)
                          .set("expected", scored_.size())
                          .set("observed", scored_.size() - missing)
                          .set("missing", missing)
                          .set("scored", scored_.size()))
        .set("domains", std::move(domains))
        .set("per_turn", std::move(turns));
    if (!excluded_.empty()) {
      verdict.note =
          format("{} turns have no recorded intent or program and are left out", excluded_.size());
      verdict.breakdown.set("excluded_turns", excluded_turns());
    }
    return verdict;
  }

 private:
  // Turns of one conversation depend on each other: the conversation is the sample, and its first
  // scored row names it.
  Tally by_conversation() const {
    std::map<std::string_view, std::uint32_t> first;
    for (const Turn& turn : scored_) {
      const auto at = first.emplace(turn.conversation, turn.sample).first;
      at->second = std::min(at->second, turn.sample);
    }
    Tally out{.kind = FigureKind::mean};
    for (const Turn& turn : scored_) out.add(first[turn.conversation], turn.score);
    return out;
  }

  // Lists each turn of the recording once, for all its repeats.
  Json excluded_turns() const {
    Json out = Json::array();
    std::set<std::pair<std::string, std::int64_t>> told;
    for (const Turn& turn : excluded_) {
      if (!told.emplace(turn.conversation, turn.client_turn).second) continue;
      out.push_back(Json()
                        .set("conversation_id", turn.conversation)
                        .set("turn", turn.line["turn"])
                        .set("domain", turn.line["domain"])
                        .set("exclude_reason", "no ground truth"));
    }
    return out;
  }

  // Returns false if there is no recorded turn to compare with.
  static bool by_intent(const Row& row, const Json& expected, Turn& turn) {
    std::set<std::string> codes;
    for (const Json& code : expected["intent_codes"].items()) {
      if (!code.is_string() || code.as_string().empty()) continue;
      codes.insert(upper(code.as_string()));
    }
    const std::string got = intent_of(row);
    turn.score = codes.contains(got) ? 1 : 0;
    turn.line.set("gt_intents", json_list(codes))
        .set("model_intent", got.empty() ? Json() : Json(got));
    return !codes.empty();
  }

  static bool by_programs(const Row& row, const Json& expected, Turn& turn) {
    const auto wanted = programs_of(expected["tool_calls"]);
    const auto got = programs_of(row.tool_calls);
    turn.line.set("gt_actions", json_list(wanted)).set("model_actions", json_list(got));
    turn.score = name_overlap(got, wanted);
    return !wanted.empty();
  }

  ScorerOptions options_;
  std::size_t issued_ = 0;
  std::vector<Turn> scored_{};
  std::vector<Turn> excluded_{};
  Json judged_{};
};

}  // namespace

Made make_agentic(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Agentic>(options);
}

}  // namespace assay::score
