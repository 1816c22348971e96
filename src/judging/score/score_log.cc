#include "score/score_log.h"

#include <set>

#include "base/format.h"
#include "base/json_list.h"
#include "score/text/squad_spans.h"

namespace assay::score {
namespace {

struct CountedReplies {
  std::size_t scored = 0;
  std::size_t empty = 0;
  std::size_t duplicates = 0;
  std::set<std::uint32_t> samples{};
};

Result<void> judge_reply(const LoggedReply& entry, const LogScoring& how, NumberWidth width,
                         Scorer& scorer, CountedReplies& counted) {
  static const Json kNoColumns = Json::object();
  const bool again = !counted.samples.insert(entry.sample).second;
  if (again && how.workload->first_only) {
    ++counted.duplicates;
    return {};
  }
  if (how.truths != nullptr && entry.sample >= how.truths->size()) {
    return invalid(format("the dataset has {} rows", how.truths->size()));
  }
  ASSIGN_OR_RETURN(const ReadPayload read,
                   read_payload(entry.bytes, *how.workload, width, how.tokenizer));
  const Row row{.columns = how.truths != nullptr ? &(*how.truths)[entry.sample] : &kNoColumns,
                .reply = read.reply,
                .content = read.reply,
                .tokens = read.tokens,
                .sample = entry.sample};
  ++(entry.bytes.empty() ? counted.empty : counted.scored);
  TRY(scorer.add(row));
  if (how.verdicts != nullptr) *how.verdicts += verdict_record(scorer, row).dump() + '\n';
  return {};
}

// Logits of features: the answers are found in all of them together, and judged by question.
Result<std::size_t> judge_spans(const std::vector<LoggedReply>& log, const LogScoring& how,
                                Scorer& scorer, CountedReplies& counted) {
  if (how.truths->size() != 1) return invalid("the dataset must be SQuAD's file, one JSON object");
  ASSIGN_OR_RETURN(SquadSpans spans, SquadSpans::read(how.truths->front(), *how.tokenizer));
  const bool transposed = how.score.extra["transposed"].as_bool(false);
  for (const LoggedReply& entry : log) {
    if (!counted.samples.insert(entry.sample).second) ++counted.duplicates;
    ++(entry.bytes.empty() ? counted.empty : counted.scored);
    const auto added = spans.add(entry.sample, entry.bytes, transposed);
    if (!added) return added.error().within(format("sample {}", entry.sample));
  }
  const std::vector<std::string> answers = spans.answers();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const SquadQuestion& question = spans.questions()[i];
    const Json columns = Json().set("id", question.id).set("answers", json_list(question.answers));
    const Row row{.columns = &columns,
                  .reply = answers[i],
                  .content = answers[i],
                  .sample = static_cast<std::uint32_t>(i)};
    TRY(scorer.add(row));
    if (how.verdicts != nullptr) *how.verdicts += verdict_record(scorer, row).dump() + '\n';
  }
  return spans.features().size();
}

// Returns how many samples the dataset has; 0: it is not known.
Result<std::size_t> judge_log(const std::vector<LoggedReply>& log, const LogScoring& how,
                              NumberWidth width, Scorer& scorer, CountedReplies& counted) {
  if (how.workload->payload == PayloadKind::spans) return judge_spans(log, how, scorer, counted);
  for (const LoggedReply& entry : log) {
    const auto judged = judge_reply(entry, how, width, scorer, counted);
    if (!judged) return judged.error().within(format("sample {}", entry.sample));
  }
  return how.truths != nullptr ? how.truths->size() : 0;
}

}  // namespace

Result<Json> score_log(std::string_view text, const LogScoring& how) {
  ASSIGN_OR_RETURN(const std::vector<LoggedReply> log, read_accuracy_log(text));
  if (log.empty()) return invalid("the log has no entry: was it LoadGen's accuracy mode?");
  ASSIGN_OR_RETURN(const NumberWidth width, number_width(log, how.workload->payload));
  ScorerOptions options = how.score;
  if (options.ground_truth.empty()) options.ground_truth = how.workload->ground_truth;
  ASSIGN_OR_RETURN(const auto scorer, make_scorer(how.workload->scorer, options));
  CountedReplies counted;
  ASSIGN_OR_RETURN(const std::size_t samples, judge_log(log, how, width, *scorer, counted));
  ASSIGN_OR_RETURN(const Verdict verdict, scorer->finish());
  std::string note = verdict.note;
  if (counted.samples.size() < samples) {
    note += format("{}{} of the dataset's {} {} are not in the log, and in no figure",
                   note.empty() ? "" : "; ", samples - counted.samples.size(), samples,
                   how.workload->payload == PayloadKind::spans ? "features" : "rows");
  }
  const PayloadKind kind = how.workload->payload;
  const bool has_width = kind == PayloadKind::tokens || kind == PayloadKind::letters;
  Json out;
  out.set("workload", how.workload->workload)
      .set("scorer", how.workload->scorer)
      .set("payload",
           has_width ? format("{}, {} bytes each", to_string(kind), static_cast<unsigned>(width))
                     : std::string(to_string(kind)))
      .set("entries", log.size())
      .set("duplicates", counted.duplicates)
      .set("score", verdict.score)
      .set("breakdown", verdict.breakdown);
  if (Json spread = uncertainty_json(verdict.figures); !spread.is_null()) {
    out.set("uncertainty", std::move(spread));
  }
  if (!note.empty()) out.set("note", note);
  return out.set("scored", counted.scored).set("empty", counted.empty).set("missing", 0);
}

}  // namespace assay::score
