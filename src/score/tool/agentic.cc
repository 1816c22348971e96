// agentic_inference_inline: a replayed conversation's turns against the recorded ones, by the rules
// of the reference client. A workflow's turn ("sim_<n>") is right when the intent that the model
// names (I and three digits) is one of the recorded; a coding turn scores the programs that its
// bash calls start against the recorded ones, as multisets: what both have by what either has.
//
// A row is a client's turn that was asked. Columns: conversation_id, turn, and in `expected` (or
// the column that the config names) the assistant's row that was recorded next, of which
// intent_codes and tool_calls count. A turn whose recorded answer has neither is left out and
// named.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

struct Alias {
  std::string_view written{};
  std::string_view meant{};
};

// What else a program is called. A program that is not here is not compared.
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
bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

bool starts_word(std::string_view text, std::size_t at) {
  return at == 0 || !word_char(text[at - 1]);
}

// "I" and three digits that are a word of their own, at `at`.
bool code_at(std::string_view text, std::size_t at, bool any_case) {
  if (at + 4 > text.size()) return false;
  if (text[at] != 'I' && !(any_case && text[at] == 'i')) return false;
  if (!digit(text[at + 1]) || !digit(text[at + 2]) || !digit(text[at + 3])) return false;
  return at + 4 == text.size() || !word_char(text[at + 4]);
}

std::string code_of(std::string_view text, std::size_t at) {
  return "I" + std::string(text.substr(at + 1, 3));
}

// The first "intent: I123", whatever its case.
std::string named_intent(std::string_view text) {
  constexpr std::string_view kWord = "intent:";
  const std::string low = lower(text);
  for (std::size_t at = low.find(kWord); at != std::string::npos; at = low.find(kWord, at + 1)) {
    if (!starts_word(text, at)) continue;
    std::size_t next = at + kWord.size();
    while (next < text.size() && space(text[next])) ++next;
    if (code_at(text, next, true)) return code_of(text, next);
  }
  return {};
}

// The last "I123".
std::string bare_intent(std::string_view text) {
  for (std::size_t at = text.size(); at-- > 0;) {
    if (code_at(text, at, false) && starts_word(text, at)) return code_of(text, at);
  }
  return {};
}

std::string intent_of(const Row& row) {
  for (const std::string_view text : {row.reasoning, row.content}) {
    if (std::string found = named_intent(text); !found.empty()) return found;
  }
  for (const std::string_view text : {row.reasoning, row.content}) {
    if (std::string found = bare_intent(text); !found.empty()) return found;
  }
  return {};
}

// The length of a quoted text at `at`, or 0 where none ends.
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
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return word_char(c) && static_cast<unsigned char>(c) < 0x80; });
}

// "python3.11" without ".11", "x.1.2" without ".1.2".
std::string_view without_version(std::string_view name) {
  for (int parts = 0; parts < 2; ++parts) {
    std::size_t end = name.size();
    while (end > 0 && digit(name[end - 1])) --end;
    if (end == name.size() || end == 0 || name[end - 1] != '.') break;
    name = name.substr(0, end - 1);
  }
  return name;
}

// The program that one stage of a shell's line starts; "" where it is none that is known.
std::string_view program_of(std::string_view stage) {
  while (true) {
    while (!stage.empty() && space(stage.front())) stage.remove_prefix(1);
    const auto end =
        static_cast<std::size_t>(std::find_if(stage.begin(), stage.end(), space) - stage.begin());
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

using Counts = std::map<std::string_view, int>;

void count_programs(std::string_view command, Counts& counts) {
  const std::string plain = unquoted_command(command);
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= plain.size(); ++at) {
    const bool last = at == plain.size();
    const bool two = !last && plain.compare(at, 2, "&&") == 0;
    if (!last && !two && plain[at] != '|' && plain[at] != ';' && plain[at] != '\n') continue;
    const std::string_view program = program_of(std::string_view(plain).substr(begin, at - begin));
    if (!program.empty()) ++counts[program];
    at += two ? 1 : 0;
    begin = at + 1;
  }
}

// What the bash calls of a turn start.
Counts programs_of(const Json& tool_calls) {
  Counts counts;
  for (const Json& call : tool_calls.items()) {
    const Json& function = call["function"];
    if (function["name"].as_string() != "bash") continue;
    Json arguments = function["arguments"];
    if (arguments.is_string()) {
      auto parsed = Json::parse(arguments.as_string());
      if (!parsed) continue;
      arguments = *std::move(parsed);
    }
    std::string_view command = arguments["command"].as_string();
    if (command.empty()) command = arguments["cmd"].as_string();
    count_programs(command, counts);
  }
  return counts;
}

Json names_of(const Counts& counts) {
  Json out = Json::array();
  for (const auto& [name, times] : counts) {
    for (int i = 0; i < times; ++i) out.push_back(name);
  }
  return out;
}

double overlap(const Counts& got, const Counts& wanted) {
  int both = 0;
  int either = 0;
  for (const auto& [name, times] : wanted) {
    const auto at = got.find(name);
    both += std::min(times, at == got.end() ? 0 : at->second);
    either += std::max(times, at == got.end() ? 0 : at->second);
  }
  for (const auto& [name, times] : got) either += wanted.contains(name) ? 0 : times;
  return either == 0 ? 0 : static_cast<double>(both) / either;
}

double four_decimals(double value) { return std::nearbyint(value * 1e4) / 1e4; }

// "sim_12", whatever the repeat.
bool is_workflow(std::string_view id) {
  constexpr std::string_view kPrefix = "sim_";
  if (!id.starts_with(kPrefix) || id.size() == kPrefix.size()) return false;
  id.remove_prefix(kPrefix.size());
  return std::all_of(id.begin(), id.end(), digit);
}

class Agentic final : public Scorer {
 public:
  explicit Agentic(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "expected";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(std::string id, column_text(row, "conversation_id"));
    std::int64_t repeat = 1;
    if (const std::size_t at = id.rfind("__repeat_"); at != std::string::npos) {
      if (const auto number = parse_int(std::string_view(id).substr(at + 9))) {
        repeat = *number;
        id.resize(at);
      }
    }
    const Json* const named = row.columns->find(options_.ground_truth);
    const Json& expected = named != nullptr && named->is_object() ? *named : *row.columns;
    const bool workflow = is_workflow(id);
    ++issued_;
    Json line;
    line.set("conversation_id", id)
        .set("repeat", repeat)
        .set("turn", (*row.columns)["turn"])
        .set("domain", workflow ? "workflow" : "coding");
    double score = 0;
    if (!(workflow ? by_intent(row, expected, line, score)
                   : by_programs(row, expected, line, score))) {
      excluded_.push_back(std::move(line.set("exclude_reason", "no ground truth")));
      return {};
    }
    if (!row.answered) {
      ++missing_;
      line.set("missing", true);
    }
    Part& part = workflow ? workflow_ : coding_;
    part.sum += score;
    ++part.turns;
    turns_.push_back(std::move(line.set("score", four_decimals(score))));
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    const std::size_t scored = coding_.turns + workflow_.turns;
    if (scored == 0) return verdict;
    verdict.score = four_decimals((coding_.sum + workflow_.sum) / static_cast<double>(scored));
    Json domains = Json::object();
    if (coding_.turns > 0) domains.set("coding", coding_.json());
    if (workflow_.turns > 0) domains.set("workflow", workflow_.json());
    verdict.breakdown
        .set("turns", Json()
                          .set("issued", issued_)
                          .set("expected", scored)
                          .set("observed", scored - missing_)
                          .set("missing", missing_)
                          .set("scored", scored))
        .set("domains", std::move(domains))
        .set("per_turn", std::move(turns_));
    if (excluded_.size() > 0) {
      verdict.note =
          format("{} turns have no recorded intent or program and are left out", excluded_.size());
      verdict.breakdown.set("excluded_turns", std::move(excluded_));
    }
    return verdict;
  }

 private:
  struct Part {
    double sum = 0;
    std::size_t turns = 0;
    Json json() const {
      return Json()
          .set("score", four_decimals(sum / static_cast<double>(turns)))
          .set("scored", turns);
    }
  };

  // False: nothing was recorded to compare with.
  static bool by_intent(const Row& row, const Json& expected, Json& line, double& score) {
    Json codes = Json::array();
    const std::string got = intent_of(row);
    for (const Json& code : expected["intent_codes"].items()) {
      if (!code.is_string() || code.as_string().empty()) continue;
      std::string upper(code.as_string());
      for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
      score = upper == got ? 1 : score;
      codes.push_back(std::move(upper));
    }
    const bool any = codes.size() > 0;
    line.set("gt_intents", std::move(codes)).set("model_intent", got.empty() ? Json() : Json(got));
    return any;
  }

  static bool by_programs(const Row& row, const Json& expected, Json& line, double& score) {
    const Counts wanted = programs_of(expected["tool_calls"]);
    const Counts got = programs_of(row.tool_calls);
    line.set("gt_actions", names_of(wanted)).set("model_actions", names_of(got));
    score = overlap(got, wanted);
    return !wanted.empty();
  }

  ScorerOptions options_;
  Part coding_{};
  Part workflow_{};
  std::size_t issued_ = 0;
  std::size_t missing_ = 0;
  Json turns_ = Json::array();
  Json excluded_ = Json::array();
};

}  // namespace

Made make_agentic(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Agentic>(options);
}

}  // namespace assay::score
