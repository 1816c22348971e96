#include "explorer/verify_history.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/text.h"
#include "explorer/head.h"
#include "rules/review.h"

namespace assay::explorer {
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

// The head to compare the history with, and its name.
struct Anchor {
  std::optional<rules::ReviewHead> head{};
  std::string name{};
};

Result<Anchor> find_anchor(const std::string& where, const std::string& head) {
  if (is_hash_alone(head)) {
    return Anchor{rules::ReviewHead{-1, lower(head)}, head.substr(0, 12)};
  }
  const std::string file = head.empty() ? default_head_file(where) : head;
  std::error_code ignored;
  if (head.empty() && (file.empty() || !std::filesystem::exists(file, ignored))) return Anchor{};
  ASSIGN_OR_RETURN(rules::ReviewHead found, read_head_file(file));
  return Anchor{std::move(found), file};
}

}  // namespace

Result<VerifiedHistory> verify_history(store::Store& store, const std::string& where,
                                       const std::string& head) {
  ASSIGN_OR_RETURN(const Anchor anchor, find_anchor(where, head));
  // Reads the order first: entries appended in between are then only in the other list.
  ASSIGN_OR_RETURN(const auto hashes, store.history_hashes());
  ASSIGN_OR_RETURN(const auto entries, store.history(""));
  Checked checked = check_chains(entries);
  VerifiedHistory out{.submissions = checked.submissions, .entries = entries.size()};
  out.broken = std::move(checked.broken);
  out.problems = std::move(checked.problems);
  const auto gone = std::ranges::count(hashes, std::string());
  if (gone > 0) {
    out.problems.push_back(format("{} {} not where the order of all entries has {}", gone,
                                  gone == 1 ? "entry is" : "entries are",
                                  gone == 1 ? "it" : "them"));
  }
  out.now = rules::head_of(hashes);
  if (!anchor.head) return out;
  out.anchor = anchor.name;
  out.since = rules::entries_since(hashes, *anchor.head);
  if (!out.since) {
    std::string had;
    if (anchor.head->count >= 0)
      had = format(" ({} entries, the store has {})", anchor.head->count, hashes.size());
    out.problems.push_back(
        format("the history does not go on from the head {}{}: entries were cut off or changed, a "
               "submission is gone, or an older store was put back",
               anchor.name, had));
  }
  return out;
}

}  // namespace assay::explorer
