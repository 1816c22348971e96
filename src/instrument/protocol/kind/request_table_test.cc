// The requests of drawn rows and settings, for each kind of API: bytes, or why there are none.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/testing_drawn.h"
#include "base/testing_golden.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

class DrawnRequest : Drawn {
 public:
  using Drawn::Drawn;

  Generation generation() {
    Generation out;
    if (!one_in(5)) out.model = "m";
    out.stream = !one_in(3);
    out.max_new_tokens = one_in(5) ? 0 : 1 + static_cast<std::int64_t>(rng_.below(99));
    out.min_new_tokens = one_in(3) ? 4 : 1;
    if (one_in(2)) out.temperature = 0.25;
    if (one_in(3)) out.seed = 7;
    if (one_in(3)) out.top_k = 40;
    if (one_in(3)) out.top_p = 0.9;
    if (one_in(4)) out.repetition_penalty = 1.1;
    if (one_in(4)) out.presence_penalty = 0.5;
    if (one_in(4)) out.frequency_penalty = -0.5;
    if (one_in(3)) out.ignore_eos = one_in(2);
    out.skip_special_tokens = !one_in(4);
    out.include_usage = !one_in(4);
    if (one_in(5)) out.limit_field = "max_tokens";
    if (one_in(5)) out.chat_template_kwargs = *Json::parse(R"({"enable_thinking":false})");
    if (one_in(5)) out.extra_body = *Json::parse(pick({R"({"n":2})", R"({"top_k":null})"}));
    return out;
  }

  Sample sample() {
    Sample out;
    if (!one_in(4)) out.prompt = pick({"Hi", "Line\nand \"quote\""});
    if (one_in(3)) out.system = "Be brief.";
    if (one_in(3)) out.messages = Messages(messages());
    if (one_in(6)) out.input_tokens = {5, 6, 70'000};
    if (one_in(6)) {
      out.content_parts =
          *Json::parse(R"([{"type":"text","text":"What?"},{"type":"image_url","image_url":{"url":")"
                       R"(data:image/png;base64,AAAA"}}])");
    }
    if (one_in(4)) {
      out.tools = *Json::parse(
          R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])");
      out.tool_choice = *Json::parse(
          pick({R"("auto")", R"("required")", R"({"type":"function","function":{"name":"f"}})"}));
    }
    if (one_in(3)) out.output_tokens_max = 33;
    if (one_in(6)) out.overrides = *Json::parse(R"({"temperature":1,"stop":["a","b"]})");
    if (one_in(2)) out.body = row();
    if (one_in(2)) out.attachments = attachments();
    return out;
  }

  bool salted() { return one_in(3); }

  // What the kind can't do without: else most rows would show no more than that they lack it.
  void complete(const ApiRow& api, Generation& generation, Sample& sample) {
    if (!api.streams) generation.stream = false;
    if (sample.prompt.empty()) sample.prompt = "Hi";
    if (!api.takes_messages) {
      sample.messages = {};
      sample.content_parts = sample.tools = sample.tool_choice = {};
      if (api.takes_token_ids) sample.system.clear();
    }
    if (std::ranges::find(api.columns, "documents") != api.columns.end()) {
      sample.body.set("documents", *Json::parse(R"(["d1","d2","d3"])"));
    }
    if (api.name.starts_with("kserve")) {
      std::erase_if(sample.attachments, [](const Attachment& one) { return !one.file.empty(); });
      if (sample.attachments.empty()) sample.attachments.push_back(floats());
    }
    const bool edits = api.name == "openai_image_edits";
    if (!edits && !api.name.starts_with("openai_trans")) return;
    sample.attachments = {{.name = edits ? "image" : "file",
                           .type = edits ? "image/png" : "audio/wav",
                           .file = "a \"b\"",
                           .bytes = "RIFF"}};
  }

 private:
  const char* pick(std::initializer_list<const char*> from) {
    return *(from.begin() + rng_.below(from.size()));
  }

  Json messages() {
    Json out = Json::array();
    const auto add = [&out](std::string_view text) { out.push_back(*Json::parse(text)); };
    if (one_in(2)) add(R"({"role":"system","content":"Rules."})");
    if (one_in(6)) add(R"({"role":"developer","content":[{"type":"text","text":"More."}]})");
    add(pick(
        {R"({"role":"user","content":"One?"})",
         R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
         R"({"role":"user","content":[{"type":"image_url","image_url":"http://p/x.png"}]})"}));
    if (one_in(2)) {
      add(pick({R"({"role":"assistant","content":"Yes."})",
                R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",)"
                R"("function":{"name":"f","arguments":"{\"x\":1}"}}]})",
                R"({"role":"assistant","content":"So.","tool_calls":[{"id":"c","function":)"
                R"({"name":"f","arguments":"no json"}}]})"}));
      if (one_in(2)) add(R"({"role":"tool","tool_call_id":"c","content":"42"})");
      add(R"({"role":"user","content":"And?"})");
    }
    return out;
  }

  Json row() {
    Json out = Json::object();
    const auto may = [&](std::string_view key, std::string_view value) {
      if (one_in(4)) out.set(key, *Json::parse(value));
    };
    may("input", R"(["a","b"])");
    may("documents", R"(["d1","d2","d3"])");
    may("top_n", "2");
    may("size", R"("640x480")");
    may("seconds", R"("4")");
    may("fps", "24");
    may("seed", "5");
    may("voice", R"("alloy")");
    may("response_format", pick({R"("pcm")", R"("mp3")", R"("b64_json")"}));
    may("sample_rate", "16000");
    may("speed", "1.5");
    may("pace", R"("fast")");
    may("output_modalities", R"(["text"])");
    may("negative_prompt", R"("no")");
    may("dimensions", "8");
    return out;
  }

  static Attachment floats() {
    return {.name = "x",
            .type = "FP32",
            .shape = {1, 2},
            .bytes = std::string("\0\0\xC0?\0\0\0\xC0", 8)};
  }

  std::vector<Attachment> attachments() {
    std::vector<Attachment> out;
    const std::string eight = floats().bytes;
    if (one_in(2)) out.push_back(floats());
    if (one_in(3)) out.push_back({.name = "y", .type = "INT16", .shape = {4}, .bytes = eight});
    if (one_in(3)) {
      out.push_back({.name = one_in(2) ? "audio" : "image",
                     .type = "audio/wav",
                     .file = "a \"b\".wav",
                     .bytes = "RIFF"});
    }
    return out;
  }
};

std::string shown(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n\n    ";
    } else if (byte < 0x20 || byte >= 0x7F) {
      out += format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

TEST(RequestTable, the_requests_of_drawn_rows_are_those_that_were_read) {
  std::string table;
  for (const ApiRow& api : kApis) {
    if (api.api == Api::described) continue;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      DrawnRequest drawn(100 * static_cast<std::uint64_t>(api.api) + seed);
      Generation generation = drawn.generation();
      Sample sample = drawn.sample();
      if (seed > 2) drawn.complete(api, generation, sample);
      const bool salted = drawn.salted() && (seed < 6 || !api.name.starts_with("kserve"));
      const auto body = make_body(api.api, generation, sample, salted);
      table += format("{} {}: ", api.name, seed);
      if (!body) {
        table += body.error().message + "\n";
        continue;
      }
      const Asked& asked = body->asked;
      table += format("stream {}, limit {}, choices {}, rate {}, goes on at {}", asked.stream,
                      asked.tokens_max, asked.choices, asked.sound_rate, body->goes_on_at);
      if (body->salt_offset != kNoHole) {
        table += format(", {} salt at {}", body->salt_form == SaltForm::hex ? "hex" : "ids",
                        body->salt_offset);
      }
      table += "\n";
      for (const auto& [name, value] : body->headers) {
        table += format("    {}: {}\n", name, shown(value));
      }
      table += "    " + shown(body->bytes) + "\n";
    }
  }
  expect_golden("protocol/requests.txt", table);
}

}  // namespace
}  // namespace assay::protocol
