#include "meter/machine_source.h"

#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::meter {
namespace {

constexpr std::size_t kFileMax = std::size_t{1} << 20;

Result<std::uint64_t> number_in(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file, kFileMax));
  const auto value = parse_uint(trim(text));
  if (!value) return value.error().within(file.string());
  return *value;
}

struct Zone {
  std::filesystem::path folder{};
  observe::Labels labels{};
  std::uint64_t range = 0;  // µJ: where the counter wraps
  std::uint64_t last = 0;
  std::uint64_t wrapped = 0;  // µJ
  bool seen = false;
};

// "package-0" is the zone "package".
std::string zone_kind(std::string_view name) {
  return std::string(name.substr(0, std::min(name.find('-'), name.size())));
}

class RaplSource final : public Source {
 public:
  RaplSource(std::filesystem::path root, Duration interval)
      : root_(std::move(root)), interval_(interval) {}

  Result<void> find_zones() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(root_, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("intel-rapl:")) continue;
      const auto zone = read_file(entry.path() / "name", kFileMax);
      if (!zone) continue;
      Zone found{.folder = entry.path()};
      found.labels = {{"zone", zone_kind(trim(*zone))}, {"domain", name}};
      if (const auto range = number_in(entry.path() / "max_energy_range_uj")) found.range = *range;
      zones_.push_back(std::move(found));
    }
    if (zones_.empty()) {
      return Error{Code::not_found, format("RAPL: no intel-rapl: below {}", root_.string())};
    }
    std::ranges::sort(zones_, {}, &Zone::folder);
    return {};
  }

  observe::TelemetrySource facts() const override {
    return {.kind = "rapl", .name = root_.string(), .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    SourceReading out{.at = clock.now()};
    for (Zone& zone : zones_) {
      const auto now = number_in(zone.folder / "energy_uj");
      if (!now) {
        return Error{now.error().code,
                     format("{}\n  RAPL's counters are for root alone on most machines",
                            now.error().message)};
      }
      if (zone.seen && *now < zone.last) zone.wrapped += zone.range;
      zone.seen = true;
      zone.last = *now;
      out.samples.push_back({.name = "rapl_energy_joules_total",
                             .labels = zone.labels,
                             .value = static_cast<double>(zone.wrapped + *now) * 1e-6});
    }
    out.took = clock.now() - out.at;
    out.at = out.at + out.took / 2;
    return std::vector<SourceReading>{std::move(out)};
  }

  std::uint64_t unreadable() const override { return 0; }

 private:
  std::filesystem::path root_;
  Duration interval_;
  std::vector<Zone> zones_{};
};

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

class HostSource final : public Source {
 public:
  HostSource(std::filesystem::path root, Duration interval)
      : root_(std::move(root)), interval_(interval) {}

  observe::TelemetrySource facts() const override {
    return {.kind = "host", .name = "this machine", .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    SourceReading out{.at = clock.now()};
    TRY(read_cpu(out.samples));
    read_tcp(out.samples);
    out.took = clock.now() - out.at;
    out.at = out.at + out.took / 2;
    return std::vector<SourceReading>{std::move(out)};
  }

  std::uint64_t unreadable() const override { return unreadable_; }

 private:
  // "cpu user nice system idle iowait irq softirq steal guest …", in ticks; guest is in user.
  Result<void> read_cpu(std::vector<observe::PrometheusSample>& out) {
    constexpr std::size_t kIdle = 4;
    constexpr std::size_t kIoWait = 5;
    constexpr std::size_t kSteal = 8;
    ASSIGN_OR_RETURN(const std::string text, read_file(root_ / "proc/stat", kFileMax));
    const auto words = words_in(std::string_view(text).substr(0, text.find('\n')));
    if (words.size() <= kSteal || words[0] != "cpu") {
      return Error{Code::corrupt, "proc/stat: its first line is not of all CPUs"};
    }
    const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    double busy = 0;
    double stolen = 0;
    for (std::size_t i = 1; i <= kSteal; ++i) {
      const auto ticks = parse_uint(words[i]);
      if (!ticks) return ticks.error().within("proc/stat");
      if (i == kSteal)
        stolen = static_cast<double>(*ticks) * tick;
      else if (i != kIdle && i != kIoWait)
        busy += static_cast<double>(*ticks) * tick;
    }
    out.push_back({.name = "host_cpu_busy_seconds_total", .value = busy});
    out.push_back({.name = "host_cpu_stolen_seconds_total", .value = stolen});
    return {};
  }

  // Two lines begin with "Tcp:": names, then values.
  void read_tcp(std::vector<observe::PrometheusSample>& out) {
    const auto text = read_file(root_ / "proc/net/snmp", kFileMax);
    if (!text) return;  // a machine without it has no such figure
    std::vector<std::string_view> names;
    for (const std::string_view line : split(*text, '\n')) {
      if (!line.starts_with("Tcp: ")) continue;
      const auto words = words_in(line);
      if (names.empty()) {
        names = words;
        continue;
      }
      for (std::size_t i = 0; i < std::min(names.size(), words.size()); ++i) {
        if (names[i] != "RetransSegs") continue;
        const auto count = parse_uint(words[i]);
        if (!count) {
          ++unreadable_;
          return;
        }
        out.push_back({.name = "host_tcp_retransmits_total", .value = static_cast<double>(*count)});
      }
      return;
    }
  }

  std::filesystem::path root_;
  Duration interval_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> rapl_source(const std::filesystem::path& root, Duration interval) {
  auto source = std::make_unique<RaplSource>(root, interval);
  TRY(source->find_zones());
  return std::unique_ptr<Source>(std::move(source));
}

Result<std::unique_ptr<Source>> host_source(const std::filesystem::path& root, Duration interval) {
  return std::unique_ptr<Source>(std::make_unique<HostSource>(root, interval));
}

}  // namespace assay::meter
