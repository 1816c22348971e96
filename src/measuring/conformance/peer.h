// Peer: another tool that measures an endpoint, as `assay conformance` drives it: how it is called,
// and where its figures stand in what it writes. Adding one: a file in peers/ and a row in
// peers() (peer.cc).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::conformance {

// What every peer is asked to do alike: `requests` chat completions, `streams` at once, streamed.
struct Job {
  std::string url{};  // http://127.0.0.1:PORT
  std::string model{};
  std::uint32_t streams = 1;
  std::uint32_t requests = 64;
  std::uint32_t tokens = 64;          // output tokens of each
  std::filesystem::path prompts{};    // JSON lines with `prompt`, `text`
  std::filesystem::path tokenizer{};  // a folder as the hub has it, with a token for each byte
  std::filesystem::path folder{};     // for what the peer writes; exists and is empty
};

struct Spread {
  double p50_ms = 0;
  double p99_ms = 0;
};

struct Figures {
  Spread ttft{};
  std::optional<Spread> itl{};  // in the peer's own definition (Peer::gaps)
  std::uint64_t completed = 0;
};

// What a peer's inter-token latency is of: each gap between two tokens, or each reply's mean gap.
enum class Gaps : std::uint8_t { each, mean_of_reply };
std::string_view to_string(Gaps gaps);

struct Peer {
  std::string_view id{};       // "aiperf"
  std::string_view title{};    // "NVIDIA AIPerf"
  std::string_view program{};  // its name in PATH; "": this program itself
  std::string_view package{};  // what `pip install` calls it
  Gaps gaps = Gaps::each;
  std::vector<std::string> (*arguments)(const Job& job) = nullptr;
  // Reads what the peer wrote for the job. An error names the file and the field.
  Result<Figures> (*read)(const Job& job) = nullptr;
};

const std::vector<Peer>& peers();
const Peer* find_peer(std::string_view id);

// The rows of peers(), each in peers/NAME.cc.
Peer peer_assay();
Peer peer_aiperf();
Peer peer_guidellm();
Peer peer_vllm();
Peer peer_reference();

}  // namespace assay::conformance
