// Replies of real servers (tests/data/README.md says which were recorded and which follow a
// documented form), read to the last event and compared with tests/golden/replies/. ASSAY_UPDATE=1
// rewrites the golden files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "net/lines.h"
#include "net/sse.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(ASSAY_SOURCE_DIR) / "tests" / "data";
const fs::path kGolden = fs::path(ASSAY_SOURCE_DIR) / "tests" / "golden" / "replies";

// The folder has files of other kinds too.
std::vector<fs::path> fixtures(std::string_view ending) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(kData)) {
    if (entry.path().filename().string().ends_with(ending)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string usage_words(const Usage& usage) {
  return format("prompt={} completion={} reasoning={} cached={}", usage.prompt_tokens,
                usage.completion_tokens, usage.reasoning_tokens, usage.cached_tokens);
}

// One line an event: its category, then its content.
std::string line_of(const DecodedEvent& event) {
  std::string out = event.malformed ? "malformed" : std::string(to_string(event.category));
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    const Fragment& fragment = event.fragments[i];
    out += format(" {}={}", to_string(fragment.category), json_quote(fragment.text));
  }
  if (event.finish != FinishReason::none) out += format(" finish={}", to_string(event.finish));
  if (event.ends) out += " ends";
  if (event.has_usage) out += " " + usage_words(event.usage);
  if (event.category == Category::error) out += " error=" + json_quote(event.error);
  return out + "\n";
}

// The kind of API that a folder's replies speak, by the beginning of its name.
Api api_of(const fs::path& fixture) {
  const std::string folder = fixture.parent_path().filename().string();
  if (folder.starts_with("responses_")) return Api::openai_responses;
  if (folder.starts_with("messages_")) return Api::anthropic_messages;
  return folder.starts_with("native_") ? Api::ollama_chat : Api::openai;
}

// The whole stream, fed in pieces of `step` bytes.
template <typename Parser>
std::string read_stream(Api api, std::string_view bytes, std::size_t step, bool slowly) {
  Parser parser;
  ReplyDecoder decoder;
  StreamState state;
  state.api = api;
  DecodedEvent event;
  std::string out;
  const auto on_event = [&](std::string_view data, std::size_t) {
    if (slowly) {
      decoder.decode_slowly(data, state, event);
    } else {
      decoder.decode(data, state, event);
    }
    out += line_of(event);
  };
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string piece(bytes.substr(at, step));
    const std::size_t size = piece.size();
    piece.append(std::max(net::kSsePadding, kDecodePadding), '\0');
    EXPECT_TRUE(parser.feed({piece.data(), size}, on_event));
  }
  parser.finish(on_event);
  return out;
}

void compare_fixture(const fs::path& fixture, const std::string& text) {
  fs::path golden = kGolden / fs::relative(fixture, kData);
  golden += ".txt";
  if (std::getenv("ASSAY_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file_atomic(golden, text));
    return;
  }
  const auto wanted = read_file(golden);
  ASSERT_TRUE(wanted) << wanted.error().message << "\nASSAY_UPDATE=1 writes it";
  EXPECT_EQ(*wanted, text) << fixture;
}

// For all cuts, with and without the learned template.
template <typename Parser>
void read_all_ways(const fs::path& fixture) {
  const auto bytes = read_file(fixture);
  ASSERT_TRUE(bytes);
  const Api api = api_of(fixture);
  const std::string text = read_stream<Parser>(api, *bytes, bytes->size(), false);
  compare_fixture(fixture, text);
  EXPECT_EQ(text.find("malformed"), std::string::npos) << fixture;
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{251}}) {
    EXPECT_EQ(read_stream<Parser>(api, *bytes, step, false), text)
        << fixture << " in pieces of " << step;
  }
  EXPECT_EQ(read_stream<Parser>(api, *bytes, bytes->size(), true), text) << fixture;
}

TEST(Fixtures, streams_of_real_servers_say_what_they_should) {
  const auto all = fixtures(".sse");
  ASSERT_GE(all.size(), 40U);
  for (const fs::path& fixture : all) read_all_ways<net::SseParser>(fixture);
}

TEST(Fixtures, lines_of_real_servers_say_what_they_should) {
  const auto all = fixtures(".ndjson");
  ASSERT_GE(all.size(), 5U);
  for (const fs::path& fixture : all) read_all_ways<net::LineParser>(fixture);
}

TEST(Fixtures, whole_replies_of_real_servers_say_what_they_should) {
  const auto all = fixtures("plain.json");
  ASSERT_GE(all.size(), 2U);
  for (const fs::path& fixture : all) {
    const auto bytes = read_file(fixture);
    ASSERT_TRUE(bytes);
    const auto reply = decode_whole(*bytes, api_of(fixture));
    ASSERT_TRUE(reply) << fixture << ": " << reply.error().message;
    compare_fixture(fixture, format("text={}\nreasoning={}\ntool_calls={}\nfinish={}\n{}\n",
                                    json_quote(reply->text), json_quote(reply->reasoning),
                                    json_quote(reply->tool_calls), to_string(reply->finish),
                                    usage_words(reply->usage)));
  }
}

}  // namespace
}  // namespace assay::protocol
