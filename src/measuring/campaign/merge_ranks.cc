#include "campaign/merge_ranks.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "campaign/run_folder.h"
#include "record/client_audit_json.h"
#include "record/event_log.h"
#include "record/folder_claim.h"
#include "record/run_info_json.h"

namespace assay::campaign {
namespace {

struct RankFolder {
  std::filesystem::path folder{};
  std::vector<std::filesystem::path> logs{};
  RunInfo info{};
  std::uint64_t count = 0;  // of ranks
  record::RankClock clock{};
  Json client{};  // null: it died before it was written
};

Result<Json> json_file(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  auto json = Json::parse(text);
  if (!json) return json.error().within(path.string());
  return json;
}

// A rank that died wrote neither its probes nor its client's figures. Without probes its clock is
// not known; on the host of another rank it is that rank's.
Result<RankFolder> read_rank_folder(const std::filesystem::path& folder) {
  RankFolder out{.folder = folder};
  ASSIGN_OR_RETURN(out.logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(out.info, record::read_run_info(out.logs.front()));
  const Json& rank = out.info.facts["rank"];
  out.count = rank["of"].as_uint();
  const std::uint64_t index = rank["index"].as_uint();
  std::error_code ignored;
  if (out.count < 2 || index >= out.count || out.info.shard_count % out.count != 0 ||
      std::filesystem::exists(log_folder(folder) / record::kClocksName, ignored)) {
    return invalid(
        format("'{}': not a rank of a run of several hosts (assay run --rank)", folder.string()));
  }
  const auto threads = static_cast<std::uint32_t>(out.info.shard_count / out.count);
  out.clock = {.rank = static_cast<std::uint32_t>(index),
               .host = std::string(rank["host"].as_string()),
               .shard_first = static_cast<std::uint32_t>(index) * threads,
               .threads = threads};
  const std::filesystem::path clock = log_folder(folder) / record::kRankName;
  if (std::filesystem::exists(clock, ignored)) {
    ASSIGN_OR_RETURN(const Json json, json_file(clock));
    auto read = record::rank_clock_from_json(json);
    if (!read) return read.error().within(clock.string());
    if (read->rank != out.clock.rank || read->shard_first != out.clock.shard_first ||
        read->threads != threads) {
      return Error{Code::corrupt,
                   clock.string() + ": belongs to another rank than the logs beside it"};
    }
    out.clock = *std::move(read);
  }
  const std::filesystem::path client = log_folder(folder) / "client.json";
  if (std::filesystem::exists(client, ignored)) {
    ASSIGN_OR_RETURN(out.client, json_file(client));
  }
  return out;
}

using RankFolders = std::map<std::uint32_t, RankFolder>;

Result<RankFolders> read_rank_folders(const std::vector<std::filesystem::path>& folders) {
  RankFolders out;
  const RankFolder* first = nullptr;
  for (const auto& folder : folders) {
    ASSIGN_OR_RETURN(RankFolder read, read_rank_folder(folder));
    if (first != nullptr &&
        (read.info.run_id != first->info.run_id || read.count != first->count)) {
      return invalid(format("'{}' and '{}' are ranks of different runs", first->folder.string(),
                            folder.string()));
    }
    const std::uint32_t rank = read.clock.rank;
    const auto [place, fresh] = out.emplace(rank, std::move(read));
    if (!fresh) {
      return invalid(format("'{}' and '{}' are both rank {}", place->second.folder.string(),
                            folder.string(), rank));
    }
    if (first == nullptr) first = &place->second;
  }
  if (out.empty()) return invalid("no folder to merge");
  return out;
}

// Where a rank died before it wrote its probes: the clock of a rank on the same host.
void borrow_clock(RankFolder& rank, const RankFolders& all) {
  if (rank.clock.rank == 0 || !rank.clock.probes.empty()) return;
  for (const auto& [other, folder] : all) {
    if (folder.clock.host != rank.clock.host) continue;
    if (other == 0 || !folder.clock.probes.empty()) {
      rank.clock.probes = folder.clock.probes;
      return;
    }
  }
}

bool clock_known(const RankFolder& rank, const RankFolders& all) {
  if (rank.clock.rank == 0 || !rank.clock.probes.empty()) return true;
  const auto zero = all.find(0);
  return zero != all.end() && zero->second.clock.host == rank.clock.host;
}

std::string why_lost(const MergeOptions& options, std::uint32_t rank, const char* otherwise) {
  const auto found = std::ranges::find(options.lost, rank, &ranks::LostRank::rank);
  return found == options.lost.end() ? otherwise : found->why;
}

// The clocks of all ranks; a rank that is missing, or whose clock is unknown, is lost.
Result<std::vector<record::RankClock>> clocks_of(RankFolders& all, const MergeOptions& options) {
  std::vector<record::RankClock> out;
  const auto count = static_cast<std::uint32_t>(all.begin()->second.count);
  const std::uint32_t threads = all.begin()->second.clock.threads;
  std::string missing;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto found = all.find(rank);
    if (found == all.end()) {
      missing += format("{}{}", missing.empty() ? "" : ", ", rank);
      out.push_back({.rank = rank,
                     .shard_first = rank * threads,
                     .threads = threads,
                     .lost = why_lost(options, rank, "its folder is missing")});
      continue;
    }
    borrow_clock(found->second, all);
    out.push_back(found->second.clock);
    if (clock_known(found->second, all)) continue;
    out.back().lost = why_lost(options, rank, "it died") +
                      "; its clock was never compared, so its "
                      "log is not in this run";
    all.erase(found);
  }
  if (!missing.empty() && !options.allow_missing && options.lost.empty()) {
    return invalid(format("rank {} of {} is missing\n  give its folder too, or --allow-missing",
                          missing, count));
  }
  return out;
}

// `same_host`: a rank before it is on the same machine, whose cores and ports are counted.
void add_audit(const ClientAudit& from, bool same_host, ClientAudit& to) {
  const auto most = [](auto& a, const auto& b) { a = std::max(a, b); };
  to.threads.insert(to.threads.end(), from.threads.begin(), from.threads.end());
  most(to.wall, from.wall);
  most(to.canary.watched, from.canary.watched);
  to.canary.gaps_50us += from.canary.gaps_50us;
  to.canary.gaps_1ms += from.canary.gaps_1ms;
  most(to.canary.gap_max, from.canary.gap_max);
  to.own_cpu += std::max(0.0, from.own_cpu);
  most(to.foreign_cpu, from.foreign_cpu);
  most(to.pressure_share, from.pressure_share);
  if (!same_host) to.cores += from.cores;
  most(to.stolen, from.stolen);
  most(to.throttled, from.throttled);
  to.throttled_periods += from.throttled_periods;
  to.connections_opened += from.connections_opened;
  to.connections_inside += from.connections_inside;
  to.connections_failed += from.connections_failed;
  to.queued_for_connection += from.queued_for_connection;
  to.queries_sent_again += from.queries_sent_again;
  to.queries_unprocessed += from.queries_unprocessed;
  to.requests_made_late += from.requests_made_late;
  to.connections_peak += from.connections_peak;
  to.connections_max += from.connections_max;
  to.descriptors_max += from.descriptors_max;
  if (!same_host) to.ports += from.ports;
  to.retransmits += from.retransmits;
  to.reads += from.reads;
  to.reads_stamped += from.reads_stamped;
  to.memory_bytes_max += from.memory_bytes_max;  // each rank's budget is its own
  to.memory_bytes_peak += from.memory_bytes_peak;
  most(to.stamp_error_max, from.stamp_error_max);
  most(to.stamp_slew_max, from.stamp_slew_max);
  to.lost_records += from.lost_records;
  most(to.disk_full_at, from.disk_full_at);
  if (to.disk_error.empty()) to.disk_error = from.disk_error;
  to.backoffs = std::max(to.backoffs, from.backoffs);
  most(to.backed_off, from.backed_off);
  if (to.settings.empty()) to.settings = from.settings;
}

// All ranks' figures together, and each one's own.
Json client_of(const RankFolders& all) {
  ClientAudit together;
  together.own_cpu = 0;
  Json ranks = Json::array();
  std::set<std::string> hosts;
  for (const auto& [rank, folder] : all) {
    if (folder.client.is_null()) continue;
    const bool same_host = !hosts.insert(folder.clock.host).second;
    add_audit(record::client_audit_from_json(folder.client), same_host, together);
    Json own = folder.client;
    ranks.push_back(std::move(own.set("rank", rank)));
  }
  if (ranks.items().empty()) return {};
  return std::move(record::client_audit_to_json(together).set("ranks", std::move(ranks)));
}

Result<void> copy_logs(const RankFolders& all, const std::filesystem::path& to) {
  for (const auto& [rank, folder] : all) {
    for (const auto& log : folder.logs) {
      std::error_code error;
      std::filesystem::copy_file(log, to / log.filename(), error);
      if (!error) continue;
      const Code code = error == std::errc::no_space_on_device ? Code::exhausted : Code::io;
      return Error{code, format("cannot copy '{}': {}", log.string(), error.message())};
    }
  }
  return {};
}

// The ranks' counts by a tokenizer, if all of them have one: a file has a head and then a line for
// each query.
Result<void> join_token_counts(const RankFolders& all, const std::filesystem::path& out) {
  std::string text;
  for (const auto& [rank, folder] : all) {
    const std::filesystem::path path = audit::token_counts_file(folder.folder);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {};
    ASSIGN_OR_RETURN(const std::string own, read_file(path));
    const std::size_t head = own.find('\n');
    if (head == std::string::npos) return Error{Code::corrupt, path.string() + ": no head"};
    text += text.empty() ? own : own.substr(head + 1);
  }
  return write_file_atomic(audit::token_counts_file(out), text);
}

}  // namespace

Result<audit::LoadedRun> merge_ranks(const std::vector<std::filesystem::path>& folders,
                                     const std::filesystem::path& out,
                                     const MergeOptions& options) {
  ASSIGN_OR_RETURN(RankFolders all, read_rank_folders(folders));
  ASSIGN_OR_RETURN(const auto clocks, clocks_of(all, options));
  ASSIGN_OR_RETURN(const auto claim, record::FolderClaim::take(out));
  if (record::find_event_logs(log_folder(out))) {
    return invalid(format("'{}' holds a run already\n  name another folder", out.string()));
  }
  TRY(make_folders(log_folder(out)));
  ASSIGN_OR_RETURN(const std::string config, read_file(all.begin()->second.folder / "config.yaml"));
  TRY(write_file_atomic(out / "config.yaml", config));
  TRY(write_file_atomic(log_folder(out) / record::kClocksName,
                        record::to_json(clocks).dump() + "\n"));
  TRY(copy_logs(all, log_folder(out)));
  TRY(join_token_counts(all, out));
  if (const Json client = client_of(all); !client.is_null()) {
    TRY(write_file_atomic(log_folder(out) / "client.json", client.dump(2) + "\n"));
  }
  // The command that measured, as in the logs: merging changes no figure.
  std::vector<std::string> command;
  for (const Json& word : all.begin()->second.info.command.items()) {
    command.emplace_back(word.as_string());
  }
  return publish(out, {.command = std::move(command)});
}

}  // namespace assay::campaign
