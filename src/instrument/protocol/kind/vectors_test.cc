// Replies that hold vectors or scores: what is counted, and what is no reply.
#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "domain/quiet_sink.h"
#include "protocol/codec.h"
#include "protocol/exchange.h"

namespace assay::protocol {
namespace {

DecodedEvent vectors_of(std::string text) {
  const std::size_t size = text.size();
  text.append(kDecodePadding, '\\');
  ReplyDecoder decoder;
  DecodedEvent event;
  decoder.decode_reply(Api::openai_embeddings, {text.data(), size}, event);
  event.error = {};  // it points into `text`
  return event;
}

TEST(Vectors, results_are_counted_under_each_name_that_servers_use) {
  for (const char* const text : {
           R"({"object":"list","data":[{"embedding":[0.5,-1e-3]},{"embedding":"AACAPw=="}]})",
           R"({"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}]})",
           R"({"rankings":[{"index":0,"logit":-4.5},{"index":1,"logit":2}]})",
           R"([{"score":0.9,"index":0},{"score":0.1,"index":1}])",
       }) {
    const DecodedEvent event = vectors_of(text);
    EXPECT_EQ(event.units, 2U) << text;
    EXPECT_TRUE(event.has_choice) << text;
    EXPECT_EQ(event.fragment_count, 0) << text;
  }
}

TEST(Vectors, a_result_that_holds_nothing_is_none) {
  for (const char* const nothing :
       {"null", "[]", "[ ]", "{}", R"({"embedding":null})", R"({"index":0,"embedding":[]})",
        R"({"embedding":[ ],"object":"embedding"})", R"({"embedding":""})",
        R"({"b64_json":null,"url":null})", R"({"url":""})"}) {
    EXPECT_EQ(vectors_of(format(R"({{"data":[{}]}})", nothing)).units, 0U) << nothing;
    EXPECT_FALSE(vectors_of(format("[{}]", nothing)).has_choice) << nothing;
    EXPECT_EQ(vectors_of(format(R"({{"data":[{{"embedding":[1]}},{}]}})", nothing)).units, 1U);
  }
  for (const char* const something :
       {"[1]", "0", R"("x")", R"({"score":0})", R"({"embedding":[[1,2],[3]]})",
        R"({"b64_json":null,"url":"http://x/y"})", R"({"url":"x","b64_json":null})"}) {
    EXPECT_EQ(vectors_of(format(R"({{"data":[{}]}})", something)).units, 1U) << something;
  }
  EXPECT_TRUE(vectors_of(R"({"data":[{"embedding":[1})").malformed);
  EXPECT_TRUE(vectors_of(R"({"data":[tru]})").malformed);
}

TEST(Vectors, one_result_is_a_reply) {
  for (const char* const text : {R"({"data":[{"embedding":[1]}]})", R"([{"score":0.9}])"}) {
    EXPECT_EQ(vectors_of(text).units, 1U) << text;
    EXPECT_TRUE(vectors_of(text).has_choice) << text;
  }
}

TEST(Vectors, the_prompts_tokens_are_reported_and_no_output) {
  const DecodedEvent event =
      vectors_of(R"({"data":[{}],"usage":{"prompt_tokens":7,"total_tokens":7}})");
  EXPECT_TRUE(event.has_usage);
  EXPECT_EQ(event.usage.prompt_tokens, 7);
  EXPECT_EQ(event.usage.completion_tokens, -1);
}

TEST(Vectors, a_reply_without_results_is_none) {
  EXPECT_FALSE(vectors_of(R"({"data":[]})").has_choice);
  EXPECT_FALSE(vectors_of(R"({"data":{}})").has_choice);
  EXPECT_FALSE(vectors_of("[]").has_choice);
  EXPECT_EQ(vectors_of(R"({"error":{"message":"too long"}})").category, Category::error);
  EXPECT_TRUE(vectors_of(R"({"data":[)").malformed);
  EXPECT_TRUE(vectors_of("[1] 2").malformed);
}

TEST(Vectors, the_salt_stands_before_the_first_text_of_a_list) {
  const auto input_of = [](Json inputs) {
    Sample sample;
    sample.body.set("input", std::move(inputs));
    const auto body =
        make_body(Api::openai_embeddings, {.model = "m", .stream = false}, sample, true);
    return body ? body->bytes : body.error().message;
  };
  EXPECT_EQ(input_of(Json::array().push_back("a")),
            R"({"model":"m","input":["[0000000000000000] a"]})");
  EXPECT_EQ(input_of(Json::array().push_back("a").push_back("b").push_back("c")),
            R"({"model":"m","input":["[0000000000000000] a","b","c"]})");
}

TEST(Vectors, a_request_asks_for_as_many_results_as_it_has_inputs) {
  const auto results_of = [](const Sample& sample) {
    const auto body =
        make_body(Api::openai_embeddings, {.model = "m", .stream = false}, sample, false);
    return body ? static_cast<int>(body->asked.choices) : -1;
  };
  Sample sample;
  sample.prompt = "a";
  EXPECT_EQ(results_of(sample), 1);
  sample.body.set("input", Json::array().push_back("a"));
  EXPECT_EQ(results_of(sample), 1);
  sample.body.set("input", Json::array().push_back("a").push_back("b"));
  EXPECT_EQ(results_of(sample), 2);
}

class LastOutcome final : public QuietSink {
 public:
  void on_done(const Event& event, std::string_view detail) override {
    outcome = event.outcome;
    words = detail;
  }

  Outcome outcome = Outcome::cancelled;
  std::string words{};
};

// How a query that sent `inputs` ends with this reply.
LastOutcome ended_with(Api api, std::uint16_t inputs, std::string_view body) {
  LastOutcome sink;
  ReplyDecoder decoder;
  Exchange exchange;
  const Stamp stamp{.arrival = Instant{1000}, .read = Instant{1000}};
  exchange.begin(Query{}, Instant{0}, 0, Asked{.api = api, .stream = false, .choices = inputs});
  exchange.on_bytes(body.size(), stamp);
  net::ResponseHead head{};
  head.status = 200;
  head.type = net::ContentType::json;
  exchange.on_head(head);
  std::string padded(body);
  padded.append(kDecodePadding, '\0');
  exchange.on_body({padded.data(), body.size()}, 0, stamp, decoder, sink);
  exchange.complete(stamp, decoder, sink);
  return sink;
}

TEST(Vectors, a_reply_with_another_number_of_vectors_than_inputs_is_a_bad_reply) {
  constexpr std::string_view kTwo = R"({"data":[{"x":1},{"x":2}]})";
  EXPECT_EQ(ended_with(Api::openai_embeddings, 2, kTwo).outcome, Outcome::ok);
  const LastOutcome fewer = ended_with(Api::openai_embeddings, 3, kTwo);
  EXPECT_EQ(fewer.outcome, Outcome::bad_reply);
  EXPECT_EQ(fewer.words, "3 inputs were sent, and 2 results came");
  EXPECT_EQ(ended_with(Api::score, 1, kTwo).outcome, Outcome::bad_reply);
  // A ranking may be cut.
  EXPECT_EQ(ended_with(Api::rerank, 3, R"({"results":[{"x":1}]})").outcome, Outcome::ok);
  EXPECT_EQ(ended_with(Api::rerank, 3, R"({"results":[]})").outcome, Outcome::bad_reply);
  EXPECT_EQ(ended_with(Api::rerank, 3, R"({"error":"busy"})").outcome, Outcome::stream_error);
}

}  // namespace
}  // namespace assay::protocol
