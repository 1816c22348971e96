#include "safety/replies.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "domain/quiet_sink.h"
#include "record/event_log.h"

namespace assay::safety {
namespace {

std::uint64_t key_of(const Query& query) { return std::uint64_t{query.phase} << 32 | query.index; }

class ReplyTexts final : public QuietSink {
 public:
  explicit ReplyTexts(const RunInfo& info) {
    for (const auto& phase : info.phases) counted_.push_back(is_counted(phase.kind));
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    if (event.category == Category::text && counts(query)) open_.insert(key_of(query)) += text;
  }
  void on_done(const Event& event, std::string_view) override {
    if (!counts(event.query)) return;
    std::string text;
    if (std::string* const found = open_.find(key_of(event.query))) {
      text = std::move(*found);
      open_.erase(key_of(event.query));
    }
    RowReply& row = rows_[event.query.sample];
    if (event.outcome != Outcome::ok) {
      ++row.failed;
      row.timed_out += event.outcome == Outcome::timed_out ? 1 : 0;
      return;
    }
    if (row.answers++ > 0) return;
    row.answered = true;
    row.text = std::move(text);
  }
  std::map<std::uint32_t, RowReply> take() { return std::move(rows_); }

 private:
  bool counts(const Query& query) const {
    return query.phase < counted_.size() && counted_[query.phase];
  }

  std::vector<bool> counted_{};
  FlatMap<std::string> open_{256};
  std::map<std::uint32_t, RowReply> rows_{};
};

}  // namespace

Result<std::map<std::uint32_t, RowReply>> read_replies(const std::filesystem::path& log_folder) {
  const auto logs = record::find_event_logs(log_folder);
  if (!logs || logs->empty()) return std::map<std::uint32_t, RowReply>();
  // A kill in a run's first instant leaves a log without its first block: nothing was recorded.
  const auto info = record::read_run_info(logs->front());
  if (!info) return std::map<std::uint32_t, RowReply>();
  ReplyTexts texts(*info);
  TRY(record::replay_run(log_folder, texts));
  return texts.take();
}

}  // namespace assay::safety
