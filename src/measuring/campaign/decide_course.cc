#include "campaign/decide_course.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/curve/curve_load.h"
#include "campaign/curve/curve_view.h"
#include "decide/system.h"
#include "report/terminal_style.h"

namespace assay::campaign {

Result<int> show_decision(const DecideOptions& options, const Talk& talk) {
  decide::Question question{.inputs = options.inputs};
  ASSIGN_OR_RETURN(question.limits, decide::parse_limits(options.slo));
  TRY(decide::check_curve_limits(question.limits));
  if (!options.prices.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_file(options.prices));
    auto rows = decide::parse_prices(text);
    if (!rows) return rows.error().within(options.prices);
    question.prices = *std::move(rows);
  }
  std::vector<decide::SystemAnswer> found;
  for (const std::string& text : options.systems) {
    ASSIGN_OR_RETURN(const decide::System system, decide::parse_system(text));
    if (!CurveView::is_curve(system.folder)) {
      return invalid(
          format("'{}' holds no curve (curve.json), and no runs of the reference client\n  assay "
                 "curve --endpoint URL --model NAME measures one",
                 system.folder));
    }
    ASSIGN_OR_RETURN(const auto view, CurveView::open(system.folder));
    ASSIGN_OR_RETURN(const metrics::Curve curve, load_curve(view.curve()));
    ASSIGN_OR_RETURN(auto one, decide::answer(system, curve, question));
    found.push_back(std::move(one));
  }
  const decide::Answers answers = decide::rank_all(std::move(found));
  talk.print(options.json ? decide::answers_json(answers, question).dump(2) + "\n"
                          : decide::answers_text(answers, report::terminal_style(1).columns));
  const bool any = std::ranges::any_of(
      answers.systems, [](const auto& one) { return one.served.level.has_value(); });
  return exit_code(any ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::campaign
