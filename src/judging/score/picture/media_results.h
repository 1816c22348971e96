// What the programs of the suites write about pictures, videos and retrieval, which need models
// that Assay does not run (CLIP, Inception, VBench's own, a judge of answers):
//
//   sdxl    mlcommons/inference text_to_image: {'FID_SCORE': '23.5', 'CLIP_SCORE': '31.7'}, as JSON
//           in the results file, and as Python spells it in a log such as accuracy.txt
//   vbench  VBench's *_eval_results.json: {dimension: [value, [{"video_path", "video_results"}]]};
//           the reference client's {dimension: value}; in a log {'vbench_score': 70.48}
//   rag_qna mlcommons/inference e2e-rag: accuracy_results.json {"answer_accuracy",
//           "detailed_results": [{"answer_correct", "retrieval_precision", …}]}; in accuracy.txt
//           the line "Accuracy: 34.1000"
//
// The verdict's figures are the workloads' metrics: clip_score and fid_score; vbench_score, the
// mean of the six dimensions × 100. VBench's dimensions have intervals where the file has each
// video's value, since each is their mean. Pure; any thread.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "score/scorer.h"

namespace assay::score {

// True for "sdxl", "vbench" and "rag_qna".
bool reads_media_results(std::string_view scorer);

// `said`: the object of a results file. An error names the figure that is missing.
Result<Verdict> media_verdict(std::string_view scorer, const Json& said);

// `text`: a results file, or a log whose last line with the figures counts.
Result<Verdict> read_media_results(std::string_view scorer, std::string_view text);

}  // namespace assay::score
