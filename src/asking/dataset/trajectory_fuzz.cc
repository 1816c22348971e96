// Any bytes as each kind of trajectory: every cut into pieces gives the same nodes or the same
// error; what is read waits for nodes of its own trajectory, without a cycle, and asks something.
// The first byte chooses the kind.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "dataset/trajectory.h"
#include "dataset/unpacker.h"
#include "domain/trajectories.h"

namespace {

// Whether all nodes can be taken one by one, each after those that it waits for.
bool without_cycle(const assay::Conversation& one) {
  std::vector<bool> taken(one.turns.size());
  std::size_t left = one.turns.size();
  for (bool moved = true; moved && left > 0;) {
    moved = false;
    for (std::size_t i = 0; i < one.turns.size(); ++i) {
      bool ready = !taken[i];
      for (const std::uint32_t before : one.after[i]) ready = ready && taken[before];
      if (!ready) continue;
      taken[i] = moved = true;
      --left;
    }
  }
  return left == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using assay::dataset::Chunks;
  using assay::dataset::TraceKind;
  if (size < 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto kind = static_cast<TraceKind>(1 + data[0] % 6);
  const assay::dataset::Spec spec{.name = "t", .path = "t", .prefer_token_ids = data[0] >= 128};
  const auto whole = read_trajectories(spec, Chunks::of(text), kind);
  const auto cut = read_trajectories(spec, Chunks::of(text, 1 + data[1] % 7U), kind);
  CHECK(whole.has_value() == cut.has_value());
  if (!whole) {
    // A decompressor may find a fault before or after it has given the bytes in front of it.
    if (!assay::dataset::compression_of(text)) CHECK(whole.error().message == cut.error().message);
    return 0;
  }
  CHECK(whole->samples.size() == cut->samples.size());
  std::uint32_t next = 0;
  assay::Sample room;
  for (const assay::Conversation& one : whole->conversations) {
    CHECK(!one.turns.empty() && one.after.size() == one.turns.size());
    CHECK(without_cycle(one));
    for (const assay::Turn& turn : one.turns) {
      CHECK(turn.sample == next++);
      CHECK(turn.agent < whole->agents.size() && turn.delay >= assay::Duration{});
      const assay::Sample& sample = whole->samples[turn.sample];
      CHECK(sample.messages.size() > 0 || sample.made.tokens > 0);
      if (sample.made.tokens == 0 || sample.made.tokens > 4096) continue;
      if (sample.made.block > 4096) continue;
      const assay::Sample& made = whole->row(turn.sample, room);
      if (spec.prefer_token_ids) {
        CHECK(static_cast<std::int64_t>(made.input_tokens.size()) == sample.made.tokens);
      } else {
        CHECK(!made.prompt.empty());
      }
    }
  }
  CHECK(next == whole->samples.size());
  // As a run keeps them.
  assay::PhasePlan phase;
  phase.conversations = whole->conversations;
  const assay::Json facts =
      assay::Json().set(assay::kTrajectoriesFact, to_json(trajectories_of(phase, *whole, false)));
  const auto read = assay::trajectories_from(facts);
  CHECK(read && read->rows() == whole->samples.size());
  return 0;
}
