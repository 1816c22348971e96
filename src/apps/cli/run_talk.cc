#include "cli/run_talk.h"

#include <fcntl.h>
#include <unistd.h>

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

Result<std::unique_ptr<LiveFile>> LiveFile::open(const std::string& path) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno_error(format("--live: {}", path));
  return std::unique_ptr<LiveFile>(new LiveFile(descriptor));
}

LiveFile::~LiveFile() { ::close(descriptor_); }

void LiveFile::write(std::string_view line) const {
  // What the reader does not take is lost: the next line has newer figures.
  [[maybe_unused]] const ssize_t taken = ::write(descriptor_, line.data(), line.size());
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
