// The accuracy log of MLPerf LoadGen (mlperf_log_accuracy.json): the bytes of each response as hex,
// with the index of its sample. What the bytes mean differs by workload; this is the table of them,
// and the change into what the scorers read (a text, a JSON list, base64 of float32).
//
// The width of the numbers is the submitter's choice and is not in the log. It is found from the
// bytes: token ids and letters are small, so the upper halves of wide ones are zero.
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace assay::score {

struct LoggedReply {
  std::uint32_t sample = 0;  // qsl_idx
  std::string bytes{};
  // Where the test measured tokens: the first token's bytes (not in Offline), and how many there
  // were by the system's word.
  std::optional<std::string> first_token{};
  std::int64_t tokens = -1;  // -1: the log does not say
};

// Reads entries in the log's order: {"seq_id", "qsl_idx", "data"} and what LoadGen adds of tokens.
// Refuses a log that ends early, and data that are no hex. An error names the entry.
Result<std::vector<LoggedReply>> read_accuracy_log(std::string_view text);

enum class PayloadKind : std::uint8_t {
  floats,   // little-endian float32: detections, recommendations
  label,    // one number: uint8, int32, int64 or float32; further ones are not read
  letters,  // indices of Whisper's letters: int8, int16, int32 or int64
  tokens,   // token ids: int32 or int64
  text,     // UTF-8
  volume,   // a class for each voxel, of any width
  spans,    // little-endian float32: a start and an end logit for each token of a feature
};
std::string_view to_string(PayloadKind kind);

struct LoggedWorkload {
  std::string_view workload{};
  PayloadKind payload = PayloadKind::text;
  std::string_view scorer{};
  std::string_view ground_truth{};  // column of the dataset; "": the scorer's own, or none is read
  // The rows of the dataset are needed. False beside a column: the log may have the truths itself.
  bool needs_truths = true;
  bool first_only = true;      // of entries with one index only the first counts, as there
  bool keeps_special = false;  // the judge reads special tokens
};

// Source: the evaluation scripts of each workload, digest of LoadGen and workloads, part B.
inline constexpr std::array<LoggedWorkload, 19> kLoggedWorkloads = {{
    {"yolo11l", PayloadKind::floats, "coco_map", "", false},
    {"retinanet", PayloadKind::floats, "coco_map", "", false},
    {"3d-unet", PayloadKind::volume, "dice", "segmentation"},
    {"dlrm-v3", PayloadKind::floats, "dlrm", "", false, false},
    {"dlrm-v2", PayloadKind::floats, "dlrm_v2", "label", false},
    {"pointpainting", PayloadKind::floats, "waymo_map", "annos"},
    {"bert-99", PayloadKind::spans, "squad_f1", "answers", true, false},
    {"e2e-rag-db", PayloadKind::text, "rag_db", "", false, false},
    {"resnet50", PayloadKind::label, "top_1", "label"},
    {"rgat", PayloadKind::label, "top_1", "label"},
    {"whisper", PayloadKind::letters, "whisper", "transcript", true, false},
    {"gpt-j-6b", PayloadKind::tokens, "rouge", "output"},
    {"llama2-70b", PayloadKind::tokens, "rouge", "output"},
    {"llama3.1-8b", PayloadKind::tokens, "rouge", "output"},
    {"llama3.1-405b", PayloadKind::tokens, "llama3_1_405b", "gt_output"},
    {"mixtral-8x7b", PayloadKind::tokens, "mixtral_8x7b", "gt_output"},
    {"deepseek-r1", PayloadKind::tokens, "deepseek_r1", ""},
    {"gpt-oss-120b", PayloadKind::tokens, "gpt_oss", "", true, true, true},
    {"qwen3-vl-235b-a22b", PayloadKind::text, "shopify_category_f1", "ground_truth_category", true,
     false},
}};
// Null if the workload's log is judged from files beside it, or not at all.
const LoggedWorkload* find_logged_workload(std::string_view name);

// How wide the numbers of a whole log are.
enum class NumberWidth : std::uint8_t { one = 1, two = 2, four = 4, eight = 8 };

// Tokens: eight bytes where every reply is a multiple of eight bytes and every upper half is zero;
// else four. Letters: the widest for which every number is a letter's. Fails if no width
// fits. The other kinds have four.
Result<NumberWidth> number_width(const std::vector<LoggedReply>& log, PayloadKind kind);

// Numbers of `width` without a sign; bytes behind the last whole one are left out.
std::vector<std::uint64_t> read_numbers(std::string_view bytes, NumberWidth width);

// A reply as the scorers read it.
struct ReadPayload {
  std::string reply{};
  std::int64_t tokens = -1;  // of tokens: how many
};
// `tokenizer` is needed for tokens only. An id that it does not have is an error.
Result<ReadPayload> read_payload(std::string_view bytes, const LoggedWorkload& workload,
                                 NumberWidth width, const text::Tokenizer* tokenizer);

}  // namespace assay::score
