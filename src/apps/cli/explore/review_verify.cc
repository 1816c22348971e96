#include "cli/explore/review_verify.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/exit_code.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/console.h"
#include "explorer/head.h"
#include "rules/review.h"

namespace assay::cli {
namespace {

struct Checked {
  std::int64_t submissions = 0;
  std::vector<std::string> broken{};  // submissions
  std::vector<std::string> problems{};
};

Checked check_chains(const std::vector<rulebook::HistoryEntry>& entries) {
  Checked out;
  std::vector<rulebook::HistoryEntry> one;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    one.push_back(entries[i]);
    if (i + 1 < entries.size() && entries[i + 1].submission == entries[i].submission) continue;
    ++out.submissions;
    if (!rules::fold_review(one, rules::Day{}).intact) {
      out.broken.push_back(entries[i].submission);
      out.problems.push_back(format("{}: tampered with", entries[i].submission));
    }
    one.clear();
  }
  return out;
}

bool is_hash_alone(const std::string& text) {
  return text.size() == rules::kNoHash.size() &&
         std::ranges::all_of(text, [](char c) { return hex_value(c) >= 0; });
}

// What the history is held against, and what to call it.
struct Anchor {
  std::optional<rules::ReviewHead> head{};
  std::string name{};
};

Result<Anchor> find_anchor(const std::string& where, const std::string& head) {
  if (is_hash_alone(head)) {
    return Anchor{rules::ReviewHead{-1, lower(head)}, head.substr(0, 12)};
  }
  const std::string file = head.empty() ? explorer::default_head_file(where) : head;
  std::error_code ignored;
  if (head.empty() && (file.empty() || !std::filesystem::exists(file, ignored))) return Anchor{};
  ASSIGN_OR_RETURN(rules::ReviewHead found, explorer::read_head_file(file));
  return Anchor{std::move(found), file};
}

std::string since_text(std::int64_t since) {
  return since == 0
             ? "nothing was appended since"
             : format("{} {} appended since", since, since == 1 ? "entry was" : "entries were");
}

}  // namespace

Result<int> verify_reviews(store::Store& store, const std::string& where, const std::string& head,
                           bool json) {
  ASSIGN_OR_RETURN(const Anchor anchor, find_anchor(where, head));
  // The order first: what is appended in between is then only in the other.
  ASSIGN_OR_RETURN(const auto hashes, store.history_hashes());
  ASSIGN_OR_RETURN(const auto entries, store.history(""));
  Checked checked = check_chains(entries);
  const auto gone = std::ranges::count(hashes, std::string());
  if (gone > 0) {
    checked.problems.push_back(format("{} {} not where the order of all entries has {}", gone,
                                      gone == 1 ? "entry is" : "entries are",
                                      gone == 1 ? "it" : "them"));
  }
  std::optional<std::int64_t> since;
  if (anchor.head) since = rules::entries_since(hashes, *anchor.head);
  if (anchor.head && !since) {
    std::string had;
    if (anchor.head->count >= 0)
      had = format(" ({} entries, the store has {})", anchor.head->count, hashes.size());
    checked.problems.push_back(
        format("the history does not go on from the head {}{}: entries were cut off or changed, a "
               "submission is gone, or an older store was put back",
               anchor.name, had));
  }
  const rules::ReviewHead now = rules::head_of(hashes);
  const bool good = checked.problems.empty();
  if (json) {
    Json broken = Json::array();
    for (const std::string& id : checked.broken) broken.push_back(id);
    Json problems = Json::array();
    for (const std::string& problem : checked.problems) problems.push_back(problem);
    print(Json()
              .set("submissions", checked.submissions)
              .set("entries", entries.size())
              .set("broken", broken)
              .set("head", rules::to_json(now))
              .set("anchor", anchor.head ? Json(anchor.name) : Json())
              .set("anchored", anchor.head ? Json(since.has_value()) : Json())
              .set("entries_since", since ? Json(*since) : Json())
              .set("problems", problems)
              .dump(2) +
          "\n");
    return exit_code(good ? ExitCode::done : ExitCode::findings);
  }
  for (const std::string& problem : checked.problems) print(problem + "\n");
  if (good) {
    print(format("{} submissions, {} entries: every hash is right\n", checked.submissions,
                 entries.size()));
  }
  if (since) print(format("head {}: {}\n", anchor.name, since_text(*since)));
  if (!anchor.head) {
    print(
        "no head is at hand: that nothing was cut off at the end cannot be proved\n"
        "  give one that was kept elsewhere (--head FILE|HASH); an export has one, "
        "data/review_head.json\n");
  }
  print(format("the head is now {} entries, {}\n", now.count, now.hash));
  return exit_code(good ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::cli
