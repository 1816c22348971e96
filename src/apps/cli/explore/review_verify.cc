#include "cli/explore/review_verify.h"

#include "base/exit_code.h"
#include "base/format.h"
#include "cli/console.h"
#include "explorer/verify_history.h"

namespace assay::cli {
namespace {

std::string since_text(std::int64_t since) {
  return since == 0
             ? "nothing was appended since"
             : format("{} {} appended since", since, since == 1 ? "entry was" : "entries were");
}

Json list_of(const std::vector<std::string>& words) {
  Json out = Json::array();
  for (const std::string& word : words) out.push_back(word);
  return out;
}

}  // namespace

Result<int> verify_reviews(store::Store& store, const std::string& where, const std::string& head,
                           bool json) {
  ASSIGN_OR_RETURN(const auto found, explorer::verify_history(store, where, head));
  const bool good = found.problems.empty();
  const int code = exit_code(good ? ExitCode::done : ExitCode::findings);
  if (json) {
    print(Json()
              .set("submissions", found.submissions)
              .set("entries", found.entries)
              .set("broken", list_of(found.broken))
              .set("head", rules::to_json(found.now))
              .set("anchor", found.anchor ? Json(*found.anchor) : Json())
              .set("anchored", found.anchor ? Json(found.since.has_value()) : Json())
              .set("entries_since", found.since ? Json(*found.since) : Json())
              .set("problems", list_of(found.problems))
              .dump(2) +
          "\n");
    return code;
  }
  for (const std::string& problem : found.problems) print(problem + "\n");
  if (good) {
    print(format("{} submissions, {} entries: every hash is right\n", found.submissions,
                 found.entries));
  }
  if (found.since) print(format("head {}: {}\n", *found.anchor, since_text(*found.since)));
  if (!found.anchor) {
    print(
        "no head is at hand: that nothing was cut off at the end cannot be proved\n"
        "  give one that was kept elsewhere (--head FILE|HASH); an export has one, "
        "data/review_head.json\n");
  }
  print(format("the head is now {} entries, {}\n", found.now.count, found.now.hash));
  return code;
}

}  // namespace assay::cli
