#include "protocol/prepared_requests.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/rng.h"

namespace assay::protocol {
namespace {

constexpr std::uint64_t kRunKey = 77;

struct Wanted {
  Plan plan{};
  std::vector<PlannedDataset> datasets{};
  Endpoints endpoints{};
};

Wanted wanted(std::vector<Sample> samples, bool plain, bool salted) {
  Wanted out;
  out.endpoints = {.urls = {"http://a:1/v1", "https://b"}, .request_ids = true};
  out.endpoints.session_headers = {"X-Session-ID"};
  PlannedDataset planned{.generation = {.model = "m"}};
  planned.dataset.samples = std::move(samples);
  out.datasets.push_back(std::move(planned));
  for (const bool salt : {false, true}) {
    if (salt ? !salted : !plain) continue;
    out.plan.phases.push_back({});
    out.plan.phases.back().salted = salt;
  }
  return out;
}

// The request as one template, filled in place: how it was done before anything was shared.
std::string slow_request(const Wanted& from, const Query& query, std::size_t endpoint) {
  const PlannedDataset& planned = from.datasets[0];
  const auto made =
      make_request(from.endpoints, endpoint, planned.generation,
                   planned.dataset.samples[query.sample], from.plan.phases[query.phase].salted);
  EXPECT_TRUE(made) << made.error().message;
  std::string out = made->head + made->body;
  if (made->salt_offset != kNoHole) {
    write_salt(out.data() + made->head.size() + made->salt_offset, made->salt_form, query.salt);
  }
  if (made->request_id_offset != kNoHole) {
    const QueryUuid id = query_uuid(kRunKey, query.phase, query.index);
    std::ranges::copy(id, out.begin() + static_cast<std::ptrdiff_t>(made->request_id_offset));
  }
  return out;
}

std::string joined(const Pieces& pieces) {
  std::string out;
  for (const std::string_view part : pieces.all()) out += part;
  return out;
}

void expect_the_same_bytes(const Wanted& from) {
  auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_TRUE(made) << made.error().message;
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  Rng rng(1);
  for (std::uint16_t phase = 0; phase < from.plan.phases.size(); ++phase) {
    for (std::uint32_t row = 0; row < from.datasets[0].dataset.samples.size(); ++row) {
      const Query query{.index = row, .phase = phase, .sample = row, .salt = rng.next()};
      for (const std::size_t endpoint : {0U, 1U}) {
        const std::string slow = slow_request(from, query, endpoint);
        EXPECT_EQ(joined(requests.fill(query, endpoint, kRunKey)), slow);
        const Pieces whole = requests.fill(query, endpoint, kRunKey, true);
        EXPECT_EQ(whole.count, 1U);
        EXPECT_EQ(joined(whole), slow);
        const auto http2 = requests.fill_http2(query, endpoint, kRunKey);
        EXPECT_EQ(http2.body, slow.substr(slow.find("\r\n\r\n") + 4));
        EXPECT_EQ(http2.fields.front().second, "POST");
      }
    }
  }
}

std::vector<Sample> prompts() {
  std::vector<Sample> out;
  out.push_back({.prompt = "hello", .system = "you are"});
  out.push_back({.prompt = "[0000000"});  // as a salt begins
  out.push_back({.prompt = std::string(100'000, 'x')});
  out.push_back({.prompt = std::string(2'000, '0'), .system = std::string(5'000, 'y')});
  out.push_back({.prompt = "a \"quoted\" \n line"});
  Sample picture;
  picture.content_parts = Json::array().push_back(
      Json().set("type", "image_url").set("image_url", Json().set("url", "data:x")));
  out.push_back(std::move(picture));
  return out;
}

std::vector<Sample> conversation(int turns, std::size_t words) {
  std::vector<Sample> out;
  Json messages = Json::array();
  messages.push_back(Json().set("role", "system").set("content", std::string(words, 's')));
  for (int turn = 0; turn < turns; ++turn) {
    messages.push_back(
        Json().set("role", "user").set("content", format("{} {}", turn, std::string(words, 'u'))));
    out.push_back({.messages = messages, .session = "c1"});
    messages.push_back(Json().set("role", "assistant").set("content", std::string(words, 'a')));
  }
  return out;
}

TEST(PreparedRequests, are_the_bytes_that_a_template_for_each_would_be) {
  expect_the_same_bytes(wanted(prompts(), true, false));
  expect_the_same_bytes(wanted(prompts(), false, true));
  expect_the_same_bytes(wanted(prompts(), true, true));
  Wanted other = wanted(prompts(), true, true);
  other.endpoints.request_ids = false;
  other.endpoints.urls = {"http://a", "http://c:9"};
  expect_the_same_bytes(other);
}

TEST(PreparedRequests, token_ids_are_salted_where_the_text_is) {
  std::vector<Sample> samples(3);
  samples[0].input_tokens = {1, 2, 3};
  samples[1].input_tokens = {1};
  samples[2].input_tokens.assign(5'000, 1111);
  samples[2].salt_position = 4'000;
  Wanted ids = wanted(std::move(samples), true, true);
  ids.endpoints.api = Api::openai_completions;
  expect_the_same_bytes(ids);
}

TEST(PreparedRequests, turns_of_a_conversation_share_their_history) {
  std::vector<Sample> samples = conversation(30, 100);
  // One that was forked: the history of the turns before it was another.
  samples[12].messages = conversation(1, 400)[0].messages;
  std::vector<Sample> second = conversation(5, 300);
  for (Sample& sample : second) sample.session = "c2";
  std::ranges::move(second, std::back_inserter(samples));
  expect_the_same_bytes(wanted(samples, true, false));
  expect_the_same_bytes(wanted(samples, false, true));
  expect_the_same_bytes(wanted(samples, true, true));
}

TEST(PreparedRequests, a_conversation_costs_its_length_and_not_the_square_of_it) {
  const auto bytes_of = [](int turns) {
    const Wanted from = wanted(conversation(turns, 500), true, false);
    const auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
    EXPECT_TRUE(made);
    return made->bytes();
  };
  const std::size_t ten = bytes_of(10);
  EXPECT_LT(bytes_of(100), 12 * ten);
}

TEST(PreparedRequests, a_salted_request_is_not_kept_beside_the_other) {
  const auto bytes_of = [](bool plain, bool salted) {
    const Wanted from = wanted(prompts(), plain, salted);
    const auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
    EXPECT_TRUE(made);
    return made->bytes();
  };
  EXPECT_LT(bytes_of(true, true), bytes_of(true, false) + prompts().size() * 64);
}

TEST(PreparedRequests, texts_are_given_up_and_what_scorers_read_stays) {
  Wanted from = wanted(prompts(), true, true);
  from.datasets[0].dataset.samples[0].columns = Json().set("answer", 4);
  Wanted spent = from;
  auto taken = PreparedBodies::take(spent.plan, spent.datasets, spent.endpoints);
  ASSERT_TRUE(taken) << taken.error().message;
  for (const Sample& sample : spent.datasets[0].dataset.samples) {
    EXPECT_TRUE(sample.prompt.empty() && sample.system.empty() && sample.content_parts.is_null());
  }
  EXPECT_EQ(spent.datasets[0].dataset.samples[0].columns["answer"].as_int(), 4);
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*taken)), from.plan);
  const Query query{.phase = 1, .sample = 2, .salt = 5};
  EXPECT_EQ(joined(requests.fill(query, 0, kRunKey)), slow_request(from, query, 0));
}

TEST(PreparedRequests, an_error_names_the_sample) {
  std::vector<Sample> samples(2);
  samples[0].prompt = "x";
  const Wanted from = wanted(std::move(samples), true, false);
  const auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("sample 1"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace assay::protocol
