#include "campaign/safety/asked_series.h"

#include <optional>
#include <utility>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
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

Result<void> add_run(const SeriesWish& wish, std::size_t number,
                     std::map<std::string, AskedReply>& out) {
  ASSIGN_OR_RETURN(const auto uids, uids_of(rows_of(wish, number)));
  ASSIGN_OR_RETURN(auto replies, safety::read_replies(audit::log_folder(run_of(wish, number))));
  for (auto& [row, reply] : replies) {
    if (row >= uids.size()) {
      return Error{Code::corrupt, format("'{}' has a reply to row {}, and {} rows were asked",
                                         run_of(wish, number).string(), row + 1, uids.size())};
    }
    AskedReply& one = out[uids[row]];
    one.asked += reply.failed + (reply.answered ? 1 : 0);
    if (!reply.answered || one.accepted) continue;
    one.answered = true;
    one.accepted = !wish.accepts || wish.accepts(uids[row], reply.text);
    one.text = std::move(reply.text);
  }
  return {};
}

std::size_t runs_in(const SeriesWish& wish) {
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
  config.settings.recording.keep_text = plan::Switch::on;
  config.report_dir = run_of(wish, number).string();
  return config;
}

Result<SeriesEnd> ask_once(const SeriesWish& wish, std::size_t number,
                           const std::vector<const AskedRow*>& rows, const ClientOptions& client,
                           Preflight& preflight, run::Control& control) {
  std::string text;
  for (const AskedRow* const row : rows) {
    text += Json(row->row).set("prompt_uid", row->uid).dump() + '\n';
  }
  TRY(write_file_atomic(rows_of(wish, number), text));
  const plan::Config config = config_of(wish, number);
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(config));
  ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(config, std::move(datasets)));
  RunRequest request{.config = &config, .bundle = &bundle, .folder = run_of(wish, number)};
  request.preflight = &preflight;
  request.command = wish.command;
  ASSIGN_OR_RETURN(const RecordedRun recorded, record_run(request, client, Watch(), control));
  SeriesEnd out;
  if (recorded.run.point.end.state == RunState::complete) return out;
  out.finished = false;
  out.ending = ending_of(recorded, client);
  return out;
}

}  // namespace

Result<std::map<std::string, AskedReply>> load_series(const SeriesWish& wish) {
  std::map<std::string, AskedReply> out;
  const std::size_t runs = runs_in(wish);
  for (std::size_t number = 1; number <= runs; ++number) TRY(add_run(wish, number, out));
  return out;
}

Result<SeriesEnd> ask_series(const SeriesWish& wish, const std::vector<AskedRow>& rows,
                             const ClientOptions& client, Preflight& preflight,
                             run::Control& control) {
  std::optional<std::uint64_t> before;
  for (std::size_t number = runs_in(wish) + 1; number <= kRunsMax; ++number) {
    ASSIGN_OR_RETURN(const auto replies, load_series(wish));
    std::vector<const AskedRow*> open;
    std::uint64_t asked = 0;
    for (const AskedRow& row : rows) {
      const auto found = replies.find(row.uid);
      const bool done =
          found != replies.end() && (found->second.accepted || found->second.asked > wish.retries);
      if (found != replies.end()) asked += found->second.asked;
      if (!done) open.push_back(&row);
    }
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
