#include "net/sse.h"

namespace assay::net {
namespace {

const char* find(const char* p, const char* end, char c) {
  return static_cast<const char*>(std::memchr(p, c, static_cast<std::size_t>(end - p)));
}

constexpr std::string_view kData = "data:";
constexpr std::string_view kEvent = "event:";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

const char* SseParser::whole_event(const char* p, const char* end) {
  if (!std::string_view(p, static_cast<std::size_t>(end - p)).starts_with(kData)) return nullptr;
  const char* const lf = find(p, end, '\n');
  if (lf == nullptr || lf + 1 == end) return nullptr;
  const char* line_end = lf;
  const char* after = lf + 1;
  if (*after == '\n') {
    ++after;
  } else if (lf[-1] == '\r' && end - after >= 2 && after[0] == '\r' && after[1] == '\n') {
    after += 2;
    line_end = lf - 1;
  } else {
    return nullptr;  // another line of the same event, or the blank line is missing yet
  }
  const char* data = p + kData.size();
  // A bare CR ends a line too; it is rare, and the slow path handles it.
  if (find(data, line_end, '\r') != nullptr) return nullptr;
  if (*data == ' ') ++data;  // without data, the line's end is here
  view_ = {data, static_cast<std::size_t>(line_end - data)};
  return after;
}

const char* SseParser::slow_step(const char* p, const char* end) {
  const char* stop = p;
  while (stop < end && *stop != '\n' && *stop != '\r') ++stop;
  keep(line_, {p, static_cast<std::size_t>(stop - p)});
  if (line_.size() + data_.size() > kEventBytesMax) too_long_ = true;
  if (stop == end) return end;
  skip_lf_ = *stop == '\r';
  end_line();
  return stop + 1;
}

void SseParser::keep(BudgetedText& text, std::string_view more) {
  if (!text.append(more)) no_room_ = too_long_ = true;
}

void SseParser::end_line() {
  std::string_view line = line_.view();
  if (at_start_) {
    at_start_ = false;
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  }
  if (line.empty()) {
    ready_ = has_data_ || is_error_;
  } else if (line.starts_with(kData) || line == "data") {
    line.remove_prefix(line.size() > 4 ? kData.size() : line.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (!has_data_) data_.clear();
    if (has_data_) keep(data_, "\n");
    keep(data_, line);
    has_data_ = true;
  } else if (line.starts_with(kEvent)) {
    line.remove_prefix(kEvent.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    is_error_ = line == "error";
    if (!is_error_ && !has_data_) data_.clear();
  } else if (is_error_ && !has_data_ && line.starts_with(':')) {
    keep(data_, line.substr(data_.empty() && line.starts_with(": ") ? 2 : 1));
  }
  line_.clear();
}

}  // namespace assay::net
