#include "plan/class_arrivals.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/mix.h"
#include "plan/arrivals.h"
#include "plan/resolve.h"

namespace assay::plan {
namespace {

constexpr std::int64_t kBurstMost = 1'000'000;

struct Law {
  enum class Kind : std::uint8_t { poisson, constant, gamma, burst } kind = Kind::poisson;
  double number = 1;
};

Result<Law> parse_law(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name = text.substr(0, slash);
  const std::optional<std::string_view> number =
      slash == std::string_view::npos ? std::nullopt : std::optional(text.substr(slash + 1));
  if ((name == "poisson" || name.empty()) && !number) return Law{};
  if (name == "constant" && !number) return Law{Law::Kind::constant};
  if (name == "gamma" && number) {
    const auto shape = parse_double(*number);
    if (shape && *shape > 0 && *shape <= 1e6) return Law{Law::Kind::gamma, *shape};
  }
  if (name == "burst" && number) {
    const auto size = parse_int(*number);
    if (size && *size >= 1 && *size <= kBurstMost) {
      return Law{Law::Kind::burst, static_cast<double>(*size)};
    }
  }
  return invalid(
      format("law={}: a law of arrival is poisson, constant, gamma/SHAPE or burst/QUERIES", text));
}

// One class's queries, one after another.
class Stream {
 public:
  Stream(const dataset::SyntheticClass& traffic, const Law& law, std::uint64_t seed)
      : size_(law.kind == Law::Kind::burst ? static_cast<std::int64_t>(law.number) : 1),
        arrivals_(make(law, *traffic.rate, seed ^ xxh3(traffic.name))) {
    step();
  }

  Duration due() const { return due_; }
  std::uint32_t take() {
    const std::uint32_t row = rows[next_];
    next_ = next_ + 1 == rows.size() ? 0 : next_ + 1;
    step();
    return row;
  }

  std::vector<std::uint32_t> rows{};

 private:
  static Arrivals make(const Law& law, double rate, std::uint64_t seed) {
    switch (law.kind) {
      case Law::Kind::poisson:
        return Arrivals::poisson(rate, seed);
      case Law::Kind::constant:
        return Arrivals::constant(rate);
      case Law::Kind::gamma:
        return Arrivals::gamma(rate, law.number, seed);
      case Law::Kind::burst:
        return Arrivals::poisson(rate / law.number, seed);
    }
    return Arrivals::constant(rate);
  }
  void step() {
    if (left_ == 0) {
      due_ = arrivals_.next();
      left_ = size_;
    }
    --left_;
  }

  std::int64_t size_;
  Arrivals arrivals_;
  std::int64_t left_ = 0;
  Duration due_{};
  std::size_t next_ = 0;
};

}  // namespace

Result<void> check_law(std::string_view law) {
  TRY(parse_law(law));
  return {};
}

const std::vector<std::string>* classes_with_loads(const Config& config) {
  const DatasetConfig* const data = performance_dataset(config);
  if (data == nullptr || !data->synthetic) return nullptr;
  const bool any = std::ranges::any_of(data->synthetic->classes, [](const std::string& text) {
    const auto one = dataset::parse_class(text);
    return one && (one->rate || one->concurrency);
  });
  return any ? &data->synthetic->classes : nullptr;
}

Result<ClassSchedule> class_schedule(const std::vector<dataset::SyntheticClass>& classes,
                                     std::uint32_t rows, std::uint64_t seed, std::uint64_t queries,
                                     Duration time, std::uint64_t most) {
  const TrafficMix mix = dataset::mix_of(classes);
  std::vector<std::vector<std::uint32_t>> rows_of(classes.size());
  for (std::uint32_t row = 0; row < rows; ++row) rows_of[class_of(mix, row)].push_back(row);
  std::vector<Stream> streams;
  ClassSchedule out;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].concurrency.value_or(0) == 0 && classes[i].rate.value_or(0) == 0) continue;
    if (rows_of[i].empty()) {
      return invalid(format("class {}: none of the {} prompts is of it; ask for more (--prompts)",
                            classes[i].name, rows));
    }
    if (classes[i].concurrency) {
      out.loops.push_back({.users = *classes[i].concurrency,
                           .think = classes[i].think,
                           .rows = std::move(rows_of[i])});
      continue;
    }
    ASSIGN_OR_RETURN(const Law law, parse_law(classes[i].law));
    streams.emplace_back(classes[i], law, seed);
    streams.back().rows = std::move(rows_of[i]);
  }
  if (streams.empty() && out.loops.empty()) {
    return invalid("the classes' loads are all 0: no query would be sent");
  }
  while (!streams.empty() && (queries == 0 || out.at.size() < queries)) {
    const auto next = std::ranges::min_element(streams, {}, &Stream::due);
    if (queries == 0 && next->due() >= time) break;
    if (out.at.size() == most) {
      return invalid(format("the classes' rates come to more than {} queries; shorten the run",
                            with_thousands(static_cast<std::int64_t>(most))));
    }
    out.at.push_back(next->due());
    out.rows.push_back(next->take());
  }
  if (out.at.empty() && out.loops.empty())
    return invalid("no query of any class is due within the duration");
  return out;
}

}  // namespace assay::plan
