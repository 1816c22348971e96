#include "explorer/board.h"

#include <map>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "explorer/head.h"

namespace assay::explorer {
namespace {

// Retries when another writer was faster; more concurrent writers than this are not expected.
constexpr int kTries = 50;

rules::Day today() { return *rules::Day::parse(rfc3339(wall_now())); }

Result<Json> submission_json(store::Store& store, const rules::Review& review,
                             const rules::Actor& actor, bool history) {
  Json out = rules::to_json(review, today(), history);
  Json curves = Json::array();
  ASSIGN_OR_RETURN(const store::CurvePage page,
                   store.find_curves({.submission = review.id, .points = false}));
  for (const store::FoundCurve& curve : page.curves) curves.push_back(curve.id);
  Json allowed = Json::array();
  for (const std::string_view kind : rules::allowed_acts(review, actor, today())) {
    allowed.push_back(kind);
  }
  out.set("curves", std::move(curves)).set("allowed", std::move(allowed));
  return out;
}

bool matches(const Json& submission, const BoardQuery& query) {
  const auto fits = [&submission](const char* key, const std::string& wanted) {
    return wanted.empty() || submission[key].as_string() == wanted;
  };
  return fits("state", query.state) && fits("cohort", query.cohort) &&
         fits("organisation", query.organisation);
}

Result<std::string> document_text(store::Store& store, std::string_view id,
                                  const rules::Actor& actor, const rules::Holidays& holidays) {
  ASSIGN_OR_RETURN(auto document, submission_document(store, id, actor, holidays));
  if (!document) return Error{Code::io, "the submission is not there after it was written"};
  return std::move(*document);
}

}  // namespace

Result<rules::Holidays> read_holidays(const std::filesystem::path& path) {
  if (path.empty()) return rules::Holidays{};
  constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kBytesMax));
  auto holidays = rules::parse_holidays(text);
  if (!holidays) return holidays.error().within(path.string());
  return holidays;
}

Result<std::string> submissions_document(store::Store& store, const BoardQuery& query,
                                         const rules::Actor& actor,
                                         const rules::Holidays& holidays) {
  ASSIGN_OR_RETURN(const auto entries, store.history(""));
  std::map<std::string, std::vector<rulebook::HistoryEntry>> submissions;
  for (const rulebook::HistoryEntry& entry : entries) {
    if (entry.submission == rulebook::kFederationHistory) continue;
    submissions[entry.submission].push_back(entry);
  }
  Json items = Json::array();
  std::int64_t total = 0;
  Json next;
  for (const auto& [id, history] : submissions) {
    ASSIGN_OR_RETURN(
        const Json one,
        submission_json(store, rules::fold_review(history, today(), holidays), actor, false));
    if (!matches(one, query)) continue;
    ++total;
    if (id <= query.after) continue;
    if (items.size() == query.limit) {
      if (next.is_null()) next = Json(items[query.limit - 1]["id"].as_string());
      continue;
    }
    items.push_back(one);
  }
  return Json().set("items", std::move(items)).set("total", total).set("next", next).dump();
}

Result<std::optional<std::string>> submission_document(store::Store& store, std::string_view id,
                                                       const rules::Actor& actor,
                                                       const rules::Holidays& holidays) {
  if (id.empty() || id == rulebook::kFederationHistory) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(const auto entries, store.history(id));
  if (entries.empty()) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(Json one, submission_json(store, rules::fold_review(entries, today(), holidays),
                                             actor, true));
  ASSIGN_OR_RETURN(const auto hashes, store.history_hashes());
  one.set("review_head", rules::to_json(rules::head_of(hashes)));
  return std::optional<std::string>(one.dump());
}

Result<std::string> submit(store::Store& store, const Json& told, const rules::Actor& actor,
                           const rules::Holidays& holidays, const std::filesystem::path& head) {
  TRY(check_head_file(store, head));
  ASSIGN_OR_RETURN(const rulebook::HistoryEntry entry,
                   rules::open_submission(told, actor, rfc3339(wall_now())));
  const auto done = store.append(entry);
  if (!done && done.error().code == Code::refused) {
    return Error{Code::refused, format("there is a submission '{}' already", entry.submission)};
  }
  TRY(done);
  TRY(write_head_file(store, head));
  return document_text(store, entry.submission, actor, holidays);
}

Result<std::string> act(store::Store& store, std::string_view id, const Json& told,
                        const rules::Actor& actor, const rules::Holidays& holidays,
                        const std::filesystem::path& head) {
  TRY(check_head_file(store, head));
  for (int i = 0; i < kTries; ++i) {
    ASSIGN_OR_RETURN(const auto entries, store.history(id));
    if (entries.empty() || id == rulebook::kFederationHistory) {
      return Error{Code::not_found, format("there is no submission '{}'", id)};
    }
    const rules::Review review = rules::fold_review(entries, today(), holidays);
    if (!review.intact) {
      return Error{Code::corrupt, format("the history of '{}' was tampered with", id)};
    }
    ASSIGN_OR_RETURN(const rulebook::HistoryEntry entry,
                     rules::make_act(review, told, actor, rfc3339(wall_now())));
    const auto done = store.append(entry);
    if (done) {
      TRY(write_head_file(store, head));
      return document_text(store, id, actor, holidays);
    }
    if (done.error().code != Code::refused) return done.error();
  }
  return Error{Code::timed_out, "others were faster each time; try again"};
}

}  // namespace assay::explorer
