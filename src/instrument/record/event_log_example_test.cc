// The writer writes the worked example of docs/formats/event_log.md, byte for byte.
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "record/event_log.h"

namespace assay::record {
namespace {

// Two digits a byte, with a space between bytes.
std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out += format("{}{:02x}", out.empty() ? "" : " ", static_cast<unsigned char>(c));
  }
  return out;
}

// The bytes of the document's ```hex block: the part of each line before the two spaces and the
// remark.
std::string hex_of_document() {
  const auto text =
      read_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs" / "formats" / "event_log.md");
  EXPECT_TRUE(text.has_value());
  std::istringstream lines(text.value_or(""));
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = line == "```hex";
      continue;
    }
    if (!inside) continue;
    line.resize(std::min(line.find("  "), line.size()));
    out += (out.empty() ? "" : " ") + line;
  }
  return out;
}

TEST(EventLogExample, is_what_the_writer_writes) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  RunInfo info{};
  info.run_id = "r";
  info.phases = {{PhaseKind::performance, "performance", false}};
  auto writer = EventLogWriter::create(path, info);
  ASSERT_TRUE(writer.has_value());
  EventLogWriter& log = **writer;
  const Instant start{1'000'000'000};
  log.on_phase({0, PhaseStep::started, start});
  Query query{};
  query.index = 3;
  query.sample = 17;
  log.on_sent(query, start, start + 100_us);
  StreamEvent event{};
  event.category = Category::text;
  event.kernel_stamped = true;
  event.bytes = 2;
  event.tokens_so_far = 1;
  event.arrival = start + 50_ms;
  event.read = start + 50_ms + 20_us;
  log.on_stream_event(query, event, "Hi");
  event.shares_read = true;
  event.bytes = 1;
  event.tokens_so_far = -1;
  log.on_stream_event(query, event, "!");
  Event done{};
  done.query = query;
  done.finish = FinishReason::stop;
  done.streamed = done.kernel_stamped = done.done_marker = true;
  done.http_status = 200;
  done.due = start;
  done.sent = start + 100_us;
  done.first_byte = done.first_event = done.first_token = done.first_visible = done.last_token =
      done.done = start + 50_ms;
  done.read_delay_first_token = done.read_delay_done = 20_us;
  done.stream_events = done.fragments = 2;
  done.first_fragment_bytes = 2;
  done.output_bytes = 3;
  done.received_bytes = 300;
  done.usage.prompt_tokens = 5;
  done.usage.completion_tokens = 2;
  done.stream_asked = true;
  done.tokens_max = 1024;
  log.on_done(done, "");
  log.flush();
  ASSERT_TRUE(log.close({RunState::complete, ""}).has_value());

  const auto file = read_file(path);
  ASSERT_TRUE(file.has_value());
  const auto first = open_header(*file);
  ASSERT_TRUE(first.has_value());
  const std::string_view rest =
      std::string_view(*file).substr(kBlockHeaderBytes + first->header.stored_bytes);
  const auto second = open_header(rest);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(hex(rest.substr(0, kBlockHeaderBytes + second->header.stored_bytes)),
            hex_of_document());
}

}  // namespace
}  // namespace assay::record
