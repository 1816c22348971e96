#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/format.h"
#include "domain/plan.h"
#include "domain/quiet_sink.h"
#include "domain/tee.h"

namespace assay {
namespace {

std::vector<std::uint32_t> take(SampleOrder order, int n) {
  std::vector<std::uint32_t> out;
  for (int i = 0; i < n; ++i) out.push_back(order.next());
  return out;
}

using Indices = std::vector<std::uint32_t>;

// Logs of earlier runs, ours and servers', have these names: they may not change.
TEST(QueryUuid, names_a_query_as_ever) {
  const auto text = [](const QueryUuid& uuid) { return std::string(uuid.data(), uuid.size()); };
  EXPECT_EQ(text(query_uuid(7, 2, 0)), "63cbe1e459320dd71265c10cd361100a");
  EXPECT_EQ(text(query_uuid(0, 0, 5)), "e220a8397b1dcdaf3089390d35d8a700");
  EXPECT_EQ(text(query_uuid(~std::uint64_t{0}, 65535, 4'000'000'000)),
            "e4d971771b652c20e7c92dfdaaa426e8");
}

// Golden vectors: CPython 3.12 (spec/endpoints_client.md, appendix A).
TEST(PythonRandom, equals_cpython) {
  PythonRandom random(42);
  EXPECT_EQ(random.random(), 0.6394267984578837);
  EXPECT_EQ(random.random(), 0.025010755222666936);
  PythonRandom bits(42);
  EXPECT_EQ(bits.bits(32), 2746317213U);
  EXPECT_EQ(bits.bits(32), 478163327U);
  PythonRandom large(18209322760996052031U);
  EXPECT_EQ(large.bits(32), 3598543220U);
  EXPECT_EQ(large.bits(32), 2675661402U);
}

TEST(SampleOrder, reshuffles_the_same_list_as_the_reference_client) {
  EXPECT_EQ(take(SampleOrder::listed({3, 1, 3}), 5), (Indices{3, 1, 3, 3, 1}));
  EXPECT_EQ(take(SampleOrder::shuffled(10, 42), 20),
            (Indices{7, 3, 2, 8, 5, 6, 9, 4, 0, 1, 8, 6, 2, 5, 3, 0, 4, 7, 9, 1}));
  EXPECT_EQ(take(SampleOrder::shuffled(10, 18209322760996052031U), 10),
            (Indices{7, 5, 0, 8, 1, 6, 4, 2, 3, 9}));
  EXPECT_EQ(take(SampleOrder::shuffled(10, 14771362308971278857U), 10),
            (Indices{4, 5, 8, 0, 6, 3, 7, 2, 1, 9}));
  EXPECT_EQ(take(SampleOrder::shuffled(10, 16159082839903944936U), 10),
            (Indices{3, 2, 6, 9, 1, 7, 5, 8, 0, 4}));
  EXPECT_EQ(take(SampleOrder::shuffled(10, 2747215439041700203U), 10),
            (Indices{1, 3, 0, 9, 2, 4, 5, 7, 8, 6}));
}

TEST(SampleOrder, a_copy_of_a_drawn_order_draws_the_same_by_itself) {
  SampleOrder order = SampleOrder::drawn([at = 7U]() mutable { return at++; });
  EXPECT_EQ(order.next(), 7U);
  SampleOrder copy = order;
  EXPECT_EQ(order.next(), 8U);
  EXPECT_EQ(take(copy, 3), (Indices{8, 9, 10}));
  EXPECT_EQ(order.next(), 9U);
}

TEST(SampleOrder, with_replacement_is_randint) {
  EXPECT_EQ(take(SampleOrder::with_replacement(10, 42), 10),
            (Indices{1, 0, 4, 3, 3, 2, 1, 8, 1, 9}));
}

TEST(QueryStream, salts_equal_the_reference_clients) {
  PhasePlan phase{.order = SampleOrder::sequential(4), .salted = true, .salt_seed = 44};
  QueryStream stream(phase, 0, 0, 1);
  for (const char* salt : {"a8ce956811102085", "78adbe8a4bfd9cb3", "9f6eaedc0621dd1d"}) {
    EXPECT_EQ(format("{:016x}", stream.next().salt), salt);
  }
}

TEST(Shard, together_the_shards_send_what_the_whole_plan_would) {
  PhasePlan phase{.order = SampleOrder::shuffled(7, 5), .salted = true, .salt_seed = 9};
  phase.limits = {{{}, 10}, {1_s, 3}};
  phase.stop.queries_max = 23;
  for (int i = 0; i < 23; ++i) phase.arrivals.push_back(Duration{i});
  const Plan plan{.phases = {phase}};
  for (const std::uint32_t count : {1U, 2U, 3U, 5U}) {
    std::vector<Query> seen(23);
    std::uint64_t total = 0;
    std::uint32_t limit = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Plan part = shard(plan, i, count);
      total += part.phases[0].stop.queries_max;
      limit += part.phases[0].limits[1].in_flight_max;
      QueryStream stream(part.phases[0], 0, part.shard_index, part.shard_count);
      for (std::uint64_t k = 0; k < part.phases[0].stop.queries_max; ++k) {
        const Query query = stream.next();
        EXPECT_EQ(part.phases[0].arrivals[k].ns, query.index);
        seen[query.index] = query;
      }
    }
    EXPECT_EQ(total, 23U);
    EXPECT_EQ(limit, 3U);
    QueryStream whole(phase, 0, 0, 1);
    for (const Query& query : seen) {
      const Query expected = whole.next();
      EXPECT_EQ(query.index, expected.index);
      EXPECT_EQ(query.sample, expected.sample);
      EXPECT_EQ(query.salt, expected.salt);
    }
  }
}

class Ticks final : public QuietSink {
 public:
  void on_tick(Instant now) override { last = now; }
  Instant last{};
};

TEST(Tee, passes_a_tick_on_to_every_sink) {
  Ticks first;
  Ticks second;
  Tee tee({&first, nullptr, &second});
  tee.on_tick(Instant{7});
  EXPECT_EQ(first.last, Instant{7});
  EXPECT_EQ(second.last, Instant{7});
}

}  // namespace
}  // namespace assay
