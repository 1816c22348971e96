#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

// A share of replies that is too small to change a figure.
constexpr double kShareMost = 0.01;

void judge(const Scope& at, Out& out, std::string_view pointer, std::string_view what,
           std::string_view expected) {
  const Document& summary = at.point->summary;
  const std::int64_t replies = summary.at(pointer).as_int();
  if (replies <= 0) return;
  const std::int64_t completed = at.point->metrics.completed.value_or(0);
  std::string found =
      format("{} of {} replies {}", with_thousands(replies), with_thousands(completed), what);
  if (static_cast<double>(replies) > kShareMost * static_cast<double>(completed)) {
    out.error(summary.place(pointer), std::move(found), std::string(expected));
  } else {
    out.warning(summary.place(pointer), std::move(found), std::string(expected));
  }
}

// Checks our own client's comparison of each reply's token count with the reply.
void check_token_evidence(const Scope& at, Out& out) {
  const Json& tokens = at.point->summary.at("/assay/tokens");
  if (!tokens["contradicted"].is_object()) return out.not_applicable();
  judge(at, out, "/assay/tokens/contradicted/replies",
        format("have a token count of the server's that the reply contradicts: it says {} tokens "
               "where {} are counted",
               with_thousands(tokens["contradicted"]["said"].as_int()),
               with_thousands(tokens["contradicted"]["counted"].as_int())),
        "counts within the limit that was asked for and the bytes of each reply");
  judge(at, out, "/assay/tokens/empty_replies", "held nothing at all",
        "text, reasoning or a tool call in each reply");
}

}  // namespace

Rule token_evidence() {
  return {.id = "token-evidence",
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "the token counts that figures rest on fit the replies",
          .fix =
              "mend what the server reports as usage, or count the text with --tokenizer, and "
              "measure again",
          .check = check_token_evidence};
}

}  // namespace assay::rules
