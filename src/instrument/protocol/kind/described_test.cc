#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/yaml.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

DescribedKind teller(std::string_view rest = "") {
  auto kind = parse_described_kind(
      yaml::parse("kind: tell\nroute: /{model}/tell\nkey_header: x-key\nheaders: {x-version: '2'}\n"
                  "request: {words: 'Tell: {prompt}', live: '{stream}', most: "
                  "'{output_tokens_max}', heat: '{temperature}'}\n"
                  "reply:\n  text: {path: [piece.say, piece.0.say], when: {path: t, is: piece}}\n"
                  "  reasoning: piece.think\n  finish: why\n  end: {path: t, is: [over, 7, true]}\n"
                  "  error: {path: what, when: {path: t, is: trouble}}\n"
                  "  usage: {prompt_tokens: bill.heard, output_tokens: bill.said}\n"
                  "whole: {text: story, usage: {output_tokens: bill.said}, error: what}\n" +
                  std::string(rest))
          ->to_json());
  CHECK(kind);
  return *std::move(kind);
}

struct DescribedFacts {
  std::string text{};
  std::string reasoning{};
  std::string error{};
  bool ends = false;
  bool has_choice = false;
  bool malformed = false;
  Usage usage{};
  FinishReason finish = FinishReason::none;
};

DescribedFacts facts_of_described(const DecodedEvent& event) {
  DescribedFacts out{.error = std::string(event.error),
                     .ends = event.ends,
                     .has_choice = event.has_choice,
                     .malformed = event.malformed,
                     .usage = event.usage,
                     .finish = event.finish};
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    const bool thinks = event.fragments[i].category == Category::reasoning;
    (thinks ? out.reasoning : out.text) += event.fragments[i].text;
  }
  return out;
}

// Reads one event after the other, as one stream.
class DescribedStream {
 public:
  explicit DescribedStream(DescribedKind kind) : kind_(std::move(kind)) {
    state_.api = {Api::described, &kind_};
  }
  DescribedFacts operator()(std::string text) {
    const std::size_t size = text.size();
    text.append(kDecodePadding, '\\');
    decoder_.decode({text.data(), size}, state_, event_);
    return facts_of_described(event_);
  }
  DescribedFacts whole(std::string text) {
    const std::size_t size = text.size();
    text.append(kDecodePadding, '\\');
    decoder_.decode_reply(state_.api, {text.data(), size}, event_);
    return facts_of_described(event_);
  }
  std::uint32_t template_hits() const { return state_.template_hits; }

 private:
  DescribedKind kind_;
  StreamState state_{};
  ReplyDecoder decoder_{};
  DecodedEvent event_{};
};

TEST(Described, a_request_is_the_filled_template_with_its_headers) {
  const auto kind = std::make_shared<const DescribedKind>(teller());
  const Endpoints endpoints{.urls = {"http://host:1/base"},
                            .api = Api::described,
                            .described = kind,
                            .api_key = "secret",
                            .request_ids = false};
  Sample sample;
  sample.prompt = "hi";
  const auto made =
      make_request(endpoints, 0, {.model = "a b", .max_new_tokens = 9}, sample, false);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->body, R"({"words":"Tell: hi","live":true,"most":9})");
  EXPECT_THAT(made->head, testing::HasSubstr("POST /base/a%20b/tell HTTP/1.1\r\n"));
  EXPECT_THAT(made->head, testing::HasSubstr("x-key: secret\r\n"));
  EXPECT_THAT(made->head, testing::HasSubstr("x-version: 2\r\n"));
  EXPECT_THAT(made->head, testing::Not(testing::HasSubstr("Authorization")));
  const auto salted = make_body(endpoints.spoken(), {.max_new_tokens = 9}, sample, true);
  ASSERT_TRUE(salted);
  EXPECT_EQ(salted->salt_offset, salted->bytes.find("0000000000000000"));
  EXPECT_EQ(salted->asked.tokens_max, 9);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const auto& [limit, known] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                     {0, -1},
                                     {kMost - 1, kMost - 1},
                                     {kMost, -1}}) {
    const auto body = make_body(endpoints.spoken(), {.max_new_tokens = limit}, sample, false);
    ASSERT_TRUE(body) << body.error().message;
    EXPECT_EQ(body->asked.tokens_max, known) << limit;
  }
}

TEST(Described, a_limit_that_is_not_sent_is_none) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: k\nroute: /r\nrequest: {p: '{prompt}', s: '{stream}'}\n"
                  "reply: {text: a}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  Sample sample;
  sample.prompt = "hi";
  const auto made = make_body({Api::described, &*kind}, {.max_new_tokens = 9}, sample, false);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->asked.tokens_max, -1);
}

TEST(Described, messages_and_parts_are_refused_by_name_where_no_place_takes_them) {
  const DescribedKind kind = teller();
  Sample messages;
  messages.messages = Json::array().push_back(Json().set("role", "user").set("content", "a"));
  Sample parts;
  parts.content_parts = Json::array().push_back(Json().set("type", "text").set("text", "a"));
  for (const Sample& sample : {messages, parts}) {
    const auto made = make_body({Api::described, &kind}, {}, sample, false);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message, "sample: messages: the request of tell has no {messages}");
  }
}

TEST(Described, a_kind_without_streams_is_not_asked_for_one) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: slow\nroute: /slow\nstream: none\nrequest: {words: '{prompt}'}\n"
                  "reply: {text: story}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  Sample sample;
  sample.prompt = "hi";
  Generation generation;
  generation.stream = true;
  const auto made = make_body({Api::described, &*kind}, generation, sample, false);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "slow does not stream; set streaming to off");
  generation.stream = false;
  EXPECT_TRUE(make_body({Api::described, &*kind}, generation, sample, false));
}

TEST(Described, an_extra_body_may_not_turn_the_stream_off) {
  const DescribedKind kind = teller();
  Sample sample;
  sample.prompt = "hi";
  Generation generation;
  generation.extra_body.set("live", false);
  const auto made = make_body({Api::described, &kind}, generation, sample, false);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, testing::HasSubstr("extra_body.live"));
}

TEST(Described, the_facts_of_events_stand_at_their_paths) {
  DescribedStream stream(teller());
  EXPECT_FALSE(stream(R"({"t":"hello"})").has_choice);
  EXPECT_EQ(stream(R"({"t":"piece","piece":{"say":"a\n"}})").text, "a\n");
  EXPECT_EQ(stream(R"({"t":"piece","piece":[{"say":"b"}]})").text, "b");
  EXPECT_EQ(stream(R"({"piece":{"think":"c","say":"no"},"t":"x"})").reasoning, "c");
  // A text outside of its condition, one of another type, one whose key came again.
  EXPECT_EQ(stream(R"({"t":"other","piece":{"say":"d"}})").text, "");
  EXPECT_EQ(stream(R"({"t":"piece","piece":{"say":7}})").text, "");
  EXPECT_EQ(stream(R"({"t":"piece","piece":{"say":"e"},"piece":{}})").text, "");
  const DescribedFacts end = stream(R"({"t":"over","why":"length","bill":{"heard":3,"said":4}})");
  EXPECT_TRUE(end.ends && end.has_choice);
  EXPECT_EQ(end.finish, FinishReason::length);
  EXPECT_EQ(end.usage.prompt_tokens, 3);
  EXPECT_EQ(end.usage.completion_tokens, 4);
  EXPECT_TRUE(stream(R"({"t":7})").ends && stream(R"({"t":true})").ends);
  EXPECT_FALSE(stream(R"({"t":"7"})").ends);
  EXPECT_EQ(stream(R"({"t":"trouble","what":{"message":"no room"}})").error, "no room");
  EXPECT_EQ(stream(R"({"t":"piece","what":"unused"})").error, "");
  EXPECT_TRUE(stream(R"({"t":"piece")").malformed);
  EXPECT_FALSE(stream(R"({"t":"piece","piece":7})").malformed) << "a place below it is none";
  EXPECT_TRUE(stream("7").malformed);
  EXPECT_TRUE(stream("7]").malformed);
}

TEST(Described, a_place_may_be_any_item_of_an_array) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: k\nroute: /r\nrequest: {p: '{prompt}', s: '{stream}'}\n"
                  "reply: {text: a.11, reasoning: a.1.b}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  DescribedStream stream(*kind);
  const DescribedFacts event = stream(R"({"a":["0",{"b":"1"},2,3,4,5,6,7,8,9,"10","11","12"]})");
  EXPECT_EQ(event.text, "11");
  EXPECT_EQ(event.reasoning, "1");
  EXPECT_EQ(stream(R"({"a":["0","1","2"]})").text, "");
}

TEST(Described, a_condition_without_values_holds_for_anything_but_nothing) {
  DescribedKind kind = teller();
  kind.event.end.is.clear();
  DescribedStream stream(std::move(kind));
  for (const char* value : {"1", "true", "\"x\"", "{}", "0"}) {
    EXPECT_TRUE(stream(format(R"({{"t":{}}})", value)).ends) << value;
  }
  for (const char* value : {"null", "false", "\"\""}) {
    EXPECT_FALSE(stream(format(R"({{"t":{}}})", value)).ends) << value;
  }
  EXPECT_FALSE(stream(R"({"u":1})").ends);
}

TEST(Described, an_event_may_be_an_array) {
  DescribedKind kind = teller();
  kind.event = {};
  kind.event.places = {{"1", "say"}};
  kind.event.text.places = {0};
  DescribedStream stream(std::move(kind));
  EXPECT_EQ(stream(R"([0,{"say":"a"}])").text, "a");
}

// A file's first path is place 0.
TEST(Described, a_condition_may_be_on_the_only_path) {
  DescribedKind kind;
  kind.event.places = {{"t"}};
  kind.event.end = {.place = 0, .is = {Json("over")}};
  kind.event.text = {.places = {0}, .when = {.place = 0, .is = {Json("a"), Json("over")}}};
  const auto read = [&](std::string text) {
    const std::size_t size = text.size();
    text.append(kDecodePadding, ' ');
    ReplyFields fields;
    EXPECT_TRUE(read_described(kind, false, {text.data(), size}, fields));
    return std::pair(fields.ends, fields.content.data != nullptr);
  };
  EXPECT_EQ(read(R"({"t":"over"})"), std::pair(true, true));
  EXPECT_EQ(read(R"({"t":"a"})"), std::pair(false, true));
  EXPECT_EQ(read(R"({"t":"b"})"), std::pair(false, false));
  kind.event.text.when.place = -1;
  EXPECT_EQ(read(R"({"t":"b"})"), std::pair(false, true));
  kind.event.end.place = -1;
  EXPECT_EQ(read(R"({"t":"over"})"), std::pair(false, true));
}

TEST(Described, what_is_not_asked_for_has_no_slot_in_the_request) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: k\nroute: /r\nrequest: {p: '{prompt}', l: '{output_tokens_max}', m: "
                  "'{model}', y: '{system}', live: '{stream}', t: '{temperature}', o: '{top_p}', "
                  "s: '{seed}', c: '{column.x}'}\nreply: {text: a}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  Sample sample;
  sample.prompt = "hi";
  Generation generation{.max_new_tokens = 0};
  generation.stream = false;
  EXPECT_EQ(described_body(*kind, generation, sample, '\0').dump(), R"({"p":"hi","live":false})");
  generation = {.model = "m", .max_new_tokens = 1};
  generation.temperature = 0;
  generation.top_p = 0.5;
  generation.seed = 7;
  sample.system = "be";
  sample.body.set("x", 3);
  EXPECT_EQ(described_body(*kind, generation, sample, '\0').dump(),
            R"({"p":"hi","l":1,"m":"m","y":"be","live":true,"t":0.0,"o":0.5,"s":7,"c":3})");
}

TEST(Described, an_error_that_says_nothing_is_none) {
  DescribedStream stream(teller());
  for (const char* value : {"null", "false", "\"\""}) {
    EXPECT_EQ(stream(format(R"({{"t":"trouble","what":{}}})", value)).error, "") << value;
  }
  EXPECT_EQ(stream(R"({"t":"trouble","what":"x"})").error, "x");
}

TEST(Described, of_several_places_the_first_that_says_something_counts) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: k\nroute: /r\nrequest: {p: '{prompt}', s: '{stream}'}\n"
                  "reply: {text: [a, b], error: [e, f]}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  DescribedStream stream(*kind);
  EXPECT_EQ(stream(R"({"e":"one","f":"two"})").error, "one");
  EXPECT_EQ(stream(R"({"f":"two","e":null})").error, "two");
  EXPECT_EQ(stream(R"({"a":"one","b":"two"})").text, "one");
  EXPECT_EQ(stream(R"({"a":"","b":"two"})").text, "two");
  EXPECT_TRUE(stream(R"({"a":""})").has_choice) << "an empty text is one";
  EXPECT_FALSE(stream(R"({"c":""})").has_choice);
}

TEST(Described, what_is_asked_for_is_counted_up_to_what_a_reply_can_hold) {
  DescribedKind kind = teller();
  kind.units_asked = {"n"};
  const auto asked = [&](const Json& value) {
    return units_of_described(kind, Json().set("n", value));
  };
  EXPECT_EQ(asked(Json(5)), 5);
  EXPECT_EQ(asked(Json(0)), 1);
  EXPECT_EQ(asked(Json(65'535)), 65'535);
  EXPECT_EQ(asked(Json(65'536)), 65'535);
  EXPECT_EQ(asked(Json("x")), 1);
  EXPECT_EQ(asked(Json::array().push_back(1).push_back(2).push_back(3)), 3);
  kind.units_asked.clear();
  EXPECT_EQ(asked(Json(5)), 1);
}

TEST(Described, what_a_sample_lacks_is_named) {
  DescribedKind kind = teller();
  Sample sample;
  EXPECT_FALSE(check_described(kind, sample)) << "no prompt";
  sample.prompt = "hi";
  EXPECT_TRUE(check_described(kind, sample));
  sample.content_parts = Json::array();
  EXPECT_FALSE(check_described(kind, sample)) << "no messages in its request";
  kind.takes_prompt = false;
  sample = {};
  EXPECT_FALSE(check_described(kind, sample)) << "no column at all";
  sample.body.set("other", 1);
  EXPECT_TRUE(check_described(kind, sample));
  kind.takes_messages = true;
  EXPECT_FALSE(check_described(kind, sample)) << "no messages";
}

TEST(Described, events_that_differ_in_their_text_are_read_by_the_template) {
  DescribedStream stream(teller());
  for (const std::string word : {"a", "b\\u00e9", "c"}) {
    const DescribedFacts event = stream(R"({"t":"piece","n":1,"piece":{"say":")" + word + "\"}}");
    EXPECT_FALSE(event.text.empty());
  }
  EXPECT_EQ(stream.template_hits(), 2u);
  EXPECT_TRUE(stream(R"({"t":"over"})").ends);
}

TEST(Described, a_text_so_far_gives_what_is_new) {
  DescribedKind kind = teller();
  kind.text_so_far = true;
  DescribedStream stream(std::move(kind));
  EXPECT_EQ(stream(R"({"t":"piece","piece":{"say":"one"}})").text, "one");
  EXPECT_EQ(stream(R"({"t":"piece","piece":{"say":"one two"}})").text, " two");
  EXPECT_EQ(stream(R"({"t":"piece","piece":{"say":"one two"}})").text, "");
}

TEST(Described, a_whole_reply_has_paths_of_its_own) {
  DescribedStream stream(teller());
  const DescribedFacts reply = stream.whole(R"({"story":"all of it","bill":{"said":5}})");
  EXPECT_EQ(reply.text, "all of it");
  EXPECT_EQ(reply.usage.completion_tokens, 5);
  EXPECT_FALSE(stream.whole(R"({"t":"piece","piece":{"say":"a"}})").has_choice);
  EXPECT_EQ(stream.whole(R"({"what":"no"})").error, "no");
}

TEST(Described, each_count_of_tokens_has_a_path_of_its_own) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: k\nroute: /r\nrequest: {p: '{prompt}', s: '{stream}'}\n"
                  "reply: {text: say, usage: {prompt_tokens: a, output_tokens: b,\n"
                  "        cached_tokens: c, reasoning_tokens: d}}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  DescribedStream stream(*kind);
  const Usage all = stream(R"({"say":"x","a":4,"b":5,"c":6,"d":7})").usage;
  EXPECT_EQ(all.prompt_tokens, 4);
  EXPECT_EQ(all.completion_tokens, 5);
  EXPECT_EQ(all.cached_tokens, 6);
  EXPECT_EQ(all.reasoning_tokens, 7);
  const Usage one = stream(R"({"say":"x","d":8})").usage;
  EXPECT_EQ(one.reasoning_tokens, 8);
  EXPECT_EQ(one.prompt_tokens, -1);
  EXPECT_EQ(one.completion_tokens, -1);
  EXPECT_EQ(one.cached_tokens, -1);
}

// What makes an event of a stream one of a choice: words, units, an end or a reason for it.
TEST(Described, an_event_is_of_a_choice_where_it_has_something_of_the_answer) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: k\nroute: /r\nrequest: {p: '{prompt}', s: '{stream}'}\n"
                  "reply: {text: say, reasoning: think, units: found, finish: why,\n"
                  "        end: {path: t, is: over}, usage: {output_tokens: said}}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  struct Row {
    const char* event;
    bool of_a_choice;
    bool so_far;  // the same where each event has the whole text so far
  };
  for (const Row& row : {Row{R"({"say":"a"})", true, false},
                         {R"({"say":""})", true, false},
                         {R"({"say":7})", false, false},
                         {R"({"found":[1]})", true, true},
                         {R"({"found":[]})", true, true},
                         {R"({"found":{}})", false, false},
                         {R"({"why":"stop"})", true, true},
                         {R"({"why":""})", false, false},
                         {R"({"t":"over"})", true, true},
                         {R"({"t":"x"})", false, false},
                         {R"({"think":"b"})", true, true},
                         {R"({"said":3})", false, false},
                         {R"({"say":"a","why":"stop"})", true, false}}) {
    for (const bool so_far : {false, true}) {
      DescribedKind one = *kind;
      one.text_so_far = so_far;
      std::string text = row.event;
      text.append(kDecodePadding, ' ');
      const std::string_view event = std::string_view(text).substr(0, text.size() - kDecodePadding);
      ReplyFields fields;
      ASSERT_TRUE(read_described(one, false, event, fields)) << row.event;
      EXPECT_EQ(fields.has_choice, so_far ? row.so_far : row.of_a_choice) << row.event;
      EXPECT_EQ((so_far ? fields.text : fields.content).data != nullptr,
                std::string_view(row.event).starts_with("{\"say\":\""))
          << row.event;
      EXPECT_EQ((so_far ? fields.content : fields.text).data, nullptr) << row.event;
      EXPECT_EQ(fields.has_usage, event == R"({"said":3})") << row.event;
    }
  }
}

TEST(Described, units_are_counted_in_the_request_and_in_the_reply) {
  const auto kind = parse_described_kind(
      yaml::parse("kind: label\nroute: /label\nstream: none\nunit: {name: picture, asked: a.p}\n"
                  "request: {a: {p: '{column.pictures}'}}\nreply: {units: found}\n")
          ->to_json());
  ASSERT_TRUE(kind) << kind.error().message;
  Sample sample;
  sample.body.set("pictures", Json::array().push_back("x").push_back("y"));
  const auto body = make_body({Api::described, &*kind}, {.stream = false}, sample, false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->asked.choices, 2);
  ReplyFields fields;
  std::string reply = R"({"found":[{"a":[1,2]},3,"x"]})";
  const std::size_t size = reply.size();
  reply.append(kDecodePadding, ' ');
  ASSERT_TRUE(read_described(*kind, true, {reply.data(), size}, fields));
  EXPECT_EQ(fields.units, 3u);
  EXPECT_TRUE(kind_of({Api::described, &*kind}).all_units);
  // A reply that does not count them owes none.
  DescribedKind uncounted = *kind;
  uncounted.whole.units = -1;
  EXPECT_FALSE(kind_of({Api::described, &uncounted}).all_units);
  EXPECT_FALSE(kind_of_file(teller()).all_units);
}

// Each of the eight rows, from a kind that has these three properties and no other.
TEST(Described, a_kinds_row_says_what_of_its_replies_is_needed) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    DescribedKind own = teller();
    own.stream = (bits & 1) != 0 ? KindStream::lines : KindStream::sse;
    own.event.end.place = (bits & 2) != 0 ? 0 : -1;
    own.unit = (bits & 4) != 0 ? "image" : "";
    own.whole.units = (bits & 4) != 0 ? 0 : -1;
    const Kind& row = kind_of_file(own);
    EXPECT_EQ(row.api, Api::described) << bits;
    EXPECT_EQ(row.lines, (bits & 1) != 0) << bits;
    EXPECT_EQ(row.ends_itself, (bits & 2) != 0) << bits;
    EXPECT_EQ(row.all_units, (bits & 4) != 0) << bits;
  }
  // Units that a reply does not count are not all known, and a count without a unit is of tokens.
  DescribedKind own = teller();
  own.unit = "image";
  own.whole.units = -1;
  EXPECT_FALSE(kind_of_file(own).all_units);
  own.unit = "";
  own.whole.units = 0;
  EXPECT_FALSE(kind_of_file(own).all_units);
}

}  // namespace
}  // namespace assay::protocol
