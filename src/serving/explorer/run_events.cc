#include "explorer/run_events.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>

#include "base/format.h"
#include "base/json.h"
#include "domain/quiet_sink.h"
#include "interchange/read/run_view.h"
#include "record/event_log.h"

namespace assay::explorer {
namespace {

constexpr std::size_t kRunsKept = 3;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::uint64_t key_of(const Query& query) {
  return (std::uint64_t{query.phase} << 32) | query.index;
}

// Reads a run and keeps the columns of a waterfall.
class Fold final : public QuietSink {
 public:
  void on_phase(const PhaseMark& mark) override { note(mark.at); }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    note(due);
    note(sent);
    Open& open = open_[key_of(query)];
    open.row.due = static_cast<double>(due.ns);
    open.row.sent = static_cast<double>(sent.ns);
  }
  void on_stream_event(const Query& query, const StreamEvent& event, std::string_view) override {
    note(event.arrival);
    if (!is_fragment(event.category)) return;
    Open& open = open_[key_of(query)];
    const auto at = static_cast<double>(event.arrival.ns);
    if (!open.fragments.empty()) {
      open.row.gap_max =
          std::max(open.row.gap_max, static_cast<float>(at - open.fragments.back().at));
    }
    open.fragments.push_back({at, event.bytes, static_cast<std::uint8_t>(event.category)});
  }
  void on_done(const Event& event, std::string_view) override {
    note(event.done);
    Open& open = open_[key_of(event.query)];
    StreamRow& row = open.row;
    row.query = event.query.index;
    row.phase = event.query.phase;
    row.sample = event.query.sample;
    row.outcome = static_cast<std::uint8_t>(event.outcome);
    row.due = number(event.due);
    row.sent = number(event.sent);
    row.first_token = number(event.first_token);
    row.last_token = number(event.last_token);
    row.done = number(event.done);
    finish(open);
    open_.erase(key_of(event.query));
  }

  RunEvents take() {
    // Queries in flight when the log ended.
    for (auto& [key, open] : open_) {
      open.row.query = static_cast<std::uint32_t>(key);
      open.row.phase = static_cast<std::uint16_t>(key >> 32);
      open.row.outcome = static_cast<std::uint8_t>(Outcome::cancelled);
      open.row.first_token = open.fragments.empty() ? kNone : open.fragments.front().at;
      open.row.last_token = open.fragments.empty() ? kNone : open.fragments.back().at;
      open.row.done = kNone;
      finish(open);
    }
    open_.clear();
    const auto origin = static_cast<double>(began_.ns);
    const auto to_ms = [origin](double ns) { return (ns - origin) * 1e-6; };
    for (StreamRow& row : run_.streams) {
      for (double* at : {&row.due, &row.sent, &row.first_token, &row.last_token, &row.done}) {
        *at = to_ms(*at);
      }
      row.gap_max *= 1e-6F;
    }
    for (FragmentRow& fragment : run_.fragments) fragment.at = to_ms(fragment.at);
    run_.run_ms = ended_ > began_ ? (ended_ - began_).ms() : 0;
    std::ranges::sort(run_.streams, {}, [](const StreamRow& row) { return start_of(row); });
    set_lanes();
    return std::move(run_);
  }

 private:
  struct Open {
    StreamRow row{};
    std::vector<FragmentRow> fragments{};
  };

  static double number(Instant at) { return at.known() ? static_cast<double>(at.ns) : kNone; }
  static double start_of(const StreamRow& row) { return std::isnan(row.sent) ? row.due : row.sent; }

  void note(Instant at) {
    if (!at.known()) return;
    began_ = std::min(began_, at);
    ended_ = std::max(ended_, at);
  }

  void finish(Open& open) {
    open.row.first_fragment = run_.fragments.size();
    open.row.fragments = static_cast<std::uint32_t>(open.fragments.size());
    run_.fragments.insert(run_.fragments.end(), open.fragments.begin(), open.fragments.end());
    run_.streams.push_back(open.row);
  }

  // Assigns the lowest free lane, so that there are as many lanes as the peak of queries in flight.
  void set_lanes() {
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
    using End = std::pair<double, std::uint32_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> busy;
    for (StreamRow& row : run_.streams) {
      const double start = start_of(row);
      while (!busy.empty() && busy.top().first <= start) {
        free.push(busy.top().second);
        busy.pop();
      }
      if (free.empty()) free.push(run_.lanes++);
      row.lane = free.top();
      free.pop();
      busy.emplace(std::isnan(row.done) ? std::numeric_limits<double>::infinity() : row.done,
                   row.lane);
    }
  }

  RunEvents run_{};
  std::unordered_map<std::uint64_t, Open> open_{};
  Instant began_ = Instant::max();
  Instant ended_ = Instant::none();
};

// Microseconds are finer than any screen can show.
void append_ms(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "null";
  } else {
    format_to(std::back_inserter(out), "{:.3f}", value);
  }
}

bool overlaps(const StreamRow& row, double from, double to, const EventWindow& window) {
  const double start = std::isnan(row.sent) ? row.due : row.sent;
  const bool ended_before = !std::isnan(row.done) && row.done < from;
  return !ended_before && start <= to && row.lane >= window.from_lane && row.lane < window.to_lane;
}

template <typename Get>
void append_column(std::string& out, std::string_view name,
                   const std::vector<const StreamRow*>& rows, Get get) {
  format_to(std::back_inserter(out), "{}\"{}\":[", out.back() == '{' ? "" : ",", name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) out += ',';
    const auto value = get(*rows[i]);
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      append_ms(out, static_cast<double>(value));
    } else {
      format_to(std::back_inserter(out), "{}", value);
    }
  }
  out += ']';
}

void append_streams(std::string& out, const std::vector<const StreamRow*>& rows) {
  out += "\"streams\":{";
  append_column(out, "query", rows, [](const StreamRow& r) { return r.query; });
  append_column(out, "phase", rows, [](const StreamRow& r) { return r.phase; });
  append_column(out, "sample", rows, [](const StreamRow& r) { return r.sample; });
  append_column(out, "lane", rows, [](const StreamRow& r) { return r.lane; });
  append_column(out, "due_ms", rows, [](const StreamRow& r) { return r.due; });
  append_column(out, "sent_ms", rows, [](const StreamRow& r) { return r.sent; });
  append_column(out, "first_token_ms", rows, [](const StreamRow& r) { return r.first_token; });
  append_column(out, "last_token_ms", rows, [](const StreamRow& r) { return r.last_token; });
  append_column(out, "done_ms", rows, [](const StreamRow& r) { return r.done; });
  append_column(out, "fragments", rows, [](const StreamRow& r) { return r.fragments; });
  append_column(out, "gap_ms_max", rows, [](const StreamRow& r) {
    return r.fragments > 1 ? static_cast<double>(r.gap_max) : kNone;
  });
  append_column(out, "outcome", rows, [](const StreamRow& r) { return int{r.outcome}; });
  out += '}';
}

void append_fragments(std::string& out, const RunEvents& run,
                      const std::vector<const StreamRow*>& rows, double from, double to) {
  std::string streams;
  std::string at;
  std::string bytes;
  std::string categories;
  std::size_t total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i]->fragments; ++k) {
      const FragmentRow& fragment = run.fragments[rows[i]->first_fragment + k];
      if (fragment.at < from || fragment.at > to || ++total > kFragmentsMax) continue;
      const char* comma = total > 1 ? "," : "";
      format_to(std::back_inserter(streams), "{}{}", comma, i);
      format_to(std::back_inserter(at), "{}{:.3f}", comma, fragment.at);
      format_to(std::back_inserter(bytes), "{}{}", comma, fragment.bytes);
      format_to(std::back_inserter(categories), "{}{}", comma, int{fragment.category});
    }
  }
  format_to(std::back_inserter(out),
            ",\"fragments_total\":{},\"fragments\":{{\"stream\":[{}],\"at_ms\":[{}],"
            "\"bytes\":[{}],\"category\":[{}]}}",
            total, streams, at, bytes, categories);
}

}  // namespace

Result<RunEvents> read_run_events(const std::filesystem::path& run_folder) {
  Fold fold;
  ASSIGN_OR_RETURN(const interchange::RunView view, interchange::RunView::open(run_folder));
  const std::filesystem::path logs = std::filesystem::path(view.folder()) / "assay";
  ASSIGN_OR_RETURN(const record::RunReplay replay, record::replay_run(logs, fold));
  RunEvents run = fold.take();
  for (const PhaseInfo& phase : replay.info.phases) run.phases.push_back(phase.name);
  return run;
}

std::string events_document(const RunEvents& run, const EventWindow& window) {
  const double from = std::max(0.0, window.from_ms);
  const double to = window.to_ms < 0 ? run.run_ms : window.to_ms;
  std::vector<const StreamRow*> rows;
  for (const StreamRow& row : run.streams) {
    if (overlaps(row, from, to, window)) rows.push_back(&row);
  }
  const std::size_t total = rows.size();
  const std::size_t step = std::max<std::size_t>(1, (total + window.limit - 1) / window.limit);
  if (step > 1) {
    std::vector<const StreamRow*> kept;
    for (std::size_t i = 0; i < total; i += step) kept.push_back(rows[i]);
    rows = std::move(kept);
  }
  Json names = Json::array();
  for (int i = 0; i < kOutcomes; ++i) names.push_back(to_string(static_cast<Outcome>(i)));
  Json phases = Json::array();
  for (const std::string& phase : run.phases) phases.push_back(phase);
  std::string out = format(
      "{{\"from_ms\":{:.3f},\"to_ms\":{:.3f},\"run_ms\":{:.3f},\"lanes\":{},\"total\":{},"
      "\"step\":{},\"outcomes\":{},\"phases\":{},",
      from, to, run.run_ms, run.lanes, total, step, names.dump(), phases.dump());
  append_streams(out, rows);
  if (window.tokens) append_fragments(out, run, rows, from, to);
  return out + "}";
}

Result<std::shared_ptr<const RunEvents>> ServedRuns::get(const std::string& folder) {
  std::error_code error;
  const std::uintmax_t bytes =
      std::filesystem::file_size(std::filesystem::path(folder) / "assay/events-0.alog", error);
  const auto known = std::ranges::find(entries_, folder, &Entry::folder);
  if (known != entries_.end() && known->bytes == bytes) {
    entries_.splice(entries_.begin(), entries_, known);
    return entries_.front().run;
  }
  if (known != entries_.end()) entries_.erase(known);
  ASSIGN_OR_RETURN(RunEvents run, read_run_events(folder));
  entries_.push_front({folder, bytes, std::make_shared<const RunEvents>(std::move(run))});
  if (entries_.size() > kRunsKept) entries_.pop_back();
  return entries_.front().run;
}

}  // namespace assay::explorer
