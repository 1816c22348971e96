#include "site/journal.h"

#include "base/format.h"
#include "base/json_list.h"
#include "rules/review.h"

namespace assay::site {
namespace {

using sites::ActKind;
using sites::RunState;

Json levels_json(const std::vector<sites::MeasuredLevel>& levels) {
  Json out = Json::array();
  for (const sites::MeasuredLevel& level : levels) {
    Json figures = Json::object();
    for (const auto& [name, value] : level.figures) figures.set(name, value);
    out.push_back(Json::object()
                      .set("concurrency", level.concurrency)
                      .set("completed", level.completed)
                      .set("scored", level.scored ? Json(*level.scored) : Json())
                      .set("judged", level.judged ? Json(*level.judged) : Json())
                      .set("figures", std::move(figures)));
  }
  return out;
}

std::vector<sites::MeasuredLevel> levels_of(const Json& json) {
  std::vector<sites::MeasuredLevel> out;
  for (const Json& level : json.items()) {
    sites::MeasuredLevel one{.concurrency = level["concurrency"].as_int(),
                             .completed = level["completed"].as_int()};
    if (level["scored"].is_integer()) one.scored = level["scored"].as_int();
    if (level["judged"].is_integer()) one.judged = level["judged"].as_int();
    for (const auto& [name, value] : level["figures"].members()) {
      one.figures.emplace_back(name, value.as_double());
    }
    out.push_back(std::move(one));
  }
  return out;
}

void read_taken(const Json& body, LocalRun& run) {
  run.benchmark = body["benchmark"].as_string();
  run.dataset = body["dataset"].as_string();
  run.dataset_sha256 = body["dataset_sha256"].as_string();
  run.model = body["model"].as_string();
  for (const Json& field : body["wanted"].items()) run.wanted.emplace_back(field.as_string());
}

Result<void> fold(LocalRun& run, const rulebook::HistoryEntry& entry) {
  ASSIGN_OR_RETURN(const ActKind kind, sites::act_kind_named(entry.kind));
  ASSIGN_OR_RETURN(run.state, sites::next_state(run.state, kind));
  ASSIGN_OR_RETURN(const Json body, Json::parse(entry.body));
  if (kind == ActKind::take) read_taken(body, run);
  if (kind == ActKind::hold) run.measured = levels_of(body["measured"]);
  if (kind == ActKind::review) run.document = body["document"].as_string();
  if (kind == ActKind::release) run.signature = body["signature"].as_string();
  if (kind == ActKind::fail) run.reason = body["reason"].as_string();
  return {};
}

Result<std::vector<LocalRun>> fold_all(const std::vector<rulebook::HistoryEntry>& entries) {
  std::vector<LocalRun> out;
  std::string previous;
  std::int64_t sequence = 0;
  for (const rulebook::HistoryEntry& entry : entries) {
    if (out.empty() || out.back().id != entry.submission) {
      out.push_back({.id = entry.submission});
      previous = rules::kNoHash;
      sequence = 0;
    }
    const bool right = entry.sequence == ++sequence && entry.previous == previous &&
                       entry.hash == rules::hash_of(entry);
    if (!right || !fold(out.back(), entry)) {
      return Error{Code::corrupt, format("run '{}': entry {} does not follow from those before it",
                                         entry.submission, entry.sequence)};
    }
    previous = entry.hash;
  }
  return out;
}

sites::Act act_of(const LocalRun& run, ActKind kind) {
  sites::Act act{.kind = kind, .key = format("{}-{}", to_string(kind), run.id), .id = run.id};
  if (kind == ActKind::fail) act.reason = run.reason;
  if (kind == ActKind::release) {
    act.document = run.document;
    act.signature = run.signature;
  }
  return act;
}

}  // namespace

Result<std::optional<LocalRun>> Journal::run(std::string_view id) const {
  ASSIGN_OR_RETURN(const auto entries, store_.history(id));
  ASSIGN_OR_RETURN(auto runs, fold_all(entries));
  if (runs.empty()) return std::optional<LocalRun>();
  return std::optional<LocalRun>(std::move(runs.front()));
}

Result<std::vector<LocalRun>> Journal::runs() const {
  ASSIGN_OR_RETURN(const auto entries, store_.history(""));
  return fold_all(entries);
}

Result<void> Journal::append(std::string_view id, ActKind kind, const Json& body,
                             const std::string& at) {
  ASSIGN_OR_RETURN(const auto entries, store_.history(id));
  ASSIGN_OR_RETURN(const auto runs, fold_all(entries));
  const RunState now = runs.empty() ? RunState::ordered : runs.front().state;
  if (const auto next = sites::next_state(now, kind); !next) {
    return next.error().within(format("run '{}'", id));
  }
  rulebook::HistoryEntry entry{
      .submission = std::string(id),
      .sequence = static_cast<std::int64_t>(entries.size()) + 1,
      .at = at,
      .actor = "site",
      .role = "data_owner",
      .kind = std::string(to_string(kind)),
      .body = body.dump(),
      .previous = entries.empty() ? std::string(rules::kNoHash) : entries.back().hash};
  entry.hash = rules::hash_of(entry);
  return store_.append(entry);
}

Result<void> Journal::take(const LocalRun& run, const std::string& at) {
  return append(run.id, ActKind::take,
                Json::object()
                    .set("benchmark", run.benchmark)
                    .set("dataset", run.dataset)
                    .set("dataset_sha256", run.dataset_sha256)
                    .set("model", run.model)
                    .set("wanted", json_list(run.wanted)),
                at);
}

Result<void> Journal::hold(std::string_view id, const std::vector<sites::MeasuredLevel>& measured,
                           const std::string& at) {
  return append(id, ActKind::hold, Json::object().set("measured", levels_json(measured)), at);
}

Result<void> Journal::fail(std::string_view id, std::string_view reason, const std::string& at) {
  return append(id, ActKind::fail, Json::object().set("reason", reason), at);
}

Result<void> Journal::review(std::string_view id, const std::string& document,
                             const std::string& at) {
  return append(id, ActKind::review, Json::object().set("document", document), at);
}

Result<void> Journal::release(std::string_view id, const std::string& signature,
                              const std::string& at) {
  return append(id, ActKind::release, Json::object().set("signature", signature), at);
}

Result<void> Journal::withhold(std::string_view id, const std::string& at) {
  return append(id, ActKind::withhold, Json::object(), at);
}

std::vector<sites::Act> acts_to_send(const LocalRun& run, RunState at_hub) {
  // The way to each state; a run that is withheld before its review has no review.
  std::vector<ActKind> way;
  switch (run.state) {
    case RunState::ordered:
    case RunState::taken:
    case RunState::refused:
      break;
    case RunState::failed:
      way = {ActKind::fail};
      break;
    case RunState::held:
      way = {ActKind::hold};
      break;
    case RunState::reviewed:
      way = {ActKind::hold, ActKind::review};
      break;
    case RunState::released:
      way = {ActKind::hold, ActKind::review, ActKind::release};
      break;
    case RunState::withheld:
      way = {ActKind::hold, ActKind::withhold};
      break;
  }
  std::vector<sites::Act> out;
  for (const ActKind kind : way) {
    // What the hub has accepted already is not possible there a second time.
    const auto next = sites::next_state(at_hub, kind);
    if (!next) continue;
    at_hub = *next;
    out.push_back(act_of(run, kind));
  }
  return out;
}

}  // namespace assay::site
