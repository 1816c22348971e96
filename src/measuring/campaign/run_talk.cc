#include "campaign/run_talk.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/display.h"
#include "base/format.h"
#include "base/talk.h"
#include "base/text.h"
#include "campaign/run_folder.h"
#include "report/content.h"
#include "report/live_painter.h"

namespace assay::campaign {

Result<std::filesystem::path> choose_folder(const std::string& wanted) {
  if (!wanted.empty()) {
    if (std::filesystem::exists(log_folder(wanted) / "events-0.alog")) {
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

void say_notes(const Talk& talk, std::initializer_list<const std::vector<std::string>*> notes) {
  for (const std::vector<std::string>* const list : notes) {
    for (const std::string& note : *list) talk.say("note: " + note);
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

void say_exhausted(const Ending& ending, const Talk& talk) {
  for (const ExitCause& cause : ending.causes()) {
    if (cause.code == ExitCode::exhausted) talk.say("error: " + printable(cause.why));
  }
}

std::shared_ptr<void> paint_live(const Json& facts, std::function<metrics::LiveSnapshot()> snapshot,
                                 const Talk& talk) {
  const report::LiveTitle title{.target = report::target_text(facts),
                                .load = report::load_text(facts)};
  return std::make_shared<report::LivePainter>(report::LivePainterOptions{.title = title},
                                               std::move(snapshot), talk.paint);
}

std::vector<std::string> command_of(std::string_view name, std::span<const std::string> args) {
  std::vector<std::string> out{"assay"};
  for (const std::string_view word : split(name, ' ')) out.emplace_back(word);
  out.insert(out.end(), args.begin(), args.end());
  return out;
}

}  // namespace assay::campaign
