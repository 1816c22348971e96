#include "cli/run_talk.h"

#include "base/clock.h"
#include "base/display.h"
#include "base/format.h"
#include "campaign/run_folder.h"
#include "cli/console.h"
#include "report/live_painter.h"
#include "report/terminal.h"

namespace assay::cli {

Result<std::filesystem::path> choose_folder(const std::string& wanted) {
  if (!wanted.empty()) {
    if (std::filesystem::exists(campaign::log_folder(wanted) / "events-0.alog")) {
      return invalid(
          format("--report-dir: '{}' holds a run already\n  name another folder", wanted));
    }
    return std::filesystem::path(wanted);
  }
  const std::filesystem::path base = "runs/" + compact_stamp(wall_now());
  std::filesystem::path folder = base;
  for (int i = 2; std::filesystem::exists(folder); ++i) {
    folder = format("{}_{}", base.string(), i);
  }
  return folder;
}

void say_notes(std::initializer_list<const std::vector<std::string>*> notes) {
  for (const std::vector<std::string>* const list : notes) {
    for (const std::string& note : *list) say("note: " + note);
  }
}

void say_exhausted(const Ending& ending) {
  for (const ExitCause& cause : ending.causes()) {
    if (cause.code == ExitCode::exhausted) say("error: " + printable(cause.why));
  }
}

std::shared_ptr<void> paint_live(const Json& facts,
                                 std::function<metrics::LiveSnapshot()> snapshot) {
  const report::LiveTitle title{.target = report::target_text(facts),
                                .load = report::load_text(facts)};
  return std::make_shared<report::LivePainter>(report::LivePainterOptions{.title = title},
                                               std::move(snapshot),
                                               [](std::string_view frame) { write_error(frame); });
}

}  // namespace assay::cli
