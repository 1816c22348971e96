// What a run of several hosts says of its ranks.
#include "audit/rank_span.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "audit/loaded_run.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "metrics/testing_small_run.h"
#include "record/client_audit_json.h"
#include "record/clock_map.h"

namespace assay::audit {
namespace {

RankPart part_of(std::uint32_t rank, std::vector<InnocenceReason> reasons = {}) {
  RankPart out{.rank = rank, .host = "h"};
  for (const InnocenceReason& reason : reasons) {
    out.innocence.client_limited = std::max(out.innocence.client_limited, reason.weight);
  }
  out.innocence.reasons = std::move(reasons);
  return out;
}

TEST(RankSpan, one_ranks_client_is_the_runs) {
  EXPECT_EQ(judge_ranks({.ranks = {part_of(0), part_of(1)}}).client_limited, ClientLimited::no);
  const RankSpan span{.ranks = {part_of(0), part_of(1, {{ClientLimited::yes, "late", "mend"}})}};
  const Innocence verdict = judge_ranks(span);
  EXPECT_EQ(verdict.client_limited, ClientLimited::yes);
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_EQ(verdict.reasons[0].what, "rank 1: late");
  EXPECT_EQ(verdict.reasons[0].advice, "mend");
}

TEST(RankSpan, a_reason_of_several_ranks_stands_once_and_the_gravest_first) {
  const RankSpan span{.ranks = {part_of(0, {{ClientLimited::suspected, "busy", "a"}}),
                                part_of(2, {{ClientLimited::suspected, "busy", "a"},
                                            {ClientLimited::yes, "late", "b"}}),
                                part_of(3, {{ClientLimited::suspected, "busy", "a"}})}};
  const Innocence verdict = judge_ranks(span);
  ASSERT_EQ(verdict.reasons.size(), 2U);
  EXPECT_EQ(verdict.reasons[0].what, "rank 2: late");
  EXPECT_EQ(verdict.reasons[1].what, "rank 0, rank 2, rank 3: busy");
  EXPECT_EQ(verdict.client_limited, ClientLimited::yes) << "the gravest is the verdict";
}

TEST(RankSpan, clocks_that_leave_a_rate_open_are_a_doubt) {
  const auto verdict = [](double error) {
    return judge_ranks({.ranks = {part_of(0)}, .bound = 3_ms, .rate_error = error});
  };
  EXPECT_EQ(verdict(0.05).client_limited, ClientLimited::no);
  EXPECT_EQ(verdict(0.051).client_limited, ClientLimited::suspected);
  EXPECT_EQ(verdict(0.20).client_limited, ClientLimited::suspected);
  EXPECT_EQ(verdict(0.201).client_limited, ClientLimited::yes);
  EXPECT_EQ(verdict(0.10).reasons[0].what,
            "the ranks' clocks leave 10 % of every rate open: they are known to 3.00 ms");
}

TEST(RankSpan, a_spread_that_the_clocks_cannot_tell_is_no_figure) {
  RankSpan span{.ranks = {part_of(0), part_of(1)}, .bound = 2_ms, .start_spread = 2_ms};
  span.ranks[1].host = "g";
  EXPECT_TRUE(to_json(span)["start_spread_ns"].is_null());
  EXPECT_EQ(ranks_text(span), "2 ranks on 2 hosts; clocks within 2.00 ms; started within 2.00 ms");
  span.start_spread = 1_ms;
  EXPECT_EQ(ranks_text(span), "2 ranks on 2 hosts; clocks within 2.00 ms; started within 2.00 ms");
  span.start_spread = 2_ms + 1_us;
  EXPECT_EQ(to_json(span)["start_spread_ns"].as_int(), 2'001'000);
  span.start_spread = 5_ms;
  span.ranks[1].host = "h";
  span.ranks[1].lost = "its disk is gone";
  EXPECT_EQ(
      ranks_text(span),
      "2 ranks on 1 host; clocks within 2.00 ms; started within 5.00 ms; rank 1 was lost: its "
      "disk is gone");
}

TEST(RankSpan, its_json_has_each_rank) {
  RankSpan span{.ranks = {part_of(0), part_of(1, {{ClientLimited::yes, "late", ""}})},
                .bound = 2_us,
                .start_spread = 1_ms,
                .rate_error = 0.25};
  span.ranks[1].lost = "gone";
  span.ranks[1].offset = 7_us;
  span.ranks[1].drift_ppm = 1.5;
  span.ranks[1].bound = 2_us;
  EXPECT_EQ(to_json(span).dump(),
            R"({"count":2,"clock_bound_ns":2000,"start_spread_ns":1000000,"rate_error":0.25,)"
            R"("ranks":[{"rank":0,"host":"h","clock_offset_ns":0,"clock_drift_ppm":0.0,)"
            R"("clock_bound_ns":0,"client_limited":"no"},{"rank":1,"host":"h","lost":"gone",)"
            R"("clock_offset_ns":7000,"clock_drift_ppm":1.5,"clock_bound_ns":2000,)"
            R"("client_limited":"yes"}]})");
}

// Two ranks that do the small run each; rank 1's clock is half a second behind and 100 ppm slow,
// and its probes took 2 µs. There is none for a second after the run, so its time there is not well
// known.
class MergedRun {
 public:
  explicit MergedRun(std::uint32_t ranks = 2) : ranks_(ranks) {
    std::filesystem::create_directories(logs());
  }
  std::filesystem::path logs() const { return log_folder(folder_.path()); }
  const std::filesystem::path& root() const { return folder_.path(); }
  void rank(std::uint32_t index, bool ends) const {
    RunInfo info = metrics::named_run("poisson");
    info.shard_index = index;
    info.shard_count = ranks_;
    info.facts.set("rank", Json().set("index", index).set("of", ranks_).set("host", "h"));
    auto writer = record::EventLogWriter::create(logs() / format("events-{}.alog", index), info);
    ASSERT_TRUE(writer) << writer.error().message;
    Renamed renamed(**writer, index, ranks_);
    metrics::tell_run(renamed);
    if (ends) {
      ASSERT_TRUE((*writer)->close({RunState::complete, ""}));
    }
  }
  static std::vector<record::ClockProbe> probes(Duration ahead = 500_ms, Duration way = 1_us) {
    std::vector<record::ClockProbe> out;
    for (std::int64_t ms = 0; ms <= 4'000; ms += ms == 3'000 ? 1'000 : 100) {
      const Instant asked = metrics::at_ms(ms);
      const Instant there = asked + way + ahead + 100_ns * ms;
      out.push_back({asked, there, there, asked + way * 2});
    }
    return out;
  }
  void clocks(const std::string& lost = "") const {
    record::RankClock first{.rank = 0, .host = "a", .shard_first = 0};
    record::RankClock second{.rank = 1, .host = "b", .shard_first = 1, .lost = lost};
    second.probes = probes();
    clocks(std::vector{first, second});
  }
  void clocks(const std::vector<record::RankClock>& ranks) const {
    std::ofstream(logs() / record::kClocksName) << record::to_json(ranks).dump();
  }
  void clients(const ClientAudit& of_rank_1) const {
    Json ranks = Json::array();
    ranks.push_back(record::client_audit_to_json(ClientAudit{.wall = 2_s}).set("rank", 0));
    ranks.push_back(record::client_audit_to_json(of_rank_1).set("rank", 1));
    std::ofstream(logs() / "client.json")
        << record::client_audit_to_json(ClientAudit{.wall = 2_s}).set("ranks", ranks).dump();
  }

 private:
  // No two ranks send the same query.
  struct Renamed final : EventSink {
    Renamed(EventSink& to_in, std::uint32_t rank_in, std::uint32_t ranks_in)
        : to(to_in), rank(rank_in), ranks(ranks_in) {}
    Query of(Query query) const {
      query.index = ranks * query.index + rank;
      return query;
    }
    void on_phase(const PhaseMark& mark) override { to.on_phase(mark); }
    void on_tick(Instant now) override { to.on_tick(now); }
    void on_sent(const Query& query, Instant due, Instant sent) override {
      to.on_sent(of(query), due, sent);
    }
    void on_stream_event(const Query& query, const StreamEvent& event,
                         std::string_view text) override {
      to.on_stream_event(of(query), event, text);
    }
    void on_done(const Event& event, std::string_view why) override {
      Event renamed = event;
      renamed.query = of(event.query);
      to.on_done(renamed, why);
    }
    EventSink& to;
    std::uint32_t rank;
    std::uint32_t ranks;
  };
  std::uint32_t ranks_;
  TempFolder folder_{};
};

TEST(RankSpan, a_merged_run_is_read_rank_by_rank) {
  const MergedRun merged;
  merged.rank(0, true);
  merged.rank(1, true);
  merged.clocks();
  ClientAudit late{.wall = 2_s};
  late.threads = {ThreadFigures{.send = {.count = 1000, .p99 = 7_ms, .holdups = 9}}};
  merged.clients(late);
  const auto run = load_run(merged.root());
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_TRUE(run->ranks);
  const RankSpan& span = *run->ranks;
  ASSERT_EQ(span.ranks.size(), 2U);
  EXPECT_EQ(span.ranks[0].host, "a");
  EXPECT_EQ(span.ranks[0].offset, 0_ns);
  EXPECT_EQ(span.ranks[0].bound, 0_ns);
  const auto map = record::ClockMap::make(MergedRun::probes());
  ASSERT_TRUE(map);
  const double bound = map->bound_max(metrics::at_ms(1000), metrics::at_ms(2990)).seconds();
  EXPECT_GT(bound, 0);
  EXPECT_LT(bound, 0.5 * map->bound(metrics::at_ms(3500)).seconds());
  const double offset = map->offset(metrics::at_ms(1000)).seconds();
  EXPECT_NEAR(offset, 0.5 + 1e-4, 1e-6);
  EXPECT_NEAR(span.ranks[1].offset.seconds(), offset, 1e-8);
  EXPECT_NEAR(span.ranks[1].bound.seconds(), bound, 1e-8);
  EXPECT_NEAR(span.ranks[1].drift_ppm, map->drift() * 1e6, 1e-9);
  EXPECT_EQ(span.bound, span.ranks[1].bound);
  EXPECT_NEAR(span.start_spread.seconds(), offset, 1e-8) << "the same instants, of other clocks";
  const double length = run->point.rates.duration.seconds();
  ASSERT_GT(length, 0);
  EXPECT_DOUBLE_EQ(span.rate_error, 2 * span.bound.seconds() / length);
  const auto no_length =
      read_ranks(merged.logs(), run->replay, metrics::Point{}, Json(), JudgeOptions{});
  ASSERT_TRUE(no_length) << no_length.error().message;
  EXPECT_EQ(no_length->rate_error, 0);
  EXPECT_EQ(span.ranks[0].innocence.client_limited, ClientLimited::no);
  EXPECT_EQ(span.ranks[1].innocence.client_limited, ClientLimited::yes);
  EXPECT_EQ(run->innocence->client_limited, ClientLimited::yes);
  EXPECT_THAT(run->innocence->reasons[0].what, testing::StartsWith("rank 1: "));
}

TEST(RankSpan, the_first_and_the_last_to_start_and_the_worst_clock_may_be_any_rank) {
  const MergedRun merged(4);
  std::vector<record::RankClock> clocks(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    merged.rank(rank, true);
    clocks[rank].rank = clocks[rank].shard_first = rank;
    clocks[rank].host = format("host-{}", rank);
  }
  clocks[1].probes = MergedRun::probes(Duration{} - 200_ms, 3_us);
  clocks[2].probes = MergedRun::probes(500_ms, 90_us);
  clocks[3].probes = MergedRun::probes(100_ms, 7_us);
  merged.clocks(clocks);
  const auto run = load_run(merged.root());
  ASSERT_TRUE(run) << run.error().message;
  const RankSpan& span = run->ranks.value();
  ASSERT_EQ(span.ranks.size(), 4U);
  EXPECT_NEAR(span.start_spread.seconds(), 0.7, 1e-4);
  EXPECT_EQ(span.bound, span.ranks[2].bound);
  EXPECT_GE(span.bound, 90_us);
  EXPECT_LT(span.ranks[3].bound, span.bound);
  EXPECT_NEAR(span.ranks[1].offset.seconds(), -0.2, 2e-4);
  EXPECT_NEAR(span.ranks[3].offset.seconds(), 0.1, 2e-4);
  EXPECT_EQ(span.ranks[3].rank, 3U);
  EXPECT_EQ(span.ranks[3].host, "host-3");
}

TEST(RankSpan, a_rank_that_died_or_was_lost_says_so) {
  const MergedRun died;
  died.rank(0, true);
  died.rank(1, false);
  died.clocks();
  const auto run = load_run(died.root());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->ranks->ranks[0].lost, "");
  EXPECT_EQ(run->ranks->ranks[1].lost, "it died before its end");
  const MergedRun lost;
  lost.rank(0, true);
  lost.clocks("its disk is gone");
  const auto rest = load_run(lost.root());
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->ranks->ranks[1].lost, "its disk is gone");
  EXPECT_FALSE(rest->ranks->ranks[1].began.known());
  EXPECT_EQ(rest->ranks->start_spread, 0_ns) << "one rank began";
}

}  // namespace
}  // namespace assay::audit
