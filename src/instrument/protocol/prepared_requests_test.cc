#include "protocol/prepared_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The request as one template, filled in place: the method before bodies were shared.
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
  out.push_back({.prompt = "[0000000"});  // like the beginning of a salt
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

TEST(PreparedRequests, of_a_described_kind_outlive_the_endpoints_that_it_came_from) {
  DescribedKind kind{.name = "tell"};
  kind.request = Json().set("words", "{prompt}");
  kind.takes_prompt = true;
  auto described = std::make_shared<const DescribedKind>(std::move(kind));
  const std::weak_ptr<const DescribedKind> lives = described;
  std::optional<PreparedRequests> requests;
  {
    Wanted from = wanted({{.prompt = "hello"}}, true, false);
    from.endpoints.api = Api::described;
    from.endpoints.described = std::move(described);
    auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
    ASSERT_TRUE(made) << made.error().message;
    requests.emplace(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  }
  ASSERT_FALSE(lives.expired());
  EXPECT_EQ(requests->asked({}).api.described, lives.lock().get());
  requests.reset();
  EXPECT_TRUE(lives.expired());
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
  // A forked conversation: the history of its earlier turns differs.
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

TEST(PreparedRequests, of_a_row_all_that_is_in_its_request_is_given_up) {
  const std::string text(1000, 'x');
  Wanted from = wanted({{.prompt = text,
                         .system = text,
                         .messages = conversation(2, 100)[1].messages,
                         .input_tokens = {1, 2, 3},
                         .content_parts = Json::array().push_back(text),
                         .attachments = {{.name = "a", .bytes = text}},
                         .made = {.ids = std::make_shared<std::vector<std::uint64_t>>()},
                         .tools = Json::array(),
                         .body = Json().set("user", "u")}},
                       true, false);
  ASSERT_TRUE(PreparedBodies::take(from.plan, from.datasets, from.endpoints));
  const Sample& left = from.datasets[0].dataset.samples[0];
  EXPECT_EQ(left.prompt.capacity(), std::string().capacity());
  EXPECT_EQ(left.system.capacity(), std::string().capacity());
  EXPECT_TRUE(left.messages.is_null());
  EXPECT_EQ(left.input_tokens.capacity(), 0U);
  EXPECT_TRUE(left.content_parts.is_null());
  EXPECT_EQ(left.attachments.capacity(), 0U);
  EXPECT_EQ(left.made.ids, nullptr);
  EXPECT_TRUE(left.tools.is_null());
  EXPECT_TRUE(left.body.is_null());
}

// With a salt in front of it or behind it, what is new in a session begins at a line of its own.
TEST(PreparedRequests, a_turn_goes_on_behind_what_its_session_knows_salted_or_not) {
  const auto messages = [](const std::vector<std::pair<std::string, std::string>>& said) {
    Json out = Json::array();
    for (const auto& [role, words] : said) {
      out.push_back(Json().set("role", role).set("content", words));
    }
    return out;
  };
  std::vector<Sample> samples(3);
  samples[0].messages = messages({{"user", "asked 0"}});
  samples[1].messages =
      messages({{"user", "asked 0"}, {"assistant", "recorded 0"}, {"user", "asked 1"}});
  samples[2].messages = messages({{"assistant", "recorded 1"}, {"user", "asked 2"}});
  Wanted from = wanted(std::move(samples), true, true);
  from.endpoints.api = Api::realtime;
  from.endpoints.session_headers.clear();
  from.datasets[0].generation.extra_body = Json::object().set("session", "conversation");
  for (PhasePlan& phase : from.plan.phases) {
    phase.conversations.push_back({.turns = {{.sample = 0}, {.sample = 1}, {.sample = 2}}});
  }
  auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_TRUE(made) << made.error().message;
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  for (std::uint16_t phase = 0; phase < 2; ++phase) {
    for (std::uint32_t turn = 0; turn < 3; ++turn) {
      const Query query{.index = turn, .phase = phase, .sample = turn, .salt = 7};
      const auto session = requests.session_turn(query);
      EXPECT_EQ(session.next, turn == 2 ? PreparedRequests::kNoTurn : turn + 1);
      const std::string body(requests.fill_body(query, 0, kRunKey));
      const std::string fresh = body.substr(session.goes_on_at);
      EXPECT_EQ(body[session.goes_on_at - 1], '\n') << turn;
      EXPECT_TRUE(fresh.starts_with(R"({"type":"conversation.item.create")")) << fresh;
      EXPECT_NE(fresh.find(format("asked {}", turn)), std::string::npos) << fresh;
      EXPECT_EQ(fresh.find("recorded"), std::string::npos) << fresh;
      EXPECT_EQ(body.find("0000000000000007") != std::string::npos, phase == 1);
    }
  }
}

TEST(PreparedRequests, an_error_names_the_sample) {
  std::vector<Sample> samples(2);
  samples[0].prompt = "x";
  const Wanted from = wanted(std::move(samples), true, false);
  const auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("sample 1"), std::string::npos) << made.error().message;
}

std::string session_reply_of(PreparedRequests& requests, const Query& query, std::size_t endpoint) {
  return joined(requests.fill(query, endpoint, kRunKey, true));
}

// There is one head for each endpoint and session, after any other head.
TEST(PreparedRequests, each_endpoint_and_session_has_its_own_head) {
  std::vector<Sample> samples(4);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].prompt = format("p{}", i);
    samples[i].session = i % 2 == 0 ? "even" : "odd";
  }
  Wanted from = wanted(std::move(samples), true, true);
  expect_the_same_bytes(from);
  from.endpoints.session_headers = {};
  expect_the_same_bytes(from);
  from.endpoints.urls = {"https://one"};
  from.endpoints.http = HttpVersion::http1;
  auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_TRUE(made);
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  const Query query{.index = 3, .sample = 2};
  EXPECT_EQ(session_reply_of(requests, query, 0), slow_request(from, query, 0));
}

TEST(PreparedRequests, http2_has_the_same_fields_in_lower_case_with_the_querys_id) {
  Wanted from = wanted(prompts(), true, false);
  from.endpoints.api_key = "k";
  from.datasets[0].dataset.samples[0].session = "s1";
  auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_TRUE(made);
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  for (const std::uint32_t index : {4U, 5U}) {
    const Query query{.index = index, .sample = 0};
    const QueryUuid id = query_uuid(kRunKey, 0, index);
    const std::string_view id_text(id.data(), id.size());
    for (const std::size_t endpoint : {0U, 1U}) {
      const auto request = requests.fill_http2(query, endpoint, kRunKey);
      std::string told;
      for (const auto& [name, value] : request.fields) told += format("{}={}\n", name, value);
      EXPECT_EQ(told,
                format(":method=POST\n:scheme={}\n:authority={}\n:path=/v1/chat/completions\n"
                       "authorization=Bearer k\ncontent-type=application/json\n"
                       "accept=text/event-stream\nx-session-id=s1\nx-request-id={}\n",
                       endpoint == 0 ? "http" : "https", endpoint == 0 ? "a:1" : "b", id_text));
    }
  }
}

TEST(PreparedRequests, an_id_of_the_users_own_is_left_alone) {
  Wanted from = wanted(prompts(), true, true);
  from.endpoints.headers = {{"X-Request-Id", "mine"}};
  expect_the_same_bytes(from);
  auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_TRUE(made);
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  const auto request = requests.fill_http2({.index = 1}, 0, kRunKey);
  for (const auto& [name, value] : request.fields) {
    if (name == "x-request-id") {
      EXPECT_EQ(value, "mine");
    }
  }
}

// Phases of several datasets, each salted or not, in any order.
TEST(PreparedRequests, each_phase_asks_its_own_dataset_salted_as_the_phase_is) {
  Wanted from = wanted({Sample{.prompt = "first"}}, true, false);
  PlannedDataset other{.generation = {.model = "n"}};
  other.generation.stream = false;
  other.generation.max_new_tokens = 7;
  other.dataset.samples = {Sample{.prompt = "second"}, Sample{.prompt = "third"}};
  other.dataset.samples[1].body = Json().set("n", 3);
  from.datasets.push_back(other);
  from.plan.phases.assign(4, {});
  from.plan.phases[0].dataset = 1;
  from.plan.phases[1].salted = true;
  from.plan.phases[2].dataset = 1;
  from.plan.phases[2].salted = true;
  auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
  ASSERT_TRUE(made);
  PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
  for (std::uint16_t phase = 0; phase < 4; ++phase) {
    const PhasePlan& plan = from.plan.phases[phase];
    const PlannedDataset& asked = from.datasets[plan.dataset];
    for (std::uint32_t row = 0; row < asked.dataset.samples.size(); ++row) {
      const Query query{.index = 9, .phase = phase, .sample = row, .salt = 5};
      auto slow = make_body(Api::openai, asked.generation, asked.dataset.samples[row], plan.salted);
      ASSERT_TRUE(slow);
      if (plan.salted) write_salt(slow->bytes.data() + slow->salt_offset, slow->salt_form, 5);
      EXPECT_EQ(requests.fill_http2(query, 0, kRunKey).body, slow->bytes);
      EXPECT_EQ(requests.asked(query).stream, plan.dataset == 0);
      EXPECT_EQ(requests.asked(query).tokens_max, plan.dataset == 0 ? 1024 : 7);
      EXPECT_EQ(requests.asked(query).choices, plan.dataset == 1 && row == 1 ? 3 : 1);
    }
  }
}

// A body of up to 2 KiB goes with its head; a larger one is passed in place.
TEST(PreparedRequests, a_small_body_is_copied_and_a_large_one_is_not) {
  for (const bool salted : {false, true}) {
    for (const bool both : {false, true}) {
      const auto pieces_of = [&](std::size_t bytes) {
        Wanted from = wanted({Sample{.prompt = "x"}}, both || !salted, salted);
        const std::uint16_t phase = both && salted ? 1 : 0;
        const auto body = make_body(Api::openai, from.datasets[0].generation,
                                    from.datasets[0].dataset.samples[0], salted);
        from.datasets[0].dataset.samples[0].prompt =
            std::string(bytes - body->bytes.size() + 1, 'x');
        auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
        PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)),
                                  from.plan);
        const Query query{.phase = phase, .salt = 3};
        EXPECT_EQ(requests.fill_http2(query, 0, kRunKey).body.size(), bytes);
        return requests.fill(query, 0, kRunKey).count;
      };
      EXPECT_EQ(pieces_of(2048), 1U);
      EXPECT_EQ(pieces_of(2049), both && salted ? 3U : 2U) << salted;
    }
  }
}

// The beginning of each send uses the same memory: no buffer grows.
TEST(PreparedRequests, sending_allocates_nothing) {
  std::vector<Sample> samples = prompts();
  for (const Sample& turn : conversation(6, 400)) samples.push_back(turn);
  for (const bool plain : {false, true}) {
    const Wanted from = wanted(samples, plain, true);
    auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
    ASSERT_TRUE(made);
    PreparedRequests requests(std::make_shared<const PreparedBodies>(std::move(*made)), from.plan);
    const char* const at = requests.fill({}, 0, kRunKey).parts[0].data();
    for (std::uint16_t phase = 0; phase < from.plan.phases.size(); ++phase) {
      for (std::uint32_t row = 0; row < samples.size(); ++row) {
        const Query query{.phase = phase, .sample = row};
        for (const std::size_t endpoint : {0U, 1U}) {
          EXPECT_EQ(requests.fill(query, endpoint, kRunKey, true).parts[0].data(), at);
        }
      }
    }
  }
}

// The first of three turns shares more with the second than the second with the third.
TEST(PreparedRequests, a_turn_that_shared_more_than_the_next_keeps_the_difference) {
  const auto prompts_of = [](const std::vector<std::pair<int, std::string>>& turns) {
    std::vector<Sample> out;
    for (const auto& [common, rest] : turns) {
      std::string prompt;
      for (int i = 0; i < common; ++i) prompt += static_cast<char>('a' + i % 23);
      out.push_back({.prompt = prompt + rest, .session = "a"});
    }
    return out;
  };
  const auto bytes_of = [](const std::vector<Sample>& samples) {
    const Wanted from = wanted(samples, true, false);
    expect_the_same_bytes(from);
    return PreparedBodies::make(from.plan, from.datasets, from.endpoints)->bytes();
  };
  const std::size_t last = bytes_of(prompts_of({{500, "ZZZ"}}));
  const std::size_t end = bytes_of(prompts_of({{0, "x"}})) - last + 500 + 3 - 1;
  EXPECT_EQ(end, 0U);
  const std::string begin = R"({"model":"m","messages":[{"role":"user","content":")";
  const std::size_t tail = last - begin.size() - 503;
  // 700 in common, then 500: the first two keep 200 of them and their ends.
  EXPECT_EQ(bytes_of(prompts_of({{700, "X"}, {700, "Y"}, {500, "ZZZ"}})),
            last + 2 * (200 + 1 + tail));
  // 500 in common, then 700 of which the first has 500.
  EXPECT_EQ(bytes_of(prompts_of({{500, "X"}, {700, "Y"}, {700, "Z"}})),
            bytes_of(prompts_of({{700, "Z"}})) + 1 + tail + 1 + tail);
  // All of them once more, salted.
  expect_the_same_bytes(wanted(
      prompts_of({{900, "X"}, {900, "Y"}, {600, "ZZZ"}, {500, "V"}, {500, "W"}}), true, true));
}

// A salt may stand behind the bytes that a turn shares with the next one, or at their very end.
TEST(PreparedRequests, a_salt_stands_anywhere_around_the_end_of_what_is_shared) {
  for (int position = 198; position <= 204; ++position) {
    std::vector<Sample> samples(2);
    for (Sample& sample : samples) {
      sample.input_tokens.assign(200, 1234);
      sample.session = "a";
      sample.salt_position = position;
    }
    samples[0].input_tokens.insert(samples[0].input_tokens.end(), 5, 5678);
    samples[1].input_tokens.insert(samples[1].input_tokens.end(), 9, 9876);
    Wanted from = wanted(std::move(samples), true, true);
    from.endpoints.api = Api::openai_completions;
    expect_the_same_bytes(from);
  }
}

// At least half of a body, and 256 bytes: sharing less costs more than it saves.
TEST(PreparedRequests, a_beginning_is_shared_where_it_is_worth_it) {
  const auto kept = [](const std::string& first, const std::string& second,
                       bool one_session = true) {
    std::vector<Sample> samples(2);
    samples[0].prompt = first;
    samples[1].prompt = second;
    samples[0].session = "a";
    samples[1].session = one_session ? "a" : "b";
    const Wanted from = wanted(std::move(samples), true, false);
    expect_the_same_bytes(from);
    const auto made = PreparedBodies::make(from.plan, from.datasets, from.endpoints);
    return made->bytes();
  };
  const std::size_t around = kept("x", "y", false) / 2 - 1;
  const std::string begin = R"({"model":"m","messages":[{"role":"user","content":")";
  const auto common = [&](std::size_t bytes) { return std::string(bytes - begin.size(), 'c'); };
  const auto whole = [&](std::size_t prompts) { return 2 * around + prompts; };
  // 255 and 256 bytes in common.
  EXPECT_EQ(kept(common(255) + "x", common(255) + "y"), whole(2 * common(255).size() + 2));
  EXPECT_EQ(kept(common(256) + "x", common(256) + "y"), whole(2 * common(256).size() + 2) - 256);
  EXPECT_EQ(kept(common(256) + "x", common(256) + "y", false), whole(2 * common(256).size() + 2));
  // Half of the earlier body, and a byte less.
  const std::size_t own = 600;
  const std::string tail(own, 'x');
  const std::size_t end = around - begin.size();
  const std::size_t half = own + end;
  EXPECT_EQ(kept(common(half) + tail, common(half) + "y"),
            whole(2 * common(half).size() + own + 1) - half);
  EXPECT_EQ(kept(common(half - 2) + tail, common(half - 2) + "y"),
            whole(2 * common(half - 2).size() + own + 1));
}

}  // namespace
}  // namespace assay::protocol
