#include "campaign/safety/asked_series.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/safety/sealed_replies.h"
#include "plan/make_plan.h"
#include "safety/replies.h"

namespace assay::campaign {
namespace {

constexpr std::size_t kRunsMax = 1000;

std::filesystem::path run_of(const SeriesWish& wish, std::size_t number) {
  return wish.folder / format("{:02}", number);
}
std::filesystem::path rows_of(const SeriesWish& wish, std::size_t number) {
  return wish.folder / format("{:02}.jsonl", number);
}

std::filesystem::path sealed_of(const SeriesWish& wish, std::size_t number) {
  return wish.folder / format("{:02}.sealed", number);
}

// A row's replies in one run. A sealed run has their texts in a file beside its log; an answer that
// is in one of them alone was cut off by a kill, and counts as one without an end.
Result<std::map<std::uint32_t, safety::RowReply>> replies_of(const SeriesWish& wish,
                                                             std::size_t number) {
  ASSIGN_OR_RETURN(auto replies, safety::read_replies(audit::log_folder(run_of(wish, number))));
  if (!wish.seal) return replies;
  ASSIGN_OR_RETURN(auto texts, read_sealed_replies(sealed_of(wish, number), *wish.seal));
  for (auto& [row, reply] : replies) {
    if (!reply.answered) continue;
    const auto found = texts.find(row);
    reply.answered = found != texts.end();
    reply.answers = reply.answered ? reply.answers : 0;
    if (reply.answered) reply.text = std::move(found->second);
  }
  std::erase_if(replies,
                [](const auto& one) { return one.second.answers + one.second.failed == 0; });
  return replies;
}

Result<std::vector<std::string>> uids_of(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  std::vector<std::string> out;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto row = Json::parse(line);
    if (!row) return row.error().within(path.string());
    out.emplace_back((*row)["prompt_uid"].as_string());
  }
  return out;
}

Result<void> add_series_run(const SeriesWish& wish, std::size_t number,
                            std::map<std::string, AskedReply>& out) {
  ASSIGN_OR_RETURN(const auto uids, uids_of(rows_of(wish, number)));
  ASSIGN_OR_RETURN(auto replies, replies_of(wish, number));
  for (auto& [row, reply] : replies) {
    if (row >= uids.size()) {
      return Error{Code::corrupt, format("'{}' has a reply to row {}, and {} rows were asked",
                                         run_of(wish, number).string(), row + 1, uids.size())};
    }
    AskedReply& one = out[uids[row]];
    one.asked += reply.failed + reply.answers;
    one.timed_out += reply.timed_out;
    if (!reply.answered || one.accepted) continue;
    one.answered = true;
    one.accepted = !wish.accepts || wish.accepts(uids[row], reply.text);
    one.text = std::move(reply.text);
  }
  return {};
}

std::size_t series_runs(const SeriesWish& wish) {
  std::size_t number = 1;
  while (number <= kRunsMax && std::filesystem::exists(rows_of(wish, number))) ++number;
  return number - 1;
}

// The load is the user's; what is asked is each row once.
plan::Config config_of(const SeriesWish& wish, std::size_t number) {
  plan::Config config = wish.config;
  config.datasets = {{.name = "safety", .path = rows_of(wish, number).string()}};
  plan::Runtime& runtime = config.settings.runtime;
  runtime.passes = 1;
  runtime.n_samples_to_issue.reset();
  runtime.duration.reset();
  runtime.min_duration.reset();
  config.settings.recording.keep_text = wish.seal ? plan::Switch::off : plan::Switch::on;
  if (wish.seal) {
    // The first would write the prompts; the second shows what a server says of one.
    config.settings.recording.events_jsonl = false;
    config.settings.guard.preflight = false;
  }
  config.report_dir = run_of(wish, number).string();
  return config;
}

std::string line_of(const SeriesWish& wish, const AskedRow& row) {
  if (wish.seal) return Json().set("prompt_uid", row.uid).dump() + '\n';
  return Json(row.row).set("prompt_uid", row.uid).dump() + '\n';
}

// The rows that may be asked (again), given what earlier runs recorded.
std::vector<const AskedRow*> open_rows(const SeriesWish& wish, const std::vector<AskedRow>& rows,
                                       const std::map<std::string, AskedReply>& replies) {
  std::vector<const AskedRow*> out;
  for (const AskedRow& row : rows) {
    const auto found = replies.find(row.uid);
    const bool done =
        found != replies.end() && (found->second.accepted || found->second.asked > wish.retries);
    if (!done) out.push_back(&row);
  }
  return out;
}

// Puts the secret rows in the place of the file's, in memory.
plan::RowMaker row_maker(const SeriesWish& wish, const std::vector<const AskedRow*>& rows) {
  if (!wish.seal) return {};
  auto by_uid = std::make_shared<std::map<std::string, const AskedRow*, std::less<>>>();
  for (const AskedRow* const row : rows) by_uid->emplace(row->uid, row);
  return [by_uid](Json row) -> Result<Json> {
    const auto found = by_uid->find(row["prompt_uid"].as_string());
    if (found == by_uid->end()) return invalid("a row that is not of this run");
    return found->second->row;
  };
}

Result<SeriesEnd> ask_once(const SeriesWish& wish, std::size_t number,
                           const std::vector<const AskedRow*>& rows, const ClientOptions& client,
                           Preflight& preflight, run::Control& control) {
  std::string text;
  for (const AskedRow* const row : rows) text += line_of(wish, *row);
  TRY(write_file_atomic(rows_of(wish, number), text));
  const plan::Config config = config_of(wish, number);
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(config, row_maker(wish, rows)));
  ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(config, std::move(datasets)));
  bundle.confidential = wish.seal.has_value();
  std::unique_ptr<SealedReplies> sealed;
  if (wish.seal) {
    ASSIGN_OR_RETURN(sealed, SealedReplies::open(sealed_of(wish, number), *wish.seal, bundle.plan));
  }
  RunRequest request{.config = &config, .bundle = &bundle, .folder = run_of(wish, number)};
  request.also = sealed.get();
  request.preflight = &preflight;
  request.command = wish.command;
  ASSIGN_OR_RETURN(const RecordedRun recorded, record_run(request, client, LiveView(), control));
  if (sealed) TRY(sealed->finish());
  SeriesEnd out;
  if (recorded.run.point.end.state == RunState::complete) return out;
  out.finished = false;
  out.ending = ending_of(recorded, client);
  return out;
}

}  // namespace

Result<std::map<std::string, AskedReply>> load_series(const SeriesWish& wish) {
  std::map<std::string, AskedReply> out;
  const std::size_t runs = series_runs(wish);
  for (std::size_t number = 1; number <= runs; ++number) TRY(add_series_run(wish, number, out));
  return out;
}

Result<std::vector<std::string>> check_series(const SeriesWish& wish,
                                              const std::vector<AskedRow>& rows) {
  std::vector<std::string> out;
  std::map<std::string, AskedReply> replies;
  const std::size_t runs = series_runs(wish);
  const std::string name = wish.folder.filename().string();
  for (std::size_t number = 1; number <= runs; ++number) {
    std::string wanted;
    for (const AskedRow* const row : open_rows(wish, rows, replies)) {
      wanted += line_of(wish, *row);
    }
    ASSIGN_OR_RETURN(const std::string text, read_file(rows_of(wish, number)));
    if (text != wanted) {
      out.push_back(format("{}/{:02}.jsonl is not what was to be asked then", name, number));
    }
    ASSIGN_OR_RETURN(const auto ended, replies_of(wish, number));
    const auto twice = std::ranges::count_if(
        ended, [](const auto& one) { return one.second.answers + one.second.failed > 1; });
    if (twice > 0) out.push_back(format("{}/{:02}: {} rows were asked twice", name, number, twice));
    TRY(add_series_run(wish, number, replies));
  }
  if (const std::size_t open = open_rows(wish, rows, replies).size(); open > 0) {
    out.push_back(format("{}: {} rows are still to be asked", name, open));
  }
  return out;
}

Result<SeriesEnd> ask_series(const SeriesWish& wish, const std::vector<AskedRow>& rows,
                             const ClientOptions& client, Preflight& preflight,
                             run::Control& control) {
  std::optional<std::uint64_t> before;
  for (std::size_t number = series_runs(wish) + 1; number <= kRunsMax; ++number) {
    ASSIGN_OR_RETURN(const auto replies, load_series(wish));
    const std::vector<const AskedRow*> open = open_rows(wish, rows, replies);
    std::uint64_t asked = 0;
    for (const auto& [uid, reply] : replies) asked += reply.asked;
    if (open.empty()) return SeriesEnd();
    // Each run that was not stopped ends some queries; a series that stands still would never end.
    if (before && asked <= *before) {
      SeriesEnd out{.finished = false};
      out.ending.add(ExitCode::unreachable,
                     format("{} rows have no end in the log of the run before", open.size()));
      return out;
    }
    before = asked;
    ASSIGN_OR_RETURN(const SeriesEnd end, ask_once(wish, number, open, client, preflight, control));
    if (!end.finished) return end;
  }
  return Error{Code::exhausted,
               format("'{}' holds {} runs; no more are begun", wish.folder.string(), kRunsMax)};
}

}  // namespace assay::campaign
