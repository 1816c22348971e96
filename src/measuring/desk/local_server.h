// Local servers: which OpenAI-compatible servers listen on this machine, found by their usual ports
// and told apart by their own answers. Everything that a system may do differently about finding
// servers is in this file.
//
//   8080   llama.cpp's server   /props
//   11434  Ollama               /api/version
//   1234   LM Studio            /api/v0/models
//   8000   vLLM and others      none; /v1/models alone
//
// Blocking: a few GETs to each port, at loopback only. A port that does not answer is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace assay::desk {

struct LocalServer {
  std::string kind{};     // "llama.cpp", "Ollama", "LM Studio", "OpenAI-compatible"
  std::string version{};  // as it says; may be empty
  std::string url{};
  std::vector<std::string> models{};  // those in memory first, where the server says so
};

// The usual ports, in the order in which a server is chosen.
std::span<const std::uint16_t> usual_ports();

std::vector<LocalServer> find_local_servers(std::span<const std::uint16_t> ports,
                                            const Clock& clock);

// What a server's answers say; nullopt where /v1/models is no list of models. An absent answer is
// null. Pure.
struct ServerAnswers {
  Json models{};     // /v1/models
  Json props{};      // /props
  Json version{};    // /api/version
  Json lm_studio{};  // /api/v0/models
};
std::optional<LocalServer> server_of(const std::string& url, const ServerAnswers& answers);

}  // namespace assay::desk
