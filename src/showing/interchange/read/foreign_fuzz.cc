// Random bytes as another tool's results; the first byte chooses the tool. They are refused, or
// become a run that is written and read back with the same number of replies.
#include <cmath>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_run.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

class Counting final : public QuietSink {
 public:
  std::size_t done = 0;
  void on_done(const Event& event, std::string_view) override {
    CHECK(!to_string(event.outcome).empty());
    ++done;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TempFolder kFolder;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)guess_foreign_format(text);
  if (const auto facts = read_aiperf_facts(text)) CHECK(!facts->rate || !std::isnan(*facts->rate));
  auto run = read_foreign_run(static_cast<ForeignFormat>(data[0] % 3), text);
  CHECK(run || !run.error().message.empty());
  if (!run) return 0;
  const std::size_t replies = run->replies.size();
  const auto log = kFolder.path() / "events-0.alog";
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
  if (!write_foreign_run(std::move(*run), log)) return 0;
  Counting counting;
  const auto end = record::replay_event_log(log, counting);
  CHECK(end);
  CHECK(counting.done == replies);
  return 0;
}

}  // namespace assay::interchange
