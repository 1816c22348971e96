// MLPerf Inference's compliance tests: the audit.config that each asks a run with, which answers of
// that run are looked at, and the rules of the verification scripts, on what runs recorded:
//
//   TEST01  answers in performance mode are those of the accuracy run, at the same speed
//   TEST04  one sample asked again and again is not faster: no cache
//   TEST06  first token, end token and length of each answer agree with each other
//   TEST07  the accuracy of answers in performance mode, on the test's own set
//   TEST08  the normalised entropy (NE) of recommendations is that of the accuracy run
//   TEST09  the mean length of answers
//
// A verdict has the lines of the file that the submission checker reads. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/test.h"

namespace assay::loadgen {

std::vector<std::string_view> compliance_tests();

// `model` as in configuration files, TEST09 also "e2e-rag-qna"; "*": any. `dataset`: TEST09, the
// rows of the dataset; 0: of the published one's, gpt-oss-120b's for any.
Result<std::string> audit_conf(std::string_view test, std::string_view model,
                               std::uint64_t dataset = 0);

// The test with an audit.config over its own settings, as LoadGen reads that file: for any model.
Result<Test> audited(Test test, std::string_view conf);

// By Query.index of a performance test, whether its answer is in LoadGen's accuracy log.
Result<std::vector<bool>> logged_samples(const EffectiveSettings& settings, std::uint64_t count);

struct Answer {
  std::uint32_t sample = 0;  // row of the dataset
  std::string text{};
  std::string first{};        // of a stream: its first fragment
  std::int64_t tokens = -1;   // as the system counts them; -1: it did not say
  std::int64_t counted = -1;  // as the tokenizer counts the text; -1: it was not counted
  bool streamed = false;
  bool stopped = false;  // by its end token, which no text has
};

struct ComplianceVerdict {
  bool passed = false;
  std::string file{};                // "verify_accuracy.txt"
  std::vector<std::string> lines{};  // its content
  std::string text() const;
};

// TEST01, first part. LoadGen's script compares the first element of each answer, here a byte; the
// answers that are equal as a whole are counted beside it.
ComplianceVerdict verify_answers(std::span<const Answer> accuracy, std::span<const Answer> logged);
// TEST01, second part: both VALID, of one scenario and limit, and as fast within 10 %.
ComplianceVerdict verify_speed(const Judgement& reference, const Judgement& audit);
// TEST04: less than 10 % faster. Fails where a run is INVALID.
Result<ComplianceVerdict> verify_no_cache(const Judgement& reference, const Judgement& audit);
// TEST06. `eos`: the end token's text, "" where the API never sends it.
ComplianceVerdict verify_consistency(std::span<const Answer> logged, std::string_view eos,
                                     bool offline);
// The same of a LoadGen log, whose answers are token ids. As the script has it, an end token that
// is the whole answer is not looked at, and answers of which the log lacks the first token or the
// number fail.
struct TokenAnswer {
  std::vector<std::uint64_t> ids{};
  std::optional<std::vector<std::uint64_t>> first{};  // nullopt: not in the log
  std::int64_t count = -1;                            // as the system says; -1: it does not
};
ComplianceVerdict verify_tokens(std::span<const TokenAnswer> logged, std::uint64_t eos,
                                bool offline);
// TEST07: percent.
ComplianceVerdict verify_exact_match(double exact_match);
// TEST09.
struct LengthLimits {
  double least = 1150.38;
  double most = 1406.02;
};
// Those of the test's audit.config for a workload; nullopt: it has none.
std::optional<LengthLimits> length_limits(std::string_view workload);
ComplianceVerdict verify_length(std::span<const Answer> logged, const LengthLimits& limits);

// TEST08. A payload begins with the indices of timestamp and query. In performance mode n
// predictions follow; in accuracy mode n predictions, n labels, n weights and n, as DLRMv3's
// reference logs them. Each performance payload must be one of the accuracy run's, with the same NE
// within 0.1 %. Fails on a payload of another shape.
using Payload = std::vector<float>;
Result<ComplianceVerdict> verify_entropy(std::span<const Payload> accuracy,
                                         std::span<const Payload> performance);

}  // namespace assay::loadgen
