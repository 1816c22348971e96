#include "desk/stand_in.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/python_random.h"

namespace assay::desk {
namespace {

enum class Kind : std::uint8_t { prose, table, code };

// What one category asks: the instruction, and how many characters follow it in each prompt.
struct Category {
  std::string_view name{};
  std::string_view group{};
  Kind kind = Kind::prose;
  std::string_view instruction{};
  std::array<std::size_t, 2> characters{};
  std::int64_t tokens_max = 0;
};

constexpr std::array<Category, 6> kCategories{{
    {"Content Generation",
     "base",
     Kind::prose,
     "Answer the question about the notes below, step by step.",
     {310, 410},
     256},
    {"Creative Writing",
     "base",
     Kind::prose,
     "Continue the story below in the same voice, in several paragraphs.",
     {1900, 2000},
     512},
    {"Structured Text",
     "base",
     Kind::table,
     "Write the table below as a JSON list, one object a row.",
     {2200, 2500},
     256},
    {"Code Analysis",
     "base",
     Kind::code,
     "Explain what the following code does, and where it may fail.",
     {7500, 7200},
     128},
    {"Summarization, Intermediate",
     "base",
     Kind::prose,
     "Summarise the text below in one paragraph.",
     {13500, 14100},
     128},
    {"Summarization, Substantial",
     "extended",
     Kind::prose,
     "Summarise the text below in one paragraph.",
     {33500, 35000},
     128},
}};

// An agent's conversation: the characters of its system prompt, then of each question and answer.
struct Agent {
  std::string_view name{};
  std::string_view group{};
  std::size_t system = 0;
  std::vector<std::size_t> turns{};
};

constexpr std::int64_t kAgentTokensMax = 1000;

constexpr std::array<std::string_view, 40> kWords{
    "river", "the",    "a",      "market", "under",  "cold",    "light",  "and",
    "stone", "walks",  "before", "green",  "letter", "of",      "quiet",  "engine",
    "reads", "with",   "seven",  "houses", "north",  "to",      "winter", "carries",
    "small", "bridge", "open",   "then",   "asks",   "morning", "bread",  "slow",
    "in",    "garden", "writes", "field",  "colour", "after",   "rope",   "answers"};

std::string_view word(PythonRandom& random) { return kWords[random.below(kWords.size())]; }

void add_sentence(std::string& out, PythonRandom& random) {
  const std::size_t words = 6 + random.below(9);
  for (std::size_t i = 0; i < words; ++i) {
    out += word(random);
    out += i + 1 == words ? ". " : " ";
  }
}

void add_row(std::string& out, PythonRandom& random) {
  out += format("{},{},{},{}\n", word(random), word(random), random.below(1000), random.below(90));
}

void add_function(std::string& out, PythonRandom& random) {
  const std::string_view name = word(random);
  const std::string_view value = word(random);
  out += format(
      "int {}_{}(int {}) {{\n  int sum = {};\n  for (int i = 0; i < {}; ++i) sum += i % {};\n"
      "  return sum;\n}}\n",
      name, random.below(1000), value, random.below(100), value, 2 + random.below(9));
}

std::string text_of(Kind kind, std::size_t characters, PythonRandom& random) {
  std::string out;
  while (out.size() < characters) {
    switch (kind) {
      case Kind::prose:
        add_sentence(out, random);
        break;
      case Kind::table:
        add_row(out, random);
        break;
      case Kind::code:
        add_function(out, random);
        break;
    }
  }
  out.resize(characters);
  return out;
}

Json said(std::string_view role, std::string text) {
  return Json().set("role", role).set("content", std::move(text));
}

std::vector<PromptFile> plain_prompts() {
  std::vector<PromptFile> out;
  PythonRandom random(42);
  for (const Category& one : kCategories) {
    for (std::size_t i = 0; i < one.characters.size(); ++i) {
      PromptFile file{.name = format("stand-in/{}/{}", one.name, i + 1),
                      .group = std::string(one.group),
                      .category = std::string(one.name),
                      .tokens_max = one.tokens_max};
      ClientPrompt prompt{.messages = Json::array()};
      prompt.messages.push_back(said("system", std::string(one.instruction)));
      prompt.messages.push_back(said("user", text_of(one.kind, one.characters[i], random)));
      file.prompts.push_back(std::move(prompt));
      out.push_back(std::move(file));
    }
  }
  return out;
}

PromptFile conversation(const Agent& agent, PythonRandom& random) {
  PromptFile out{.name = format("stand-in/{}", agent.name),
                 .group = std::string(agent.group),
                 .category = std::string(agent.name),
                 .tokens_max = kAgentTokensMax};
  ClientPrompt warmup{.messages = Json::array()};
  warmup.messages.push_back(said("system", "Say that you are ready."));
  out.prompts.push_back(std::move(warmup));
  for (std::size_t i = 0; i < agent.turns.size(); ++i) {
    ClientPrompt prompt{.messages = Json::array(), .recorded = i % 2 == 1};
    if (i == 0) {
      prompt.messages.push_back(said("system", text_of(Kind::prose, agent.system, random)));
    }
    prompt.messages.push_back(
        said(prompt.recorded ? "assistant" : "user", text_of(Kind::prose, agent.turns[i], random)));
    out.prompts.push_back(std::move(prompt));
  }
  return out;
}

}  // namespace

std::vector<PromptFile> stand_in_prompts(bool agentic) {
  if (!agentic) return plain_prompts();
  PythonRandom random(42);
  const Agent swe{"SWE Agent", "base", 32600, {195, 511, 2180, 4260, 123, 47}};
  const Agent data{
      "Data Analyst Agent", "extended", 20500, {182, 1731, 1206, 2388, 3938, 2139, 7792, 2055}};
  return {conversation(swe, random), conversation(data, random)};
}

}  // namespace assay::desk
