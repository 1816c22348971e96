// Random bytes as events.jsonl of the reference client, and, after a byte 0x01, as its
// sample_idx_map.json. They are refused, or become a run in which every query that was issued
// ends once or is in flight at the end.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"
#include "interchange/read/reference_events.h"
#include "interchange/read/reference_run.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

class CountedEnds final : public QuietSink {
 public:
  std::size_t ends = 0;
  std::size_t texts = 0;
  void on_stream_event(const Query&, const StreamEvent& event, std::string_view text) override {
    CHECK(event.bytes == text.size());
    texts += text.size();
  }
  void on_done(const Event& event, std::string_view) override {
    CHECK(event.done >= event.due);
    ++ends;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TempFolder kFolder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find('\x01');
  const auto index = kFolder.path() / "sample_idx_map.json";
  std::error_code ignored;
  std::filesystem::remove(index, ignored);
  CHECK(write_file_atomic(kFolder.path() / "events.jsonl", text.substr(0, cut)));
  if (cut != std::string::npos) CHECK(write_file_atomic(index, text.substr(cut + 1)));
  if (const auto event = read_reference_event(text.substr(0, text.find('\n')))) {
    (void)read_reference_output(event->data);
    (void)read_reference_failure(event->data);
  }
  auto run = read_reference_run(kFolder.path());
  CHECK(run || !run.error().message.empty());
  if (!run) return 0;
  const auto log = kFolder.path() / "events-0.alog";
  std::filesystem::remove(log, ignored);
  if (!write_reference_log(*run, log)) return 0;
  CountedEnds counted;
  const auto end = record::replay_event_log(log, counted);
  CHECK(end);
  CHECK(counted.ends + end->unfinished <= run->places.size());
  return 0;
}

}  // namespace assay::interchange
