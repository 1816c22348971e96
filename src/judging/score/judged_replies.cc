#include "score/judged_replies.h"

#include <algorithm>
#include <utility>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::score {
namespace {

constexpr double kWhole = 100;  // of scorers that count in percent; of the others it is 1

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

Json short_answer(const Json& value) {
  if (value.is_null()) return {};
  const std::string text = value.is_string() ? std::string(value.as_string()) : value.dump();
  return shortened(text, JudgedReplies::kAnswerBytesMax);
}

}  // namespace

std::string_view to_string(ReplyKind kind) { return enum_name(kind); }

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  // The answer stands at a reply's end more often than at its begin, and the begin says what it is.
  std::size_t head = bytes_max / 2;
  std::size_t tail = text.size() - bytes_max / 2;
  while (head > 0 && continues_character(text[head])) --head;
  while (tail < text.size() && continues_character(text[tail])) ++tail;
  return format("{}\n[… {} bytes are left out …]\n{}", text.substr(0, head),
                with_thousands(static_cast<std::int64_t>(tail - head)), text.substr(tail));
}

JudgedReplies::Kept& JudgedReplies::kept_of(bool answered, const Json& record, double score) {
  const auto of = [this](ReplyKind kind) -> Kept& {
    return kinds_[static_cast<std::size_t>(kind)];
  };
  if (!answered) return of(ReplyKind::unanswered);
  if (score == 1) return ones_;
  if (score >= kWhole) return of(ReplyKind::right);
  if (score > 0) return of(ReplyKind::partly);
  const Json& extracted = record["extracted"];
  // Some of the originals give an empty text where no rule of theirs has found an answer.
  const bool nothing =
      extracted.is_null() || (record["rule"].is_null() && extracted == Json(std::string()));
  return of(nothing ? ReplyKind::nothing : ReplyKind::wrong);
}

void JudgedReplies::add(const Row& row, const Json& record) {
  const Json& score = record["score"];
  if (!score.is_number() && row.answered) return;
  Kept& kept = kept_of(row.answered, record, score.as_double());
  most_ = std::max(most_, score.as_double());
  ++kept.count;
  if (kept.replies.size() >= kShownMax) return;
  kept.replies.push_back(Json()
                             .set("sample", row.sample)
                             .set("kind", Json())
                             .set("extracted", short_answer(record["extracted"]))
                             .set("rule", record["rule"])
                             .set("truth", short_answer(record["truth"]))
                             .set("score", score)
                             .set("reply", shortened(row.reply, kReplyBytesMax))
                             .set("reply_bytes", row.reply.size()));
}

Json JudgedReplies::finish(std::string_view dataset, std::string_view scorer) {
  Kept& ones = kinds_[static_cast<std::size_t>(most_ > 1 ? ReplyKind::partly : ReplyKind::right)];
  ones.count += ones_.count;
  for (Json& one : ones_.replies) {
    if (ones.replies.size() < kShownMax) ones.replies.push_back(std::move(one));
  }
  ones_ = {};
  Json counts = Json::object();
  std::vector<Json> all;
  std::uint64_t judged = 0;
  for (std::size_t i = 0; i < kReplyKinds; ++i) {
    const auto kind = static_cast<ReplyKind>(i);
    counts.set(to_string(kind), kinds_[i].count);
    if (kind != ReplyKind::unanswered) judged += kinds_[i].count;
    for (Json& one : kinds_[i].replies) {
      one.set("kind", to_string(kind));
      all.push_back(std::move(one));
    }
  }
  kinds_ = {};
  if (judged == 0) return {};
  std::stable_sort(all.begin(), all.end(), [](const Json& a, const Json& b) {
    return a["sample"].as_uint() < b["sample"].as_uint();
  });
  Json replies = Json::array();
  for (Json& one : all) replies.push_back(std::move(one));
  return Json()
      .set("dataset", dataset)
      .set("scorer", scorer)
      .set("counts", std::move(counts))
      .set("replies", std::move(replies));
}

}  // namespace assay::score
