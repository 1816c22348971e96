#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "record/clock_map.h"
#include "record/clock_shift.h"
#include "record/event_log.h"

namespace assay::record {
namespace {

// N of events-N.alog; -1 for any other name.
std::int64_t shard_of(const std::filesystem::path& path) {
  constexpr std::string_view kPrefix = "events-";
  const std::string stem = path.stem().string();
  if (path.extension() != ".alog" || !stem.starts_with(kPrefix)) return -1;
  const Result<std::int64_t> shard = parse_int(std::string_view(stem).substr(kPrefix.size()));
  return shard ? *shard : -1;
}

// Merges several shards' marks into those of one run.
class PhaseMerge {
 public:
  explicit PhaseMerge(std::size_t shards) : shards_(shards) {}
  bool tells(const PhaseMark& mark) {
    const std::size_t seen = ++seen_[{mark.phase, mark.step}];
    return seen == (mark.step == PhaseStep::started ? 1 : shards_);
  }

 private:
  std::size_t shards_;
  std::map<std::pair<std::uint16_t, PhaseStep>, std::size_t> seen_{};
};

// One log of the run, with its place in a run of several hosts.
struct Source {
  EventLogReader reader;
  ClockMap map{};                   // of its host
  const RankClock* rank = nullptr;  // nullptr: the run has one host
  std::unique_ptr<ClockShift> shift{};
  std::map<std::uint16_t, PhaseStep> steps{};  // the last that its log has of each phase
  std::uint64_t ended_here = 0;                // queries in flight when its rank died
  const Record* next = nullptr;

  bool died() const { return rank != nullptr && reader.end().end.state == RunState::crashed; }
  Instant at() const { return next->at + map.offset(next->at); }
};

std::string rank_words(const RankClock& rank) {
  return rank.host.empty() ? format("rank {}", rank.rank)
                           : format("rank {} ({})", rank.rank, rank.host);
}

// The other ranks went on: what this one had in flight failed, and its phases ended here.
void end_died(Source& source, PhaseMerge& phases, EventSink& sink) {
  const Instant last = source.reader.end().last;
  if (!last.known()) return;
  source.ended_here = source.shift->end_all(last, rank_words(*source.rank) + " died");
  const std::size_t count = source.reader.info().phases.size();
  for (std::uint16_t phase = 0; phase < count; ++phase) {
    const auto had = source.steps.find(phase);
    for (const PhaseStep step : {PhaseStep::issue_ended, PhaseStep::drained}) {
      if (had != source.steps.end() && had->second >= step) continue;
      const PhaseMark mark{phase, step, last + source.map.offset(last)};
      if (phases.tells(mark)) sink.on_phase(mark);
    }
  }
}

void tell_in_order(std::vector<Source>& sources, EventSink& sink) {
  PhaseMerge phases(sources.size());
  const auto advance = [&](Source& source) {
    source.next = source.reader.next();
    if (source.next == nullptr && source.died()) end_died(source, phases, sink);
  };
  for (Source& source : sources) advance(source);
  for (;;) {
    Source* first = nullptr;
    for (Source& source : sources) {
      if (source.next == nullptr) continue;
      if (first == nullptr || source.at() < first->at()) first = &source;
    }
    if (first == nullptr) return;
    const Record& record = *first->next;
    const bool mark = record.kind == Record::Kind::phase_mark;
    if (mark) first->steps[record.mark.phase] = record.mark.step;
    if (!mark || phases.tells(record.mark)) {
      record.tell(first->shift ? static_cast<EventSink&>(*first->shift) : sink);
    }
    advance(*first);
  }
}

// The end of the whole run is that of its worst shard.
LogEnd together(const std::vector<LogEnd>& shards) {
  LogEnd all = shards.front();
  for (std::size_t i = 1; i < shards.size(); ++i) {
    const LogEnd& shard = shards[i];
    if (shard.end.state > all.end.state) all.end = shard.end;
    if (!shard.trouble.empty()) {
      all.trouble += (all.trouble.empty() ? "" : "; ") + shard.trouble;
    }
    all.bytes_read += shard.bytes_read;
    all.bytes += shard.bytes;
    all.blocks += shard.blocks;
    all.records += shard.records;
    all.lost_records += shard.lost_records;
    all.unfinished += shard.unfinished;
    all.last = std::max(all.last, shard.last);
  }
  return all;
}

}  // namespace

namespace {

// The user named the run's folder, not assay/ in it.
Error no_logs(const std::filesystem::path& folder) {
  const std::filesystem::path run = folder.filename() == "assay" ? folder.parent_path() : folder;
  const std::string name = run.empty() ? "." : run.string();
  std::error_code error;
  if (!std::filesystem::exists(name, error)) {
    return {Code::not_found, format("'{}': no such folder", name)};
  }
  if (!std::filesystem::is_directory(name, error)) {
    return {Code::not_found, format("'{}' is a file, and a run is a folder", name)};
  }
  const bool curve = std::filesystem::exists(run / "curve.json", error);
  if (!curve && std::filesystem::exists(run / "performance/result_summary.json", error) &&
      !std::filesystem::exists(run / "assay", error)) {
    return {Code::not_found,
            format("'{}': a run of the reference client without its events (events.jsonl)\n  "
                   "`assay import` takes its figures as they are",
                   name)};
  }
  if (!curve && std::filesystem::exists(run / "config.yaml", error)) {
    return {Code::not_found,
            format("'{}': the run ended before its load began: there is no event log\n  `assay run "
                   "--report-dir` may use the folder again",
                   name)};
  }
  return {Code::not_found,
          format("'{}' is not a run's folder: no event log (assay/events-0.alog)\n  {}", name,
                 curve ? "it is a curve's; its runs lie below points/"
                       : "`assay run` makes one, `assay convert` of another "
                         "tool's results")};
}

}  // namespace

Result<std::vector<std::filesystem::path>> find_event_logs(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_regular_file(folder, error)) return std::vector{folder};
  std::vector<std::filesystem::path> logs;
  for (const auto& place : {folder / "assay", folder}) {
    for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
      if (shard_of(entry.path()) >= 0) logs.push_back(entry.path());
    }
    if (!logs.empty()) break;
  }
  if (logs.empty()) return no_logs(folder);
  std::sort(logs.begin(), logs.end(),
            [](const auto& a, const auto& b) { return shard_of(a) < shard_of(b); });
  return logs;
}

namespace {

// Where the folder's logs are of several hosts: their clocks. Empty for a run of one.
Result<std::vector<RankClock>> read_clocks(const std::filesystem::path& logs) {
  const std::filesystem::path path = logs / kClocksName;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::vector<RankClock>{};
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto json = Json::parse(text);
  if (!json) return json.error().within(path.string());
  auto ranks = rank_clocks_from_json(*json);
  if (!ranks) return ranks.error().within(path.string());
  return ranks;
}

const RankClock* rank_of(const std::vector<RankClock>& ranks, std::uint32_t shard) {
  for (const RankClock& rank : ranks) {
    if (shard >= rank.shard_first && shard - rank.shard_first < rank.threads) return &rank;
  }
  return nullptr;
}

// A rank that died or is missing cuts its own share off, and not the run.
// `ranks`: those whose records were asked for.
void settle_ranks(const std::vector<Source>& sources, const std::vector<RankClock>& ranks,
                  LogEnd& all) {
  RunEnd worst{RunState::complete, ""};
  std::string lost;
  const auto add = [&lost](const std::string& words) {
    if (lost.find(words) == std::string::npos) lost += (lost.empty() ? "" : "; ") + words;
  };
  for (const Source& source : sources) {
    all.unfinished -= source.ended_here;
    if (source.died()) {
      add(rank_words(*source.rank) + " died before its end");
    } else if (source.reader.end().end.state > worst.state) {
      worst = source.reader.end().end;
    }
  }
  for (const RankClock& rank : ranks) {
    if (!rank.lost.empty()) add(rank_words(rank) + ": " + rank.lost);
  }
  all.end = worst;
  if (lost.empty()) return;
  all.end.state = RunState::interrupted;
  all.end.reason += (all.end.reason.empty() ? "" : "; ") + lost;
}

Result<std::vector<Source>> open_sources(const std::vector<std::filesystem::path>& logs,
                                         const std::vector<RankClock>& ranks, EventSink& sink) {
  std::vector<Source> sources;
  for (const auto& log : logs) {
    ASSIGN_OR_RETURN(EventLogReader reader, EventLogReader::open(log));
    if (!sources.empty() && reader.info().run_id != sources.front().reader.info().run_id) {
      return Error{Code::corrupt,
                   format("{}: of run '{}', beside logs of run '{}'", log.string(),
                          reader.info().run_id, sources.front().reader.info().run_id)};
    }
    Source source{.reader = std::move(reader)};
    if (!ranks.empty()) {
      source.rank = rank_of(ranks, source.reader.info().shard_index);
      if (source.rank == nullptr) {
        return Error{Code::corrupt,
                     format("{}: {} has no rank of this log", log.string(), kClocksName)};
      }
      if (!source.rank->probes.empty()) {
        auto map = ClockMap::make(source.rank->probes);
        if (!map)
          return map.error().within(format("{} of {}", kClocksName, rank_words(*source.rank)));
        source.map = *std::move(map);
      }
    }
    sources.push_back(std::move(source));
  }
  // Their places are fixed now.
  for (Source& source : sources) {
    if (source.rank != nullptr) source.shift = std::make_unique<ClockShift>(source.map, sink);
  }
  return sources;
}

// The logs that the folder should have: a rank's own folder has its own only.
std::size_t logs_expected(const RunInfo& info, const std::vector<RankClock>& ranks) {
  std::size_t lost = 0;
  for (const RankClock& rank : ranks) lost += rank.lost.empty() ? 0 : rank.threads;
  const std::uint64_t of = info.facts["rank"]["of"].as_uint();
  if (ranks.empty() && of > 1) return info.shard_count / of;
  return info.shard_count - std::min<std::size_t>(lost, info.shard_count);
}

}  // namespace

Result<RunReplay> replay_run(const std::filesystem::path& folder, EventSink& sink,
                             std::optional<std::uint32_t> only) {
  ASSIGN_OR_RETURN(auto logs, find_event_logs(folder));
  ASSIGN_OR_RETURN(const auto ranks, read_clocks(logs.front().parent_path()));
  if (only) {
    std::erase_if(logs, [&](const std::filesystem::path& log) {
      const RankClock* rank = rank_of(ranks, static_cast<std::uint32_t>(shard_of(log)));
      return rank == nullptr || rank->rank != *only;
    });
    if (logs.empty()) return no_logs(folder);
  }
  ASSIGN_OR_RETURN(auto sources, open_sources(logs, ranks, sink));
  RunReplay replay{};
  replay.info = sources.front().reader.info();
  replay.ranks = ranks;
  tell_in_order(sources, sink);
  for (const Source& source : sources) replay.shards.push_back(source.reader.end());
  replay.end = together(replay.shards);
  if (!ranks.empty()) {
    settle_ranks(sources, only ? std::vector{ranks[*only]} : ranks, replay.end);
  }
  const std::size_t expected = only ? logs.size() : logs_expected(replay.info, ranks);
  if (replay.shards.size() < expected) {
    replay.end.end = RunEnd{};
    replay.end.trouble +=
        format("{}{} of {} logs are missing", replay.end.trouble.empty() ? "" : "; ",
               expected - replay.shards.size(), expected);
  }
  return replay;
}

}  // namespace assay::record
