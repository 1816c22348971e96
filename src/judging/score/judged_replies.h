// JudgedReplies: a bounded choice of a dataset's judged replies, for people who read a report: the
// first ones of each kind with their text, and how many there were of each. A run folder keeps it
// as accuracy/judged_replies.json (docs/formats/run_folder.md). One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "score/scorer.h"

namespace assay::score {

// What became of a reply.
enum class ReplyKind : std::uint8_t {
  right,
  partly,      // more than nothing, less than the whole
  wrong,       // there is an answer, and it is not the true one
  nothing,     // no answer was found in the reply
  unanswered,  // the query has no reply
};
std::string_view to_string(ReplyKind kind);
inline constexpr std::size_t kReplyKinds = 5;

class JudgedReplies {
 public:
  static constexpr std::size_t kShownMax = 60;           // of each kind
  static constexpr std::size_t kReplyBytesMax = 4'000;   // of a reply's text
  static constexpr std::size_t kAnswerBytesMax = 1'000;  // of an extracted or a true answer

  // `record`: verdict_record of the row. A row that has no score by itself is not counted.
  void add(const Row& row, const Json& record);

  // {"dataset", "scorer", "counts": {kind: how many}, "replies": [{"sample", "kind", "extracted",
  // "rule", "truth", "score", "reply", "reply_bytes"}]}, in the order of the samples; null if no
  // row had a score.
  Json finish(std::string_view dataset, std::string_view scorer);

 private:
  struct Kept {
    std::uint64_t count = 0;
    std::vector<Json> replies{};
  };
  Kept& kept_of(bool answered, const Json& record, double score);

  std::array<Kept, kReplyKinds> kinds_{};
  Kept ones_{};  // a score of 1: right, or one point of a hundred
  double most_ = 0;
};

// `text` with at most about `bytes_max` bytes: its begin, how much is left out, and its end. Does
// not cut a character.
std::string shortened(std::string_view text, std::size_t bytes_max);

}  // namespace assay::score
