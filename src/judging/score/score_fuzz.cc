// Any bytes as a model's reply: every extractor and scorer returns, and a reply that equals its
// truth is right.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "score/accuracy_log.h"
#include "score/answer/expression.h"
#include "score/answer/extract.h"
#include "score/answer/math_equal.h"
#include "score/answer/prm800k.h"
#include "score/code/code_judge.h"
#include "score/judged_replies.h"
#include "score/payload.h"
#include "score/picture/media_results.h"
#include "score/picture/nifti.h"
#include "score/sample_scores.h"
#include "score/scorer.h"
#include "score/text/english_text.h"
#include "score/text/rouge.h"
#include "score/text/squad_spans.h"
#include "score/tool/function_match.h"

namespace {

using assay::Json;

void judge(std::string_view name, std::string_view reply, const Json& columns) {
  auto scorer = assay::score::make_scorer(name, {});
  if (!scorer) return;  // it needs options
  assay::score::Row row;
  row.columns = &columns;
  row.reply = row.content = reply;
  if (!(*scorer)->add(row)) return;
  const auto verdict = (*scorer)->finish();
  CHECK(verdict);
  if (verdict->score.is_number()) CHECK(verdict->score.as_double() >= 0);
}

// Files that other programs wrote.
void read_files(const std::string& reply) {
  if (const auto log = assay::score::read_accuracy_log(reply)) {
    CHECK(2 * log->size() <= reply.size());
    for (const auto& workload : assay::score::kLoggedWorkloads) {
      const auto width = assay::score::number_width(*log, workload.payload);
      for (const auto& one : *log) {
        if (!width) break;
        (void)assay::score::read_payload(one.bytes, workload, *width, nullptr);
      }
    }
  }
  for (const char* name : {"sdxl", "vbench", "rag_qna"}) {
    const auto figures = assay::score::read_media_results(name, reply);
    CHECK(!figures || figures->score.is_object());
  }
  const std::string spelled = assay::score::original_spelling(reply.substr(0, 16), reply);
  CHECK(spelled.size() <= 3 * reply.size());
  (void)assay::text::parse_word_pieces(reply, "vocab.txt");
  CHECK(assay::score::shortened(reply, 64).size() <= 64 + 64);
  if (const auto samples = assay::score::read_sample_scores(reply)) {
    const std::string text = assay::score::sample_scores_text(*samples);
    const auto again = assay::score::read_sample_scores(text);
    CHECK(again && assay::score::sample_scores_text(*again) == text);
    for (const auto& one : *samples) assay::score::uncertainty_of(one.tally);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size < 4096 ? size : 4096);
  const std::size_t cut = bytes.find('\0');
  const std::string reply(bytes.substr(0, cut));
  const std::string truth(cut == std::string_view::npos ? bytes : bytes.substr(cut + 1));
  for (const char* id :
       {"abcd_extractor", "boxed_math_extractor", "python_code_extractor", "letter_aj",
        "aime_integer", "last_boxed", "gsm8k_number", "first_python_code", "final_channel_code"}) {
    const auto found = assay::score::extract(id, reply);
    // An invalid byte becomes a character of three bytes.
    CHECK(!found.answer || found.answer->size() <= 3 * reply.size() + 8);
  }
  assay::score::math_equal(reply, truth);
  assay::score::prm800k_equal(reply, truth);
  assay::score::difference_is_zero(reply, truth);
  if (const auto a = assay::score::evaluate_latex(reply)) {
    CHECK(assay::score::math_equal(reply, reply) || *a != *a);
  }
  assay::score::same_output(reply, truth);
  CHECK(assay::score::same_output(reply, reply));
  assay::score::Rouge rouge(true);
  const auto scores = rouge.score(truth, reply);
  for (const auto& one : {scores.rouge1, scores.rouge2, scores.rouge_l, scores.rouge_l_sum}) {
    CHECK(one.f >= 0 && one.f <= 1 + 1e-12);
  }
  if (const auto floats = assay::score::read_floats(reply)) {
    CHECK(floats->size() <= reply.size());
  }
  read_files(reply);
  if (const auto volume = assay::score::parse_nifti(reply)) {
    CHECK(volume->classes.size() == volume->size[0] * volume->size[1] * volume->size[2]);
  }
  assay::score::python_calls(reply);
  assay::score::java_value(reply, "ArrayList", "integer");
  assay::score::java_value(reply, "HashMap", "");
  assay::score::javascript_value(reply, "array", "");
  assay::score::javascript_value(reply, "dict", "");
  if (assay::valid_utf8(reply)) assay::score::english_text(reply, {});
  Json columns;
  columns.set("ground_truth", truth)
      .set("transcript", truth)
      .set("gt_output", truth)
      .set("metric", truth.size() % 2 == 0 ? "niah_em" : "qa_em")
      .set("conversation_id", truth.size() % 2 == 0 ? "sim_1" : "swe")
      .set("intent_codes", Json::array().push_back("I001"))
      .set("tool_calls",
           Json::array().push_back(Json().set(
               "function",
               Json().set("name", "bash").set("arguments", Json().set("command", truth)))))
      .set("subset", "parallel")
      .set("func_description", "[]")
      .set("highlights", truth)
      .set("ground_truth_category", truth)
      .set("answers", truth)
      .set("text", truth)
      .set("dataset", "aime25")
      .set("label", 1);
  for (const std::string_view name : assay::score::scorer_names()) judge(name, reply, columns);
  return 0;
}
