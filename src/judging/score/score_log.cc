#include "score/score_log.h"

#include <set>

#include "base/format.h"

namespace assay::score {
namespace {

struct Counted {
  std::size_t scored = 0;
  std::size_t empty = 0;
  std::size_t duplicates = 0;
  std::set<std::uint32_t> samples{};
};

Result<void> judge(const LoggedReply& entry, const LogScoring& how, NumberWidth width,
                   Scorer& scorer, Counted& counted) {
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

}  // namespace

Result<Json> score_log(std::string_view text, const LogScoring& how) {
  ASSIGN_OR_RETURN(const std::vector<LoggedReply> log, read_accuracy_log(text));
  if (log.empty()) return invalid("the log has no entry: was it LoadGen's accuracy mode?");
  ASSIGN_OR_RETURN(const NumberWidth width, number_width(log, how.workload->payload));
  ScorerOptions options = how.score;
  if (options.ground_truth.empty()) options.ground_truth = how.workload->ground_truth;
  ASSIGN_OR_RETURN(const auto scorer, make_scorer(how.workload->scorer, options));
  Counted counted;
  for (const LoggedReply& entry : log) {
    const auto judged = judge(entry, how, width, *scorer, counted);
    if (!judged) return judged.error().within(format("sample {}", entry.sample));
  }
  ASSIGN_OR_RETURN(const Verdict verdict, scorer->finish());
  std::string note = verdict.note;
  if (how.truths != nullptr && counted.samples.size() < how.truths->size()) {
    note += format("{}{} of the dataset's {} rows are not in the log, and in no figure",
                   note.empty() ? "" : "; ", how.truths->size() - counted.samples.size(),
                   how.truths->size());
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
