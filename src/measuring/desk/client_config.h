// ClientConfig: a configuration file of MLPerf Client (versions 1.5 to 2.0), as far as it says what
// is asked: scenarios, prompt files, iterations, warm-up, delay. What it says of how a model is
// loaded (model files, execution providers, their devices) belongs to a server here, and stays as
// words for a note.
//
// Units: `delay` as a Duration; the file has seconds. A file that Client rejects is an error, and
// all problems are named at once, each by its place ("Scenarios[0].Iterations: …"). Pure; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay::desk {

// A prompt file as the config names it, and the group that it stands in: base, extended, or the
// name that the file has.
struct PromptPlace {
  std::string group{};
  std::string location{};  // https://…, file://… or a path
};

struct ClientScenario {
  std::string name{};        // txt2txt, Llama3, …
  std::string model{};       // the first model's display name
  std::string model_file{};  // its location; never opened
  std::vector<std::string> providers{};
  std::vector<PromptPlace> prompts{};
  std::uint32_t iterations = 0;
  std::uint32_t warmups = 1;
  Duration delay{5'000'000'000};  // before each inference
  bool agentic = false;
  bool tools = true;  // run the tools that recorded answers call
};

struct ClientConfig {
  std::string comment{};
  std::vector<ClientScenario> scenarios{};
};

// `text` may begin with a byte order mark, as some of Client's own files do. Fails on a scenario
// that makes images: Code::unsupported.
Result<ClientConfig> parse_client_config(std::string_view text);

}  // namespace assay::desk
