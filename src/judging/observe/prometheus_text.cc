#include "observe/prometheus_text.h"

#include <cmath>

#include "base/text.h"

namespace assay::observe {
namespace {

bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}

bool name_part(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

// Reads one line from its front; each function takes what it reads and reports whether it was
// there.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : rest_(line) {}

  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }

  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_name(std::string& out) {
    if (rest_.empty() || !name_start(rest_[0])) return false;
    std::size_t n = 1;
    while (n < rest_.size() && name_part(rest_[n])) ++n;
    out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return true;
  }

  bool take_quoted(std::string& out) {
    if (!take('"')) return false;
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (rest_.empty()) return false;
      out += rest_[0] == 'n' ? '\n' : rest_[0];
      rest_.remove_prefix(1);
    }
    return false;
  }

  std::string_view take_word() {
    const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool read_labels(LineCursor& at, Labels& out) {
  for (;;) {
    at.skip_blanks();
    if (at.take('}')) return true;
    std::pair<std::string, std::string> label;
    if (!at.take_name(label.first)) return false;
    at.skip_blanks();
    if (!at.take('=')) return false;
    at.skip_blanks();
    if (!at.take_quoted(label.second)) return false;
    out.push_back(std::move(label));
    at.skip_blanks();
    if (at.take(',')) continue;
    return at.take('}');
  }
}

bool read_value(std::string_view word, double& out) {
  const std::string small = lower(word);
  if (small == "nan" || small == "+inf" || small == "-inf" || small == "inf") {
    out = NAN;
    return true;
  }
  const auto value = parse_double(word.starts_with('+') ? word.substr(1) : word);
  if (!value) return false;
  out = *value;
  return true;
}

bool read_sample(std::string_view line, PrometheusSample& out) {
  LineCursor at(line);
  if (!at.take_name(out.name)) return false;
  at.skip_blanks();
  if (at.take('{') && !read_labels(at, out.labels)) return false;
  at.skip_blanks();
  return read_value(at.take_word(), out.value);
}

void read_comment(std::string_view line, PrometheusPage& page) {
  LineCursor at(line.substr(1));
  at.skip_blanks();
  if (at.take_word() != "TYPE") return;
  at.skip_blanks();
  const std::string_view name = at.take_word();
  at.skip_blanks();
  const std::string_view type = at.take_word();
  if (name.empty() || type.empty() || page.types.size() >= kSamplesMax) return;
  page.types.emplace_back(name, type);
}

}  // namespace

PrometheusPage read_prometheus(std::string_view text) {
  PrometheusPage page;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line[0] == '#') {
      read_comment(line, page);
      continue;
    }
    PrometheusSample sample;
    if (!read_sample(line, sample)) {
      ++page.unreadable;
    } else if (!std::isfinite(sample.value)) {
      ++page.not_finite;
    } else if (page.samples.size() >= kSamplesMax) {
      ++page.dropped;
    } else {
      page.samples.push_back(std::move(sample));
    }
  }
  return page;
}

std::string_view label_of(const Labels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace assay::observe
