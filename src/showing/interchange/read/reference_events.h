// One line of events.jsonl, the event file of the reference client for endpoints, as values. The
// grammar is in docs/formats/run_folder.md; events_jsonl.h writes it.
//
// Instants are of that client's monotonic clock, taken in its main loop: never kernel stamps. A
// line that cannot be true is Code::invalid with the field's name; the caller adds the line's
// number. Kinds of events that are not known here are ReferenceEventKind::other, because newer
// clients write more of them. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/event.h"

namespace assay::interchange {

enum class ReferenceEventKind : std::uint8_t {
  started,
  ended,
  interrupted,
  tracking_started,
  tracking_stopped,
  issued,
  recv_first,
  recv_non_first,
  complete,
  error,
  other,
};

struct ReferenceEvent {
  ReferenceEventKind kind = ReferenceEventKind::other;
  Instant at{};
  std::string uuid{};          // of a query; "" for the session's events
  std::string conversation{};  // "": the query is no turn
  Json data{};                 // the payload, as it stands
  FinishReason finish = FinishReason::none;
};

// A text as it came: its first fragment and all others joined. `first` only, if it came whole.
struct ReferencePart {
  Category category = Category::text;
  std::string first{};
  std::string rest{};
  bool has_rest = false;
};

// The reply in a sample.complete, in the order in which its parts came.
struct ReferenceOutput {
  bool streamed = false;  // the file gives its first fragment apart
  std::vector<ReferencePart> parts{};
};

// Why a query failed. `status` is the HTTP status, 0 where the file has none.
struct ReferenceFailure {
  Outcome outcome = Outcome::bad_reply;
  std::uint16_t status = 0;
  std::string detail{};
  // The client gave the query up before it was sent: an earlier turn of its conversation failed.
  bool never_sent = false;
};

// Longer lines are Code::invalid.
inline constexpr std::size_t kReferenceLineMax = std::size_t{64} << 20;

// True if `line` looks like a line of events.jsonl.
bool is_reference_event(std::string_view line);

Result<ReferenceEvent> read_reference_event(std::string_view line);

// The payloads of sample.complete and of error.*. A null `data` of the first is an empty reply.
Result<ReferenceOutput> read_reference_output(const Json& data);
Result<ReferenceFailure> read_reference_failure(const Json& data);

}  // namespace assay::interchange
