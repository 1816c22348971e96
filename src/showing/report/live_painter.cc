#include "report/live_painter.h"

#include <algorithm>
#include <iterator>

#include "base/display.h"
#include "base/format.h"

namespace assay::report {
namespace {

constexpr Duration kTurn = 250_ms;
constexpr int kTurnsALine = 20;

}  // namespace

std::string LiveScreen::draw(const std::vector<std::string>& lines) {
  std::string out = drawn_ > 0 ? format("\x1b[{}A\r", drawn_) : "\r";
  // Erase before the text: at the right edge, an erase after it would remove the last character.
  for (const std::string& line : lines) out += "\x1b[2K" + line + "\n";
  // The previous picture may have been taller.
  out += "\x1b[J";
  drawn_ = lines.size();
  return out;
}

std::string LiveScreen::clear() {
  if (drawn_ == 0) return {};
  const std::string out = format("\x1b[{}A\r\x1b[J", drawn_);
  drawn_ = 0;
  return out;
}

LivePainter::LivePainter(LivePainterOptions options,
                         std::function<metrics::LiveSnapshot()> snapshot,
                         std::function<void(std::string_view)> write)
    : options_(std::move(options)), snapshot_(std::move(snapshot)), write_(std::move(write)) {
  if (!options_.quiet) thread_ = std::thread([this] { loop(); });
}

LivePainter::~LivePainter() { stop(); }

void LivePainter::say(std::string_view line) {
  const Lock lock(mutex_);
  write_(screen_.clear() + std::string(line) + "\n");
}

void LivePainter::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  const Lock lock(mutex_);
  const std::string last = screen_.clear();
  if (!last.empty()) write_(last);
}

void LivePainter::loop() {
  Lock lock(mutex_);
  while (!stopping_) {
    paint();
    wake_.wait_for(lock, kTurn);
  }
}

void LivePainter::paint() {
  const metrics::LiveSnapshot snapshot = snapshot_();
  const TerminalStyle style = options_.style();
  if (style.terminal) {
    std::vector<std::string> lines = live_block(options_.title, snapshot, style.columns);
    // In a picture taller than the window the cursor could not return to the first line. The lines
    // above the block are dropped first.
    const std::size_t room = std::max<std::size_t>(style.rows, 2) - 1;
    lines.resize(std::min(lines.size(), room));
    if (options_.above) {
      std::vector<std::string> above = options_.above(style.columns);
      if (above.size() + lines.size() <= room) {
        lines.insert(lines.begin(), std::make_move_iterator(above.begin()),
                     std::make_move_iterator(above.end()));
      }
    }
    write_(screen_.draw(lines));
    return;
  }
  if (snapshot.trouble != last_trouble_ && last_trouble_.empty()) {
    write_("! disk: " + printable(snapshot.trouble) + "\n");
  }
  last_trouble_ = snapshot.trouble;
  // A phase's first line is printed at once, so that a log shows even a short phase.
  if (!snapshot.phase.empty() && (turns_ == 0 || snapshot.phase != last_phase_)) {
    write_(live_line(snapshot) + "\n");
    last_phase_ = snapshot.phase;
    turns_ = 0;
  }
  turns_ = (turns_ + 1) % kTurnsALine;
}

}  // namespace assay::report
