// The learned template where events count themselves: what it passes over, and that the slow path
// reads the same.
#include "protocol/learned_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "protocol/reply_twin.h"
#include "protocol/testing_reply_words.h"

namespace assay::protocol {
namespace {

// Reads a stream of one kind by the template and slowly, and holds both against each other.
class BothWays {
 public:
  explicit BothWays(Api api) { state_.api = slow_state_.api = api; }

  TwinEvent read(const std::string& data) {
    const std::string bytes = data + std::string(kDecodePadding, '"');
    DecodedEvent fast;
    DecodedEvent slow;
    decoder_.decode({bytes.data(), data.size()}, state_, fast);
    slow_.decode_slowly({bytes.data(), data.size()}, slow_state_, slow);
    EXPECT_EQ(own(fast), own(slow)) << data;
    EXPECT_EQ(fast.malformed, slow.malformed) << data;
    EXPECT_EQ(fast.ends, slow.ends) << data;
    EXPECT_EQ(fast.choice, slow.choice) << data;
    return own(fast);
  }
  std::uint32_t hits() const { return state_.template_hits; }

 private:
  ReplyDecoder decoder_{};
  ReplyDecoder slow_{};
  StreamState state_{};
  StreamState slow_state_{};
};

TEST(LearnedTemplate, an_event_that_counts_itself_is_read_by_it) {
  struct Form {
    Api api{};
    std::string before_count{};
    std::string before_text{};
    std::string behind{};
  };
  const Form forms[] = {
      {Api::realtime, R"({"type":"response.output_text.delta","event_id":"event_)",
       R"(","item_id":"i","delta":")", R"(","content_index":0})"},
      {Api::openai_responses, R"({"type":"response.output_text.delta","sequence_number":)",
       R"(,"item_id":"m","delta":")", R"(","logprobs":[]})"},
      {Api::ollama_chat, R"({"model":"m","created_at":"2026-01-01T00:00:0)",
       R"(Z","message":{"role":"assistant","content":")", R"("},"done":false})"}};
  for (const Form& form : forms) {
    BothWays stream(form.api);
    for (int i = 0; i < 1200; ++i) {
      const std::string word = i % 7 == 0 ? R"(\n\"\u20ac)" : format(" w{}", i);
      const TwinEvent event = stream.read(form.before_count + std::to_string(i) + form.before_text +
                                          word + form.behind);
      ASSERT_EQ(event.fragments.size(), 1U);
      ASSERT_EQ(event.fragments[0].second, i % 7 == 0 ? "\n\"€" : word);
    }
    EXPECT_EQ(stream.hits(), 1199U);
  }
}

TEST(LearnedTemplate, a_count_behind_the_text_is_passed_over_too) {
  // As servers write it that put members in order of their names.
  BothWays stream(Api::openai_responses);
  for (int i = 0; i < 50; ++i) {
    const TwinEvent event = stream.read(
        format(R"({{"content_index": 0, "delta": "a\"{}", "item_id": "m", "obfuscation": "{}", )"
               R"("sequence_number": {}, "type": "response.output_text.delta"}})",
               i, std::string(static_cast<std::size_t>(i) % 16, 'x'), i));
    ASSERT_EQ(event.fragments.at(0).second, format("a\"{}", i));
  }
  EXPECT_EQ(stream.hits(), 49U);
}

TEST(LearnedTemplate, what_only_looks_like_a_count_is_read_slowly) {
  const std::string first =
      R"({"type":"response.output_text.delta","sequence_number":7,"delta":"a"})";
  for (const char* value : {"8", "0", "08", "8.5", "8e1", "-8", "", "\"8\"", "null", "{\"a\":8}",
                            "8,\"delta\":\"b\"", "8 ", "99999999999999999999999999"}) {
    std::string other = first;
    other.replace(other.find('7'), 1, value);
    BothWays stream(Api::openai_responses);
    stream.read(first);
    stream.read(other);
    stream.read(first);
  }
  // A member's name as a value, in a string, in an object; two of them; one with an escape in it.
  for (const char* odd :
       {R"({"type":"event_id","delta":"a"})",
        R"({"type":"response.output_text.delta","x":["event_id","event_id"],"delta":"a"})",
        R"({"type":"response.output_text.delta","x":"\"event_id\":\"y\"","delta":"a"})",
        R"({"type":"response.output_text.delta","x":{"event_id":"y"},"delta":"a"})",
        R"({"type":"response.output_text.delta","event_id":"y","event_id":"y","delta":"a"})",
        R"({"type":"response.output_text.delta","event_id":"\u0079","delta":"a"})",
        R"({"type":"response.output_text.delta","event_id" : "y" , "delta" : "a"})",
        R"({"type":"response.output_text.delta","delta":"event_id","event_id":""})"}) {
    BothWays stream(Api::realtime);
    std::string next = odd;
    if (const std::size_t at = next.rfind("\"y\""); at != std::string::npos) {
      next.replace(at, 3, "\"longer than it was\"");
    }
    for (const std::string& data : {std::string(odd), next, std::string(odd) + " ", next}) {
      stream.read(data);
    }
  }
}

// Events of random members in a random order, some of which change, and some bytes of which are
// lost: both ways agree on each.
TEST(LearnedTemplate, agrees_with_the_slow_path_on_random_events) {
  const std::pair<Api, std::vector<std::string>> kinds[] = {
      {Api::realtime, {"event_id", "response.output_text.delta"}},
      {Api::openai_responses, {"sequence_number", "response.output_text.delta"}},
      {Api::ollama_generate, {"created_at", "x"}}};
  std::uint64_t hits = 0;
  std::uint64_t events = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const auto& [api, names] = kinds[seed % 3];
    std::vector<std::string> order{"count", "type", "text", "other", "obfuscation"};
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    const bool number = rng.below(2) == 0;
    const char* const gap = rng.below(2) == 0 ? "" : " ";
    BothWays stream(api);
    for (int i = 0; i < 60; ++i) {
      static constexpr const char* kWords[] = {"",     "a",    " b", "\\n",
                                               "\\\"", "\\\\", "€",  "event_id"};
      std::string data = "{";
      for (const std::string& what : order) {
        if (data.size() > 1) data += "," + std::string(gap);
        if (what == "count") {
          data += format("\"{}\":{}", names[0], gap);
          data += number ? format("{}", i * 7)
                         : format("\"e_{}{}\"", i, rng.below(20) == 0 ? "\\/" : "");
        } else if (what == "type") {
          data += format("\"type\":\"{}\"", names[1]);
        } else if (what == "text") {
          data += format("\"{}\":\"{}{}\"", api == Api::ollama_generate ? "response" : "delta",
                         kWords[rng.below(std::size(kWords))], kWords[rng.below(4)]);
        } else if (what == "other") {
          data += rng.below(10) == 0 ? "\"x\":[1,\"event_id\"]" : "\"x\":{\"y\":null}";
        } else {
          data += format("\"obfuscation\":\"{}\"", std::string(rng.below(8), 'o'));
        }
      }
      data += "}";
      if (rng.below(8) == 0) data.erase(rng.below(data.size()), 1 + rng.below(3));
      if (rng.below(12) == 0) data.insert(rng.below(data.size()), 1, "\"\\,:0{}"[rng.below(7)]);
      stream.read(data);
      ++events;
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed << " event " << i;
    }
    hits += stream.hits();
  }
  EXPECT_GT(hits, events / 10);  // otherwise this test proves nothing about the template
}

// What is found in an event by the template of another; "-" where it does not fit. The text of both
// is the member "t", which is the event's own last member of that name.
std::string found_by(const std::string& learned, const std::string& event) {
  const std::string padded = learned + std::string(kDecodePadding, '"');
  const std::size_t at = learned.find("\"t\":\"") + 5;
  std::size_t end = at;
  while (learned[end] != '"') end += learned[end] == '\\' ? 2U : 1U;
  StreamState state;
  learn({padded.data(), learned.size()}, {padded.data() + at, end - at}, Category::text, 0,
        {R"("n")", R"("m")"}, state);
  const std::string bytes = event + std::string(kDecodePadding, '"');
  const std::string_view found = find_fragment({bytes.data(), event.size()}, state);
  return found.data() == nullptr ? "-" : std::string(found);
}

TEST(LearnedTemplate, an_event_fits_where_all_but_its_text_and_counts_is_the_same) {
  struct Case {
    std::string learned{};
    std::string event{};
    std::string found{};
  };
  const Case cases[] = {{R"({"t":"a","n":1})", R"({"t":"bc","n":2})", "bc"},
                        {R"({"t":"a","n":1})", R"({"t":"","n":20})", ""},
                        {R"({"n":1,"t":"a"})", R"({"n":2,"t":"bc"})", "bc"},
                        {R"({"n":1,"m":"x","t":"a"})", R"({"n":22,"m":"yy","t":"bc"})", "bc"},
                        {R"({"m":"x","n":1,"t":"a"})", R"({"m":"yy","n":22,"t":"bc"})", "bc"},
                        {R"({"m":"x","t":"a","n":1})", R"({"m":"yy","t":"bc","n":22})", "bc"},
                        {R"({"t":"a","m":"x","n":1})", R"({"t":"bc","m":"yy","n":22})", "bc"},
                        {R"({ "n" : 1 ,"t":"a"})", R"({ "n" : 2 ,"t":"bc"})", "bc"},
                        {R"({"n" :"x","t":"a"})", R"({"n" :"","t":"bc"})", "bc"},
                        {R"({"n":0,"t":"a"})", R"({"n":0,"t":"b"})", "b"},
                        // A text may hold what is escaped, and blanks.
                        {R"({"t":"a","n":1})", R"({"t":"b c\"\\","n":2})", R"(b c\"\\)"},
                        // What is a value of neither kind is the same, or does not fit.
                        {R"({"n":1.5,"t":"a"})", R"({"n":1.5,"t":"b"})", "b"},
                        {R"({"n":1.5,"t":"a"})", R"({"n":2.5,"t":"b"})", "-"},
                        {R"({"n":1e5,"t":"a"})", R"({"n":2e5,"t":"b"})", "-"},
                        {R"({"n":1E5,"t":"a"})", R"({"n":2E5,"t":"b"})", "-"},
                        {R"({"n":-1,"t":"a"})", R"({"n":-2,"t":"b"})", "-"},
                        {R"({"n":true,"t":"a"})", R"({"n":false,"t":"b"})", "-"},
                        {R"({"n":"x\n","t":"a"})", R"({"n":"y\n","t":"b"})", "-"},
                        // A value and not a name, and a name inside a string.
                        {R"({"k":"n","t":"a","i":1})", R"({"k":"n","t":"b","i":2})", "-"},
                        {R"({"k":["n"],"t":"a"})", R"({"k":["n"],"t":"b"})", "b"},
                        // A count of another form.
                        {R"({"n":1,"t":"a"})", R"({"n":02,"t":"b"})", "-"},
                        {R"({"n":1,"t":"a"})", R"({"n":,"t":"b"})", "-"},
                        {R"({"n":1,"t":"a"})", R"({"n":"2","t":"b"})", "-"},
                        {R"({"n":"x","t":"a"})", R"({"n":"y\n","t":"b"})", "-"},
                        {R"({"n":"x","t":"a"})", R"({"n":2,"t":"b"})", "-"},
                        // Anything else that differs, and what is cut.
                        {R"({"t":"a","n":1})", R"({"u":"b","n":2})", "-"},
                        {R"({"t":"a","n":1})", R"({"t":"b","k":2})", "-"},
                        {R"({"t":"a","n":1})", R"({"t":"b","n":2]})", "-"},
                        {R"({"t":"a","n":1})", R"({"t":"b","n":2}})", "-"},
                        {R"({"t":"a","n":1})", R"({"t":"b","n":2)", "-"},
                        {R"({"t":"a","n":1})", R"({"t":"b)", "-"},
                        {R"({"t":"a","n":1})", "{\"t\":\"b\x1f\",\"n\":2}", "-"},
                        {R"({"t":"a","n":1})", R"({"t":"b\)", "-"},
                        {R"({"t":"a","n":1})", R"({"t)", "-"},
                        {R"({"t":"a","n":1})", "", "-"}};
  for (const Case& one : cases) {
    EXPECT_EQ(found_by(one.learned, one.event), one.found) << one.learned << ' ' << one.event;
  }
}

TEST(LearnedTemplate, an_event_is_learned_with_up_to_16_kib_around_its_text) {
  for (const std::size_t more : {std::size_t{0}, std::size_t{1}}) {
    std::string event = R"({"choices":[{"delta":{"content":"hi"}}],"x":""})";
    const std::size_t around = event.size() - 2;
    event.insert(event.size() - 2, std::string(kTemplateBytesMax - around + more, 'y'));
    BothWays stream(Api::openai);
    stream.read(event);
    stream.read(event);
    EXPECT_EQ(stream.hits(), more == 0 ? 1U : 0U);
  }
}

// Behind what there is of the text stands the rest of it, which is not read.
TEST(LearnedTemplate, a_value_varies_where_its_name_is_that_of_a_whole_member) {
  const auto value = [](const std::string& text, std::size_t size = std::string::npos) {
    const std::string padded = with_padding(text);
    const std::string_view data = std::string_view(padded).substr(0, std::min(size, text.size()));
    const std::string_view found = varying_value(data, R"("n")");
    return found.data() == nullptr ? "-" : std::string(found);
  };
  for (const char blank : {' ', '\n', '\r', '\t'}) {
    EXPECT_EQ(value(format(R"({{{0}"n"{0}{0}:{0}{0}"ab"}})", blank)), "ab") << int{blank};
    EXPECT_EQ(value(format(R"({{"k":1,{0}"n"{0}{0}:{0}{0}12{0}}})", blank)), "12") << int{blank};
  }
  const std::string digits = R"({"n" : 12})";
  for (std::size_t size = 0; size <= digits.size(); ++size) {
    EXPECT_EQ(value(digits, size), size == digits.size() ? "12" : "-") << size;
  }
  const std::string string = R"({"n" : "ab"})";
  for (std::size_t size = 0; size <= string.size(); ++size) {
    EXPECT_EQ(value(string, size), size + 1 >= string.size() ? "ab" : "-") << size;
  }
  for (const char* const none :
       {R"("n":1)", R"(x"n":1,)", R"({"k":["m","n","x"]})", R"({"k":["m","n",7]})",
        R"({"k":"n","m":1})", R"({"n":1.5})", R"({"n":1e5})", R"({"n":1E5})", R"({"n":-1})",
        R"({"n":})", R"({"n":null})", R"({"n":"a\"b"})", R"({"m":1})", ""}) {
    EXPECT_EQ(value(none), "-") << none;
  }
}

TEST(LearnedTemplate, a_varying_text_ends_at_its_own_quote_and_not_behind_the_event) {
  const std::string text = with_padding(R"(ab"c)");
  const auto size_of = [&](std::size_t size) {
    const char* const end = value_end(text.data(), text.data() + size, false);
    return end == nullptr ? -1 : end - text.data();
  };
  EXPECT_EQ(size_of(4), 2);
  EXPECT_EQ(size_of(3), 2);
  EXPECT_EQ(size_of(2), -1);
  EXPECT_EQ(size_of(0), -1);
  // What has to be unescaped, or is no string at all, is for the parser.
  for (const char* const odd : {R"(a\"b")", "a\x1f\""}) {
    const std::string odd_text = with_padding(odd);
    EXPECT_EQ(value_end(odd_text.data(), odd_text.data() + 5, false), nullptr) << odd;
  }
}

TEST(LearnedTemplate, of_a_name_that_stands_twice_the_first_value_varies) {
  const std::string text = R"({"id":"a","of":{"id":"b"}})";
  const std::string padded = with_padding(text);
  const std::string_view data(padded.data(), text.size());
  EXPECT_EQ(varying_value(data, R"("id")").data() - data.data(), 7);
  EXPECT_EQ(varying_value(data, R"("id")"), "a");
}

}  // namespace
}  // namespace assay::protocol
