// RunColumns: a recorded run as two tables (columns.h), for programs that compute on it themselves.
// docs/guide/python.md explains every column.
//
//   events     one row a query, of every phase, in the order of their ends; then those that have no
//              end in the log
//   fragments  one row an event of a reply's stream, together for each query, in the rows' order of
//              `events`; `row` is the query's row there
//
// The figures of a row are those that a Point is made of (metrics/point.h): the percentiles of the
// rows that are `measured` and ok are the Point's, by the same rule (distribution.h). One
// exception: a reply of several choices has one TPOT here, the mean of its choices.
//
// An EventSink for one thread. Memory: about 300 bytes a query and 50 an event of a stream.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/open_queries.h"
#include "domain/quiet_sink.h"
#include "domain/run_info.h"
#include "interchange/write/columns.h"
#include "metrics/token_counts.h"
#include "metrics/token_truth.h"

namespace assay::interchange {

class RunColumns final : public QuietSink {
 public:
  // `counts` outlive the object; null: the run was not counted.
  explicit RunColumns(const RunInfo& info, const metrics::TokenCounts* counts = nullptr);
  ~RunColumns() override;
  RunColumns(const RunColumns&) = delete;
  RunColumns& operator=(const RunColumns&) = delete;

  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // After the last event: the queries without an end get their rows. The object is used up.
  void finish(std::shared_ptr<const Columns>& events, std::shared_ptr<const Columns>& fragments);

 private:
  struct EventTable;
  struct FragmentTable;
  struct Open {
    Query query{};
    Instant due{};
    Instant sent = Instant::none();
    std::vector<StreamEvent> stream{};
  };

  Open& open(const Query& query);
  void add_fragments(const Open& reply, bool measured);
  PhaseKind kind_of(std::uint16_t phase) const;

  const metrics::TokenCounts* counts_;
  std::vector<PhaseKind> kinds_{};
  bool gaps_recorded_;
  metrics::ReplyEvidence evidence_{};
  metrics::TokenTruth truth_{};
  OpenQueries<Open> in_flight_{256};
  std::shared_ptr<Columns> event_columns_;
  std::shared_ptr<Columns> fragment_columns_;
  std::unique_ptr<EventTable> events_;
  std::unique_ptr<FragmentTable> fragments_;
};

struct LoadedColumns {
  std::shared_ptr<const Columns> events{};
  std::shared_ptr<const Columns> fragments{};
  // {run_id, plan_digest, assay, started_ns, clock_offset_ns, simulated, phases, facts, state,
  // reason, trouble, lost_records}: `clock_offset_ns` added to an instant is ns since 1970 UTC.
  Json info{};
};

// Reads a run's folder, or one event log.
Result<LoadedColumns> load_columns(const std::filesystem::path& run);

}  // namespace assay::interchange
