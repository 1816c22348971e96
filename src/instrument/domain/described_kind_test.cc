#include "domain/described_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kTold =
    "kind: tell\nroute: /tell\nrequest: {words: '{prompt}', live: '{stream}'}\n"
    "reply: {text: piece.say}\n";

Result<DescribedKind> described(std::string_view text) {
  return parse_described_kind(yaml::parse(text)->to_json());
}

std::string refusal(std::string_view text) {
  const auto kind = described(text);
  return kind ? "accepted" : kind.error().message;
}

// The file above with one line in place of its own of the same key, or behind it.
std::string with(std::string_view line) {
  const std::string key(line.substr(0, line.find(':') + 1));
  std::string out(kTold);
  const std::size_t at = out.find(key) == 0 ? 0 : out.find("\n" + key);
  if (at == std::string::npos) return out + std::string(line) + "\n";
  const std::size_t begin = at == 0 ? 0 : at + 1;
  return out.replace(begin, out.find('\n', begin) - begin, line);
}

TEST(DescribedKind, a_file_is_read_whole_and_again_from_its_source) {
  const auto kind = described(
      "kind: tell\nversion: 1\nroute: /{model}/tell\nheaders: {x-version: '2'}\nkey_header: x-key\n"
      "request: {words: '{prompt}', live: '{stream}', most: '{output_tokens_max}', "
      "extra: ['{column.mood}']}\nstream: lines\n"
      "reply:\n  text: [piece.say, piece.0.say]\n  text_so_far: true\n"
      "  error: {path: what, when: {path: type, is: [bad, 7]}}\n  end: {path: type, is: over}\n"
      "  usage: {output_tokens: bill.said}\n");
  ASSERT_TRUE(kind) << kind.error().message;
  EXPECT_EQ(kind->stream_field, "live");
  EXPECT_TRUE(kind->limits_tokens && kind->text_so_far && !kind->takes_messages);
  EXPECT_THAT(kind->columns, ElementsAre("mood"));
  EXPECT_THAT(kind->event.places[1], ElementsAre("piece", "0", "say"));
  EXPECT_EQ(kind->event.error.when.is.size(), 2u);
  EXPECT_EQ(kind->event.error.when.place, kind->event.end.place);  // one path, one place
  const auto again = parse_described_kind(kind->source);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->event.places, kind->event.places);
}

TEST(DescribedKind, what_is_wrong_is_named_with_its_field) {
  ASSERT_EQ(refusal(kTold), "accepted");
  const std::pair<std::string, std::string> cases[] = {
      {with("rout: /x"), "rout: is not a key here; did you mean route?"},
      {with("kind: openai"), "kind: openai is a kind that Assay speaks"},
      {with("kind: A b"), "kind: must be a name"},
      {with("version: 2"), "version: must be 1"},
      {with("route: tell"), "route: must be the path of a POST"},
      {with("stream: websocket"), "stream: must be sse, lines or none"},
      {with("request: [1]"), "request: must be a map"},
      {with("request: {a: '{seed}'}"), "request: asks nothing"},
      {with("request: {a: {b: '{promt}'}}"), "request.a.b: {promt} is not a slot"},
      {with("request: {a: '{prompt'}"), "request.a: a { without a } after it"},
      {with("request: {a: 'so: {messages}'}"), "request.a: {messages} is a list"},
      {with("reply: {end: type}"), "reply.text: is required"},
      {with("reply: {text: a..b}"), "reply.text: \"a..b\" has an empty step"},
      {with("reply: {text: {path: a, when: {path: t, is: [[1]]}}}"), "reply.text.when.is: must be"},
      {with("reply: {text: a, usage: {tokens: b}}"), "reply.usage.tokens: is not a key here"},
      {with("reply: {text: a, usage: {output_tokens: 7}}"), "reply.usage.output_tokens: must be a"},
      {with("headers: {x-version: 2}"), "headers.x-version: must be text, in quotes"},
      {with("stream: lines"), "reply.end: is required"},
      {with("unit: {name: caption}"), "unit: is for replies without tokens"},
      {with("unit: {name: Two words}"), "unit.name: must be a word"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(refusal(text), HasSubstr(message)) << text;
}

TEST(DescribedKind, the_places_of_a_reply_are_limited) {
  std::string list;
  for (std::size_t i = 0; i <= kKindPlacesMax; ++i)
    list += (i == 0 ? "p" : ", p") + std::to_string(i);
  EXPECT_THAT(refusal(with("reply: {text: [" + list + "]}")),
              HasSubstr("more than 32 different paths"));
}

TEST(DescribedKind, a_template_keeps_types_and_leaves_out_what_is_not_asked) {
  const Json request = yaml::parse(
                           "{a: '{prompt}', b: 'say {prompt} {{now}}', c: '{temperature}', "
                           "d: [1, '{seed}'], e: {f: null, g: '{output_tokens_max}'}}")
                           ->to_json();
  const auto value_of = [](std::string_view name, const void*) -> Json {
    if (name == "prompt") return "hi";
    if (name == "output_tokens_max") return 5;
    return {};
  };
  EXPECT_EQ(fill_template(request, value_of, nullptr).dump(),
            R"({"a":"hi","b":"say hi {now}","d":[1],"e":{"f":null,"g":5}})");
}

}  // namespace
}  // namespace assay
