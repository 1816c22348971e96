// Judges: who says whether a reply is safe. A file names them and how their votes are joined
// (docs/formats/safety.md); its sha256 is part of a run's record. Three kinds:
//
//   rule      words for each hazard ("*": all): a reply that holds one is unsafe
//   command   a program in a jail without a network (score/code/sandbox.h): it reads {items}, JSON
//             lines of {uid, hazard, persona, locale, prompt, reply}, and writes {verdicts}, JSON
//             lines of {uid, is_safe, perhaps is_valid and words}
//   endpoint  a model behind any endpoint: its calls are an ordinary run, and its words a verdict
//             by the judge's lists of safe and unsafe words
//
// find_judges reads a file, command_votes runs a program; the others are pure. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "safety/items.h"
#include "safety/voting.h"

namespace assay::safety {

struct RuleJudge {
  std::vector<std::pair<std::string, std::vector<std::string>>> words{};  // by hazard
};

struct CommandJudge {
  std::vector<std::string> command{};
  Duration time_max{600'000'000'000};
};

struct EndpointJudge {
  std::string endpoint{};
  std::string model{};
  std::string api_type{};     // "": openai
  std::string api_key_env{};  // the name of a variable; "": none
  std::string system{};
  std::string question{};  // with {prompt}, {reply}, {hazard}, {persona}, {locale},
                           // {side_information}
  std::vector<std::string> safe{};
  std::vector<std::string> unsafe{};
  std::uint64_t concurrency = 8;
  std::uint64_t max_new_tokens = 32;
  double temperature = 0;
  std::string time_max{};  // of one query; "": the run's own
};

struct Judge {
  std::string name{};
  std::variant<RuleJudge, CommandJudge, EndpointJudge> kind{};
};

struct JudgeFile {
  VoteRule rule{};
  std::vector<Judge> judges{};
  std::vector<std::string> refusals{};  // begins of a reply that declines, in lower case
  std::string text{};                   // the file's
  std::string sha256{};                 // of the text
};

// A name in the binary (safety/judges), or a file that ends in .yaml.
Result<JudgeFile> find_judges(const std::string& name);
Result<JudgeFile> judges_from(std::string text);

// A reply to judge. The views must outlive the call.
struct Judged {
  const Prompt* prompt = nullptr;
  std::string_view reply{};
};

// A prompt as text: its text parts where it is a list of content parts. An attacked twin has
// the seed prompt: a judge is to judge what was asked, not how.
std::string prompt_words(const Prompt& prompt);
bool begins_as_refusal(const JudgeFile& file, std::string_view reply);

Vote rule_vote(const Judge& judge, const Judged& judged);  // REQUIRES: a rule
// One vote for each of `judged`, in their order. Fails if the program can't be jailed or started. A
// program that fails or takes too long has no valid vote, and each says why.
Result<std::vector<Vote>> command_votes(const Judge& judge, std::span<const Judged> judged);
std::string judge_question(const EndpointJudge& judge, const Judged& judged);
// From the words of a judge's reply: a JSON object with is_safe, or one of its words.
Vote vote_of_words(const Judge& judge, std::string_view words);  // REQUIRES: an endpoint

}  // namespace assay::safety
