// The row of each kind of API: where its requests go, and what of a reply is needed.
#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

std::string row_told(const Kind& kind) {
  std::string out = format("{}\n", kind.route);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out += format("{}: {}\n", name, value);
  };
  add("limit", kind.limit_name);
  add("end", kind.end_name);
  add("accept", kind.accept);
  add("type", kind.content_type == "application/json" ? "" : kind.content_type);
  add("key", kind.key_header);
  add("header", kind.header);
  add("value", kind.header_value);
  for (const std::string_view name : kind.varying) add("varies", name);
  const auto mark = [&](std::string_view name, bool is) { out += is ? format("{} ", name) : ""; };
  mark("lines", kind.lines);
  mark("ends_itself", kind.ends_itself);
  mark("units", kind.units != nullptr);
  mark("all_units", kind.all_units);
  mark("sound", kind.sound_rate != nullptr);
  mark("raw_sound", kind.raw_sound);
  mark("socket", kind.socket);
  mark("job", kind.job);
  return out;
}

TEST(KindTable, each_row_says_what_its_api_asks_for) {
  EXPECT_EQ(row_told(kind_of(Api::openai)), "/v1/chat/completions\nlimit: max_completion_tokens\n");
  EXPECT_EQ(row_told(kind_of(Api::openai_completions)), "/v1/completions\nlimit: max_tokens\n");
  EXPECT_EQ(row_told(kind_of(Api::sglang)), "/generate\nlimit: max_new_tokens\n");
  EXPECT_EQ(row_told(kind_of(Api::videogen)), "/v1/videos/generations\nunits all_units ");
  EXPECT_EQ(row_told(kind_of(Api::openai_responses)),
            "/v1/responses\nlimit: max_output_tokens\nend: response.completed\n"
            "varies: \"sequence_number\"\nvaries: \"obfuscation\"\nends_itself ");
  EXPECT_EQ(row_told(kind_of(Api::anthropic_messages)),
            "/v1/messages\nlimit: max_tokens\nend: message_stop\nkey: x-api-key\n"
            "header: anthropic-version\nvalue: 2023-06-01\nends_itself ");
  const std::string ollama =
      "limit: options.num_predict\nend: a line that is done\nvaries: \"created_at\"\n"
      "lines ends_itself ";
  EXPECT_EQ(row_told(kind_of(Api::ollama_chat)), "/api/chat\n" + ollama);
  EXPECT_EQ(row_told(kind_of(Api::ollama_generate)), "/api/generate\n" + ollama);
  EXPECT_EQ(row_told(kind_of(Api::openai_embeddings)), "/v1/embeddings\nunits all_units ");
  EXPECT_EQ(row_told(kind_of(Api::rerank)), "/v1/rerank\nunits ");
  EXPECT_EQ(row_told(kind_of(Api::score)), "/v1/score\nunits all_units ");
  EXPECT_EQ(row_told(kind_of(Api::classify)), "/classify\nunits all_units ");
  EXPECT_EQ(row_told(kind_of(Api::openai_images)), "/v1/images/generations\nunits all_units ");
  EXPECT_EQ(row_told(kind_of(Api::kserve)), "/v2/models/{model}/infer\nunits ");
  EXPECT_EQ(row_told(kind_of(Api::kserve_json)), "/v2/models/{model}/infer\nunits ");
  EXPECT_EQ(row_told(kind_of(Api::kserve_grpc)),
            "/inference.GRPCInferenceService/ModelInfer\naccept: application/grpc\n"
            "type: application/grpc\nunits ");
  const std::string form = format("type: {}\n", kFormType);
  EXPECT_EQ(row_told(kind_of(Api::openai_transcriptions)), "/v1/audio/transcriptions\n" + form);
  EXPECT_EQ(row_told(kind_of(Api::openai_translations)), "/v1/audio/translations\n" + form);
  EXPECT_EQ(row_told(kind_of(Api::openai_speech)),
            "/v1/audio/speech\nend: speech.audio.done\naccept: application/octet-stream\n"
            "ends_itself units sound raw_sound ");
  EXPECT_EQ(row_told(kind_of(Api::realtime)),
            "/v1/realtime\nlimit: max_output_tokens\nend: response.done\nvaries: \"event_id\"\n"
            "ends_itself sound socket ");
  EXPECT_EQ(row_told(kind_of(Api::openai_image_edits)),
            "/v1/images/edits\n" + form + "units all_units ");
  EXPECT_EQ(row_told(kind_of(Api::openai_videos)), "/v1/videos\n" + form + "units all_units job ");
}

TEST(KindTable, a_described_kind_ends_itself_from_its_first_place_on) {
  DescribedKind own;
  own.event.end.place = 0;
  EXPECT_EQ(kind_of_file(own).end_name, "the end that its kind's file describes");
  EXPECT_TRUE(kind_of_file(own).ends_itself);
  own.event.end.place = -1;
  EXPECT_FALSE(kind_of_file(own).ends_itself);
}

}  // namespace
}  // namespace assay::protocol
