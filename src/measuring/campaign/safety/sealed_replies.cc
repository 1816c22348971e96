#include "campaign/safety/sealed_replies.h"

#include <utility>

#include "base/base64.h"
#include "base/format.h"

namespace assay::campaign {
namespace {

std::uint64_t key_of(const Query& query) { return std::uint64_t{query.phase} << 32 | query.index; }

std::string about(const std::string& name, std::uint64_t row) {
  return format("assay reply {} {}", name, row);
}

}  // namespace

Result<std::unique_ptr<SealedReplies>> SealedReplies::open(const std::filesystem::path& file,
                                                           SealKey key, const Plan& plan) {
  ASSIGN_OR_RETURN(record::Journal journal, record::Journal::open(file));
  std::vector<bool> counted;
  for (const PhasePlan& phase : plan.phases) counted.push_back(is_counted(phase.kind));
  return std::unique_ptr<SealedReplies>(new SealedReplies(
      std::move(journal), file.filename().string(), std::move(key), std::move(counted)));
}

SealedReplies::SealedReplies(record::Journal journal, std::string name, SealKey key,
                             std::vector<bool> counted)
    : journal_(std::move(journal)),
      name_(std::move(name)),
      key_(std::move(key)),
      counted_(std::move(counted)),
      writer_([this] { write_all(); }) {}

SealedReplies::~SealedReplies() { (void)finish(); }

Result<void> SealedReplies::finish() {
  {
    const Lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
  return written_;
}

void SealedReplies::on_stream_event(const Query& query, const StreamEvent& event,
                                    std::string_view text) {
  if (event.category != Category::text) return;
  if (query.phase >= counted_.size() || !counted_[query.phase]) return;
  const Lock lock(mutex_);
  open_.insert(key_of(query)) += text;
}

void SealedReplies::on_done(const Event& event, std::string_view) {
  const Query& query = event.query;
  if (query.phase >= counted_.size() || !counted_[query.phase]) return;
  const Lock lock(mutex_);
  std::string text;
  if (std::string* const found = open_.find(key_of(query))) {
    text = std::move(*found);
    open_.erase(key_of(query));
  }
  if (event.outcome != Outcome::ok) return;
  ended_.emplace_back(query.sample, std::move(text));
  changed_.notify_all();
}

void SealedReplies::write_all() {
  for (;;) {
    std::deque<std::pair<std::uint32_t, std::string>> batch;
    {
      Lock lock(mutex_);
      while (ended_.empty() && !over_) changed_.wait(lock);
      batch.swap(ended_);
      if (batch.empty()) return;
    }
    for (const auto& [row, text] : batch) {
      if (!written_) continue;
      const std::string box = encode_base64(seal_box(key_, text, about(name_, row)));
      written_ = journal_.append(Json().set("row", row).set("box", box));
    }
  }
}

Result<std::map<std::uint32_t, std::string>> read_sealed_replies(const std::filesystem::path& file,
                                                                 const SealKey& key) {
  std::map<std::uint32_t, std::string> out;
  if (!std::filesystem::exists(file)) return out;
  ASSIGN_OR_RETURN(const std::vector<Json> entries, record::read_journal(file));
  for (const Json& entry : entries) {
    const auto row = static_cast<std::uint32_t>(entry["row"].as_uint());
    ASSIGN_OR_RETURN(const std::string box, decode_base64(entry["box"].as_string()));
    auto text = open_box(key, box, about(file.filename().string(), row));
    if (!text) return text.error().within(format("{}: row {}", file.string(), row + 1));
    out.emplace(row, *std::move(text));
  }
  return out;
}

}  // namespace assay::campaign
