#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "record/event_log.h"

namespace assay::record {
namespace {

// N of events-N.alog; -1 for any other name.
std::int64_t shard_of(const std::filesystem::path& path) {
  constexpr std::string_view kPrefix = "events-";
  const std::string stem = path.stem().string();
  if (path.extension() != ".alog" || stem.rfind(kPrefix, 0) != 0) return -1;
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

void tell_in_order(std::vector<EventLogReader>& readers, EventSink& sink) {
  PhaseMerge phases(readers.size());
  std::vector<const Record*> next;
  for (EventLogReader& reader : readers) next.push_back(reader.next());
  for (;;) {
    std::size_t first = readers.size();
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (next[i] == nullptr) continue;
      if (first == readers.size() || next[i]->at < next[first]->at) first = i;
    }
    if (first == readers.size()) return;
    const Record& record = *next[first];
    if (record.kind != Record::Kind::phase_mark || phases.tells(record.mark)) record.tell(sink);
    next[first] = readers[first].next();
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
          format("'{}' is no run's folder: no event log (assay/events-0.alog)\n  {}", name,
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

Result<RunReplay> replay_run(const std::filesystem::path& folder, EventSink& sink) {
  ASSIGN_OR_RETURN(const auto logs, find_event_logs(folder));
  std::vector<EventLogReader> readers;
  for (const auto& log : logs) {
    ASSIGN_OR_RETURN(EventLogReader reader, EventLogReader::open(log));
    if (!readers.empty() && reader.info().run_id != readers.front().info().run_id) {
      return Error{Code::corrupt, format("{}: of run '{}', beside logs of run '{}'", log.string(),
                                         reader.info().run_id, readers.front().info().run_id)};
    }
    readers.push_back(std::move(reader));
  }
  RunReplay replay{};
  replay.info = readers.front().info();
  tell_in_order(readers, sink);
  for (const EventLogReader& reader : readers) replay.shards.push_back(reader.end());
  replay.end = together(replay.shards);
  if (replay.shards.size() < replay.info.shard_count) {
    replay.end.end = RunEnd{};
    replay.end.trouble +=
        format("{}{} of {} logs are missing", replay.end.trouble.empty() ? "" : "; ",
               replay.info.shard_count - replay.shards.size(), replay.info.shard_count);
  }
  return replay;
}

}  // namespace assay::record
