#include "audit/certificate.h"

#include <gtest/gtest.h>

namespace assay::audit {
namespace {

Certificate sample() {
  Certificate c{.made = {1'700'000'000'000'000'000}, .version = "0.1.0", .build = "GNU Release"};
  c.machine = {.host = "h", .system = "s", .kernel = "k", .cpu = "c", .cores = 2};
  c.streams = 100;
  c.isl = 64;
  c.events_per_second = 200'000;
  c.qps = 50'000;
  for (const double share : {0.1, 0.5}) {
    CalibratedLevel level{.share = share, .replies = 1000, .kernel_stamped = 1};
    level.arrival.ttft = {.count = 1000, .p1 = 500, .p50 = 2000, .p99 = 57'300};
    level.arrival.itl = {.count = 1000, .p1 = -61'000, .p50 = 0, .p99 = 8'000};
    level.read.ttft = {.count = 1000, .p1 = 500, .p50 = 20'000, .p99 = 688'000};
    c.levels.push_back(level);
  }
  return c;
}

metrics::Point loaded(double events_per_second, double qps) {
  metrics::Point point{};
  point.rates.duration = 10_s;
  point.rates.qps = qps;
  point.stamps.events = static_cast<std::uint64_t>(10 * events_per_second);
  point.stamps.kernel_stamped = point.stamps.events;
  return point;
}

TEST(Certificate, is_read_back_as_it_was_written) {
  const Certificate c = sample();
  const auto again = certificate_from_json(certificate_to_json(c));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(certificate_to_json(*again).dump(), certificate_to_json(c).dump());
  EXPECT_TRUE(same_client(*again, c));
}

// Every field of every part, each with a value of its own.
constexpr const char* kWhole = R"({"format":"assay-certificate","version":1,
  "made":"2023-11-14T22:13:20.000000001Z","made_ns":1700000000000000001,"assay":"a","build":"b",
  "machine":{"host":"h","system":"s","kernel":"k","cpu":"c","cores":2,"virtualisation":"v"},
  "shape":{"streams":3,"threads":4,"isl":5},
  "ceiling":{"events_per_second":6.5,"queries_per_second":7.5},
  "levels":[{"share":0.25,"events_per_second":8.5,"qps":9.5,"tokens":10,"replies":11,
    "unmatched":12,"kernel_stamped":0.125,"shares_read":0.75,"client_limited":"no",
    "arrival_error_ns":{
      "ttft":{"count":13,"p0.1":-14,"p1":-15,"p50":16,"p99":17,"p99.9":18},
      "itl":{"count":19,"p0.1":-20,"p1":-21,"p50":22,"p99":23,"p99.9":24},
      "latency":{"count":25,"p0.1":-26,"p1":-27,"p50":28,"p99":29,"p99.9":30}},
    "alone_error_ns":{
      "ttft":{"count":31,"p0.1":-32,"p1":-33,"p50":34,"p99":35,"p99.9":36},
      "itl":{"count":37,"p0.1":-38,"p1":-39,"p50":40,"p99":41,"p99.9":42},
      "latency":{"count":43,"p0.1":-44,"p1":-45,"p50":46,"p99":47,"p99.9":48}},
    "read_error_ns":{
      "ttft":{"count":49,"p0.1":-50,"p1":-51,"p50":52,"p99":53,"p99.9":54},
      "itl":{"count":55,"p0.1":-56,"p1":-57,"p50":58,"p99":59,"p99.9":60},
      "latency":{"count":61,"p0.1":-62,"p1":-63,"p50":64,"p99":65,"p99.9":66}}}]})";

TEST(Certificate, every_field_stands_under_its_name) {
  const Json whole = Json::parse(kWhole).value();
  const auto read = certificate_from_json(whole);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(certificate_to_json(*read).dump(), whole.dump());
  EXPECT_EQ(read->threads, 4U);
  EXPECT_EQ(read->machine.virtualisation, "v");
  EXPECT_EQ(read->levels[0].alone.itl.p1, -39);
}

TEST(Certificate, another_file_or_version_is_refused) {
  EXPECT_FALSE(certificate_from_json(Json::object()));
  EXPECT_FALSE(certificate_from_json(certificate_to_json(sample()).set("version", 2)));
  EXPECT_FALSE(certificate_from_json(certificate_to_json(sample()).set("format", "assay-noise")));
}

TEST(Certificate, is_of_this_client_only_on_the_same_machine_and_build) {
  const Certificate here = sample();
  Certificate other = sample();
  other.machine.kernel = "another";
  EXPECT_FALSE(same_client(here, other));
  other = sample();
  other.build = "GNU Debug";
  EXPECT_FALSE(same_client(here, other));
  other = sample();
  other.threads = 2;
  EXPECT_FALSE(same_client(here, other));
  other = sample();
  other.streams = 7;  // another shape of the same client
  EXPECT_TRUE(same_client(here, other));
  for (const auto change :
       {+[](Certificate& c) { c.version = "0.2.0"; }, +[](Certificate& c) { c.machine.host = "g"; },
        +[](Certificate& c) { c.machine.cpu = "d"; },
        +[](Certificate& c) { c.machine.cores = 3; }}) {
    other = sample();
    change(other);
    EXPECT_FALSE(same_client(here, other));
    EXPECT_FALSE(same_client(other, here));
  }
}

TEST(Certificate, a_run_cites_the_level_above_its_load) {
  const Certificate c = sample();
  const auto citation = cite(c, loaded(46'000, 10));
  ASSERT_TRUE(citation);
  EXPECT_NEAR(citation->used, 0.23, 1e-9);
  EXPECT_EQ(citation->at_share, 0.5);
  EXPECT_EQ(citation_text(c, *citation),
            "used 23 % of the capacity proven on 2023-11-14 at 100 streams; TTFT error at P99 ≤ "
            "58.0 µs, ITL ≤ 61.0 µs");
  EXPECT_EQ(cite(c, loaded(20'000, 10))->at_share, 0.1) << "a load that was tried itself";
  // The number of queries may be the limit.
  EXPECT_NEAR(cite(c, loaded(1000, 40'000))->used, 0.8, 1e-9);
}

TEST(Certificate, beyond_what_was_tried_no_error_is_promised) {
  const auto citation = cite(sample(), loaded(150'000, 10));
  ASSERT_TRUE(citation);
  EXPECT_FALSE(citation->ttft_error_p99);
}

TEST(Certificate, without_kernel_stamps_the_reader_s_error_is_cited) {
  metrics::Point point = loaded(10'000, 10);
  point.stamps.kernel_stamped = 0;
  EXPECT_EQ(cite(sample(), point)->ttft_error_p99, Duration{690'000});
  EXPECT_FALSE(cite(sample(), point)->itl_error_p99) << "no gap was compared";
}

TEST(Certificate, nothing_is_said_of_what_it_does_not_cover) {
  metrics::Point point = loaded(10'000, 10);
  point.run.simulated = true;
  EXPECT_FALSE(cite(sample(), point));
  point = loaded(10'000, 10);
  point.run.facts.set("endpoints", Json::array().push_back("https://x"));
  EXPECT_FALSE(cite(sample(), point));
  point = loaded(10'000, 10);
  point.rates.duration = {};
  EXPECT_FALSE(cite(sample(), point)) << "no duration, no rate";
  point.rates.duration = 1_ns;
  EXPECT_TRUE(cite(sample(), point));
}

TEST(Certificate, a_part_that_it_does_not_have_is_not_cited) {
  Certificate c = sample();
  c.events_per_second = 0;
  EXPECT_DOUBLE_EQ(cite(c, loaded(46'000, 10'000))->used, 0.2) << "of the queries alone";
  c.qps = 0;
  EXPECT_EQ(cite(c, loaded(46'000, 10'000))->used, 0);
  EXPECT_EQ(cite(c, loaded(46'000, 10'000))->at_share, 0.1);
  c = sample();
  c.levels.clear();
  EXPECT_NEAR(cite(c, loaded(46'000, 10))->used, 0.23, 1e-9);
  EXPECT_EQ(cite(c, loaded(46'000, 10))->at_share, 0);
  EXPECT_FALSE(cite(c, loaded(46'000, 10))->ttft_error_p99);
  EXPECT_EQ(cite(sample(), loaded(0, 10))->at_share, 0) << "no event, no error";
  EXPECT_EQ(cite(sample(), loaded(1, 0))->at_share, 0.1);
  // One event's error is an error, and one stamp a stamp.
  c = sample();
  c.levels[0].arrival.ttft = {.count = 1, .p99 = 3};
  c.levels[0].arrival.itl.count = 0;
  metrics::Point point = loaded(10'000, 10);
  point.stamps.kernel_stamped = 1;
  EXPECT_EQ(cite(c, point)->ttft_error_p99, 3_ns);
  EXPECT_FALSE(cite(c, point)->itl_error_p99);
  c.levels[0].arrival.ttft.count = 0;
  c.levels[0].arrival.itl.count = 1;
  EXPECT_FALSE(cite(c, point)->ttft_error_p99);
  EXPECT_EQ(cite(c, point)->itl_error_p99, 61_us);
  // A ceiling may be as low as one event or one query a second, and lower.
  c.events_per_second = 1;
  c.qps = 0.5;
  EXPECT_EQ(cite(c, loaded(0.5, 0))->used, 0.5);
  EXPECT_EQ(cite(c, loaded(0.5, 0.5))->used, 1);
  c.qps = 1;
  EXPECT_EQ(cite(c, loaded(0.5, 0.75))->used, 0.75);
}

TEST(Certificate, an_error_is_rounded_up_to_two_digits) {
  for (const auto& [ns, shown] : {std::pair{0, 0},
                                  {1, 1},
                                  {99, 99},
                                  {100, 100},
                                  {101, 110},
                                  {991, 1'000},
                                  {1'000, 1'000},
                                  {1'001, 1'100},
                                  {57'300, 58'000},
                                  {99'000, 99'000},
                                  {99'001, 100'000},
                                  {100'001, 110'000}}) {
    Certificate c = sample();
    c.levels[0].arrival.ttft = {.count = 1, .p99 = ns};
    EXPECT_EQ(cite(c, loaded(10'000, 10))->ttft_error_p99, Duration{shown}) << ns;
  }
}

TEST(Certificate, a_use_of_less_than_a_hundredth_is_told_with_two_digits) {
  const auto told = [](double used) { return citation_text(sample(), {.used = used}); };
  EXPECT_EQ(told(0.00567), "used 0.57 % of the capacity proven on 2023-11-14 at 100 streams");
  EXPECT_TRUE(told(0.0099).starts_with("used 0.99 % ")) << told(0.0099);
  EXPECT_TRUE(told(0.01).starts_with("used 1 % ")) << told(0.01);
  EXPECT_TRUE(told(0.0142).starts_with("used 1 % ")) << told(0.0142);
  EXPECT_TRUE(told(1.234).starts_with("used 123 % ")) << told(1.234);
}

TEST(Certificate, an_error_that_is_not_known_is_not_told) {
  const std::string used = "used 50 % of the capacity proven on 2023-11-14 at 100 streams";
  EXPECT_EQ(citation_text(sample(), {.used = 0.5, .ttft_error_p99 = 58_us}),
            used + "; TTFT error at P99 ≤ 58.0 µs");
  EXPECT_EQ(citation_text(sample(), {.used = 0.5, .itl_error_p99 = 61_us}),
            used + ", ITL ≤ 61.0 µs");
}

TEST(Certificate, errors_are_signed_and_their_size_is_the_larger_tail) {
  std::vector<std::int64_t> values;
  for (int i = -100; i <= 900; ++i) values.push_back(i);
  const ErrorFigures f = error_figures(values);
  EXPECT_EQ(f.count, 1001U);
  EXPECT_EQ(f.p1, -90);
  EXPECT_EQ(f.p50, 400);
  EXPECT_EQ(f.p99, 890);
  EXPECT_EQ(f.size_p99(), 890);
  EXPECT_EQ(f.p0_1, -99);
  EXPECT_EQ(f.p99_9, 899);
  for (std::int64_t& value : values) value = -value;
  EXPECT_EQ(error_figures(values).size_p99(), 890);
  // P1 of 52 values is the second: its place is rounded to the next.
  std::vector<std::int64_t> few;
  for (int i = 52; i > 0; --i) few.push_back(i);
  EXPECT_EQ(error_figures(few).p1, 2);
  EXPECT_EQ(error_figures(few).p0_1, 1);
  std::vector<std::int64_t> none;
  EXPECT_EQ(error_figures(none).count, 0U);
}

}  // namespace
}  // namespace assay::audit
