#include "plan/replay.h"

#include <algorithm>
#include <memory>

#include "base/blake2b.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::plan {
namespace {

constexpr std::size_t kMarkBytes = 2;
constexpr std::uint64_t kTurnsMost = 50'000'000;

// A trajectory's system message with its marks; all its turns share it.
struct Marked {
  std::shared_ptr<const Json> from{};
  std::shared_ptr<const Json> message{};
};

// Adds the reference client's marks: one for the repeat before the system prompt, so that repeats
// share no prefix, and one for the conversation after it.
Result<void> mark(Sample& sample, std::uint64_t repeat, std::string_view conversation,
                  Marked& marked) {
  for (std::size_t i = 0; i < sample.messages.size(); ++i) {
    const Json& message = sample.messages[i];
    if (message["role"].as_string() != "system" || !message["content"].is_string()) continue;
    if (marked.from != sample.messages.shared(i)) {
      Json with_marks = message;
      with_marks.set(
          "content",
          format("[salt: {}]\n\n{}\n\n[salt: {}]", blake2b_hex(std::to_string(repeat), kMarkBytes),
                 message["content"].as_string(), blake2b_hex(conversation, kMarkBytes)));
      marked = {sample.messages.shared(i), std::make_shared<const Json>(std::move(with_marks))};
    }
    sample.messages.replace(i, marked.message);
    return {};
  }
  return invalid(
      format("conversation '{}' has no system message for its salt (enable_salt)", conversation));
}

// Returns the sample as this repeat asks it.
Result<Sample> repeated(const Sample& base, std::uint64_t repeat, bool salted, Marked& marked) {
  Sample out = base;
  if (salted && out.made.tokens > 0) {
    // Its repeats share no block, and no token is added to a prompt of a stated length.
    out.made.scope = xxh3(format("{} {}", out.made.scope, repeat));
    out.made.rest = xxh3(format("{} {}", out.made.rest, repeat));
  } else if (salted) {
    TRY(mark(out, repeat, base.session, marked));
  }
  if (repeat == 1) return out;
  out.session = format("{}__repeat_{}", base.session, repeat);
  if (out.columns.is_object()) out.columns.set("conversation_id", out.session);
  return out;
}

// How long a turn waits after the replies before it.
Duration waited(Duration recorded, const AgenticConfig& config) {
  return config.inject_tool_delay ? std::min(recorded, config.idle_cap) : Duration{};
}

}  // namespace

Result<std::vector<Conversation>> make_trajectories(const AgenticConfig& config, Dataset& dataset) {
  const std::size_t sources = dataset.conversations.size();
  if (sources == 0) {
    return invalid(format("dataset '{}' has no conversations to replay", dataset.name));
  }
  const std::uint64_t wanted = config.num_trajectories_to_issue.value_or(sources);
  const std::vector<Sample> base = std::move(dataset.samples);
  dataset.samples.clear();
  dataset.rows_of_pass = base.size();
  if (wanted / sources + 1 > kTurnsMost / base.size()) {
    return invalid(format("num_trajectories_to_issue: {} are too many turns", wanted));
  }
  std::vector<Conversation> out;
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const std::uint64_t repeat = k / sources + 1;
    const Conversation& source = dataset.conversations[k % sources];
    Conversation trajectory{.after = source.after};
    Marked marked;
    for (const Turn& turn : source.turns) {
      ASSIGN_OR_RETURN(Sample sample,
                       repeated(base[turn.sample], repeat, config.enable_salt, marked));
      trajectory.turns.push_back({static_cast<std::uint32_t>(dataset.samples.size()),
                                  waited(turn.delay, config), turn.agent});
      dataset.samples.push_back(std::move(sample));
    }
    out.push_back(std::move(trajectory));
  }
  return out;
}

}  // namespace assay::plan
