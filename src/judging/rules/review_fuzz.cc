// Any bytes as a review's history. JSON lines: the opening of a submission, then acts, each with
// actor and time, and entries with arbitrary kind and body. Entries that the board accepted are
// intact; every history is folded and written as JSON. The whole input is also read as a head.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "rules/review.h"
#include "rules/review_head.h"

namespace assay::rules {
namespace {

void tell(const std::vector<rulebook::HistoryEntry>& entries, bool intact) {
  const Day day = Day::parse("2026-11-20").value_or(Day{});
  const Review review = fold_review(entries, day);
  CHECK(review.intact || !intact);
  CHECK(review.history.size() == entries.size());
  const std::string text = to_json(review, day, true).dump();
  CHECK(Json::parse(text));
  (void)allowed_acts(review, {"chair", ""}, day);
}

std::string text_in(const Json& json, const char* key, std::string_view fallback) {
  return std::string(json[key].as_string(fallback));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto head = parse_head(bytes)) CHECK(*parse_head(to_json(*head).dump()) == *head);
  std::vector<rulebook::HistoryEntry> let_in;
  std::vector<rulebook::HistoryEntry> as_it_stands;
  for (const std::string_view line : split(bytes, '\n')) {
    const auto json = Json::parse(line);
    if (!json) continue;
    const Actor actor{text_in(*json, "role", "chair"), text_in(*json, "organisation", "We")};
    const std::string at = text_in(*json, "at", "2026-08-03T09:00:00Z");
    as_it_stands.push_back({.submission = "s",
                            .sequence = (*json)["sequence"].as_int(1),
                            .at = at,
                            .actor = actor.organisation,
                            .role = actor.role,
                            .kind = text_in(*json, "kind", "submitted"),
                            .body = std::string(line)});
    const auto entry =
        let_in.empty()
            ? open_submission(*json, actor, at)
            : make_act(fold_review(let_in, Day::parse(at).value_or(Day{})), *json, actor, at);
    if (entry) let_in.push_back(*entry);
  }
  if (!let_in.empty()) tell(let_in, true);
  if (!as_it_stands.empty()) tell(as_it_stands, false);
  return 0;
}

}  // namespace assay::rules
