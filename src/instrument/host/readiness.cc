#include "host/readiness.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/display.h"
#include "base/enum_name.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "host/control_groups.h"
#include "host/machine_memory.h"

namespace assay::host {
namespace {

using FilePath = std::filesystem::path;

std::string line_of(const FilePath& file) {
  constexpr std::size_t kMost = 4096;
  const Result<std::string> text = read_file(file, kMost);
  return text ? std::string(trim(*text)) : std::string();
}

std::vector<std::string> spaced_words(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

// "150000 100000" of cpu.max is one and a half cores; "max 100000" is no quota.
std::optional<double> quota_of(const FilePath& root) {
  std::optional<double> least;
  const auto bound = [&least](std::string_view quota, std::string_view period) {
    const double of = parse_double(quota).value_or(0);
    const double in = parse_double(period).value_or(0);
    if (of <= 0 || in <= 0) return;
    if (!least || of / in < *least) least = of / in;
  };
  each_control_group(root, "cpu", [&](const FilePath& folder) {
    const auto words = spaced_words(line_of(folder / "cpu.max"));
    if (words.size() == 2) bound(words[0], words[1]);
  });
  each_control_group(root, "cpu", [&](const FilePath& folder) {
    bound(line_of(folder / "cpu.cfs_quota_us"), line_of(folder / "cpu.cfs_period_us"));
  });
  return least;
}

// Absent where the kernel says neither.
std::optional<bool> namespaces_of(const FilePath& root) {
  const auto most = parse_int(line_of(root / "proc/sys/user/max_user_namespaces"));
  if (!most) return std::nullopt;
  const std::string clone = line_of(root / "proc/sys/kernel/unprivileged_userns_clone");
  const std::string armoured =
      line_of(root / "proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  return *most > 0 && clone != "0" && armoured != "1";
}

std::uint64_t swapped_of(const FilePath& root) {
  const Result<std::string> text = read_file(root / "proc/meminfo");
  if (!text) return 0;
  const auto kib = [&text](std::string_view name) -> std::uint64_t {
    for (const std::string_view line : split(*text, '\n')) {
      const auto words = spaced_words(line);
      if (words.size() >= 2 && words[0] == name) return parse_uint(words[1]).value_or(0);
    }
    return 0;
  };
  const std::uint64_t total = kib("SwapTotal:");
  const std::uint64_t left = kib("SwapFree:");
  return (total - std::min(total, left)) * 1024;
}

class Judge {
 public:
  void good(std::string name, std::string found) {
    out_.push_back({.name = std::move(name), .found = std::move(found)});
  }
  void add(Ready ready, std::string name, std::string found, std::string what, std::string fix) {
    out_.push_back({ready, std::move(name), std::move(found), std::move(what), std::move(fix)});
  }
  // Good, or weak with its words.
  void unless(bool weak, std::string name, std::string found, std::string what, std::string fix) {
    if (!weak) return good(std::move(name), std::move(found));
    add(Ready::weak, std::move(name), std::move(found), std::move(what), std::move(fix));
  }
  std::vector<Readiness> take() { return std::move(out_); }

 private:
  std::vector<Readiness> out_{};
};

void judge_cores(const MachineFacts& facts, Judge& judge) {
  if (facts.cores > 0) {
    judge.unless(facts.cores < 2, "cores", format("{}", facts.cores),
                 "the measuring thread shares its core with the kernel and every other process",
                 "measure from a machine with 2 cores or more, or widen taskset/--cpuset-cpus");
  }
  if (facts.quota_cores) {
    judge.add(Ready::weak, "CPU quota", format("{} cores", three_digits(*facts.quota_cores)),
              "where it is used up, every thread stops until the next period (up to 100 ms)",
              "give whole cores in place of a quota: docker run --cpuset-cpus 0-3, without --cpus; "
              "in Kubernetes requests equal to limits and the static CPU policy");
  }
  if (facts.load >= 0 && facts.cores > 0) {
    judge.unless(facts.load > 0.5 * facts.cores, "other load",
                 format("{} runnable threads on {} cores", three_digits(facts.load), facts.cores),
                 "other processes take turns with the measuring threads",
                 "top -o %CPU shows which; end them, or measure from a quiet machine");
  }
}

void judge_clocks(const MachineFacts& facts, Judge& judge) {
  if (!facts.governor.empty()) {
    judge.unless(facts.governor != "performance", "frequency governor", facts.governor,
                 "a core that runs slowly at first adds tens of microseconds to a wake-up",
                 "sudo cpupower frequency-set --governor performance");
  }
  if (facts.clock_source.empty()) return;
  const bool has_tsc = std::ranges::find(facts.clock_sources, "tsc") != facts.clock_sources.end();
  const bool quick = facts.clock_source == "tsc" || facts.clock_source == "kvm-clock" ||
                     facts.clock_source == "arch_sys_counter" ||
                     facts.clock_source == "hyperv_clocksource_tsc_page";
  judge.unless(!quick, "clock", facts.clock_source,
               "each reading of the clock is a call into the kernel, a microsecond or more",
               has_tsc ? "echo tsc | sudo tee "
                         "/sys/devices/system/clocksource/clocksource0/current_clocksource"
                       : "the kernel does not trust this machine's tsc: dmesg | grep -i tsc says "
                         "why");
}

void judge_room(const MachineFacts& facts, Judge& judge) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  constexpr std::uint64_t kOpenFiles = 65'536;
  constexpr std::uint64_t kOwnFiles = 32;
  constexpr std::int64_t kPorts = 28'000;
  if (facts.open_files > 0) {
    judge.unless(facts.open_files < kOpenFiles, "open files", count_text(facts.open_files),
                 format("at most {} connections at once",
                        count_text(std::max(facts.open_files, kOwnFiles) - kOwnFiles)),
                 "ulimit -Hn 1048576 as root, or LimitNOFILE=1048576 of the service, or docker run "
                 "--ulimit nofile=1048576");
  }
  if (facts.ports >= 0) {
    judge.unless(facts.ports < kPorts, "ports", with_thousands(facts.ports),
                 format("at most {} connections to one address", with_thousands(facts.ports)),
                 "sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'");
  }
  if (facts.memory_bytes > 0) {
    judge.unless(facts.memory_bytes < 2 * kGiB, "memory", human_bytes(facts.memory_bytes),
                 "long prompts of many connections may not fit",
                 "raise the limit of the container (docker run --memory), or lower --concurrency");
  }
  if (facts.swapped_bytes > 0) {
    judge.add(Ready::weak, "swap", human_bytes(facts.swapped_bytes) + " in use",
              "a page that has to come back from disk stops its thread for milliseconds",
              "sudo swapoff -a where there is memory for it");
  }
  if (facts.disk_bytes > 0) {
    judge.unless(facts.disk_bytes < kGiB, "disk", human_bytes(facts.disk_bytes) + " free",
                 "a long run's event log may not fit; the run would report what it lost",
                 "--report-dir on another disk");
  }
}

void judge_kernel(const MachineFacts& facts, Judge& judge) {
  if (!facts.kernel.empty()) judge.good("kernel", facts.kernel);
  if (facts.receive_stamps) {
    judge.unless(!*facts.receive_stamps, "kernel's arrival stamps",
                 *facts.receive_stamps ? "granted" : "refused",
                 "arrivals are taken when the client reads, so the client's own delay is in them",
                 "measure on a Linux kernel itself, not in a sandbox such as gVisor");
  }
  if (facts.user_namespaces) {
    if (*facts.user_namespaces) {
      judge.good("user namespaces", "granted");
    } else {
      judge.add(Ready::missing, "user namespaces", "refused",
                "accuracy of generated code can't be scored: its jail needs them",
                "sudo sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1 "
                "kernel.apparmor_restrict_unprivileged_userns=0 (those that the kernel knows)");
    }
  }
}

struct SettingWords {
  std::string_view name{};
  std::string_view shown{};
  std::string_view what{};
  std::string_view fix{};
};

constexpr std::array kSettings{
    SettingWords{"cpu_wake_latency", "shallow sleep of cores",
                 "a core that slept deeply takes up to 100 µs to wake",
                 "run as root, or: sudo chmod o+w /dev/cpu_dma_latency"},
    SettingWords{"timer_slack", "exact timers", "timers fire up to 50 µs late",
                 "the sandbox forbids prctl; run outside of it"},
    SettingWords{"short_slice", "short time slices",
                 "a neighbour on the same core holds a measuring thread up for 2 to 3 ms",
                 "Linux 6.12 or later"},
};

void judge_settings(const MachineFacts& facts, Judge& judge) {
  for (const LatencySetting& setting : facts.settings) {
    const auto* const words = std::ranges::find(kSettings, setting.name, &SettingWords::name);
    if (words == kSettings.end() || !setting.asked) continue;
    judge.unless(!setting.granted, std::string(words->shown), setting.detail,
                 std::string(words->what), std::string(words->fix));
  }
}

}  // namespace

MachineFacts read_machine(const std::filesystem::path& root) {
  MachineFacts out;
  out.quota_cores = quota_of(root);
  out.kernel = line_of(root / "proc/sys/kernel/osrelease");
  out.governor = line_of(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const FilePath clocks = root / "sys/devices/system/clocksource/clocksource0";
  out.clock_source = line_of(clocks / "current_clocksource");
  out.clock_sources = spaced_words(line_of(clocks / "available_clocksource"));
  const auto load = spaced_words(line_of(root / "proc/loadavg"));
  if (!load.empty()) out.load = parse_double(load.front()).value_or(-1);
  out.memory_bytes = usable_memory(root);
  out.swapped_bytes = swapped_of(root);
  const auto range = spaced_words(line_of(root / "proc/sys/net/ipv4/ip_local_port_range"));
  if (range.size() == 2) {
    const auto first = parse_int(range[0]);
    const auto last = parse_int(range[1]);
    if (first && last && *last >= *first) out.ports = *last - *first + 1;
  }
  out.user_namespaces = namespaces_of(root);
  return out;
}

std::string_view to_string(Ready ready) { return enum_name(ready); }

std::vector<Readiness> judge_machine(const MachineFacts& facts) {
  Judge judge;
  judge_cores(facts, judge);
  judge_clocks(facts, judge);
  judge_settings(facts, judge);
  judge_kernel(facts, judge);
  judge_room(facts, judge);
  return judge.take();
}

std::string readiness_text(const std::vector<Readiness>& list) {
  std::size_t width = 0;
  for (const Readiness& one : list) width = std::max(width, display_width(one.name));
  std::string out;
  for (const Readiness& one : list) {
    out += format("  {:<8} {}  {}\n", to_string(one.ready), pad_right(one.name, width),
                  printable(one.found));
    if (one.ready == Ready::good) continue;
    out += format("           {}\n           mend: {}\n", one.what, one.fix);
  }
  return out;
}

Json readiness_json(const std::vector<Readiness>& list) {
  Json out = Json::array();
  for (const Readiness& one : list) {
    Json row;
    row.set("name", one.name)
        .set("ready", to_string(one.ready))
        .set("found", one.found)
        .set("what", one.what)
        .set("fix", one.fix);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace assay::host
