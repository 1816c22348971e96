#include "meter/nvml_source.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "base/format.h"

namespace assay::meter {
namespace {

// The parts of nvml.h that are used; its interface keeps them as they are.
using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kSensorGpu = 0;
struct NvmlUtilization {
  unsigned gpu = 0;  // %
  unsigned memory = 0;
};
struct NvmlMemory {
  unsigned long long total = 0;  // bytes
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, NvmlDevice*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  // Absent ones are not read.
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;             // mW
  int (*energy)(NvmlDevice, unsigned long long*) = nullptr;  // mJ
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;        // MHz
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;  // °C
};

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <typename Function>
bool find(const Library& library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library.get(), name));
  return out != nullptr;
}

Result<Nvml> functions_of(const Library& library) {
  Nvml out;
  const bool whole = find(library, "nvmlInit_v2", out.init) &&
                     find(library, "nvmlShutdown", out.shutdown) &&
                     find(library, "nvmlDeviceGetCount_v2", out.count) &&
                     find(library, "nvmlDeviceGetHandleByIndex_v2", out.by_index);
  if (!whole) return Error{Code::unsupported, "it lacks functions that every NVML has"};
  find(library, "nvmlErrorString", out.error_string);
  find(library, "nvmlDeviceGetUUID", out.uuid);
  find(library, "nvmlDeviceGetPowerUsage", out.power);
  find(library, "nvmlDeviceGetTotalEnergyConsumption", out.energy);
  find(library, "nvmlDeviceGetUtilizationRates", out.utilization);
  find(library, "nvmlDeviceGetMemoryInfo", out.memory);
  find(library, "nvmlDeviceGetClockInfo", out.clock);
  find(library, "nvmlDeviceGetTemperature", out.temperature);
  return out;
}

struct Card {
  NvmlDevice device = nullptr;
  observe::Labels labels{};
};

class NvmlSource final : public Source {
 public:
  NvmlSource(std::string name, Library library, Nvml nvml, Duration interval)
      : name_(std::move(name)), library_(std::move(library)), nvml_(nvml), interval_(interval) {}
  ~NvmlSource() override { nvml_.shutdown(); }
  NvmlSource(const NvmlSource&) = delete;
  NvmlSource& operator=(const NvmlSource&) = delete;

  Result<void> find_cards(const std::vector<unsigned>& wanted) {
    unsigned count = 0;
    if (const int code = nvml_.count(&count); code != kNvmlSuccess) return trouble(code);
    for (unsigned i = 0; i < count; ++i) {
      if (!wanted.empty() && std::ranges::find(wanted, i) == wanted.end()) continue;
      Card card;
      // A card that has fallen off the bus is left out, and the others are read.
      if (nvml_.by_index(i, &card.device) != kNvmlSuccess) continue;
      card.labels.emplace_back("gpu", format("{}", i));
      std::array<char, 96> uuid{};
      if (nvml_.uuid != nullptr &&
          nvml_.uuid(card.device, uuid.data(), uuid.size()) == kNvmlSuccess) {
        uuid.back() = '\0';
        card.labels.emplace_back("uuid", uuid.data());
      }
      cards_.push_back(std::move(card));
    }
    if (cards_.empty() || (!wanted.empty() && cards_.size() < wanted.size())) {
      return Error{Code::not_found, wanted.empty() ? "there is no card" : "no card of that number"};
    }
    return {};
  }

  observe::TelemetrySource facts() const override {
    return {.kind = "nvml", .name = name_, .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    SourceReading out{.at = clock.now()};
    for (const Card& card : cards_) read_card(card, out.samples);
    out.took = clock.now() - out.at;
    out.at = out.at + out.took / 2;
    if (out.samples.empty()) return Error{Code::unsupported, "no card answers any question"};
    return std::vector<SourceReading>{std::move(out)};
  }

  std::uint64_t unreadable() const override { return 0; }

 private:
  Error trouble(int code) const {
    const char* const words = nvml_.error_string == nullptr ? nullptr : nvml_.error_string(code);
    return {Code::refused, words == nullptr ? format("error {}", code) : std::string(words)};
  }

  void read_card(const Card& card, std::vector<observe::PrometheusSample>& out) const {
    const auto add = [&](const char* name, double value) {
      out.push_back({.name = name, .labels = card.labels, .value = value});
    };
    unsigned number = 0;
    unsigned long long energy = 0;
    NvmlUtilization busy;
    NvmlMemory memory;
    if (nvml_.power != nullptr && nvml_.power(card.device, &number) == kNvmlSuccess) {
      add("nvml_power_watts", number / 1e3);
    }
    if (nvml_.energy != nullptr && nvml_.energy(card.device, &energy) == kNvmlSuccess) {
      add("nvml_energy_joules_total", static_cast<double>(energy) / 1e3);
    }
    if (nvml_.utilization != nullptr && nvml_.utilization(card.device, &busy) == kNvmlSuccess) {
      add("nvml_busy_share", busy.gpu / 1e2);
    }
    if (nvml_.memory != nullptr && nvml_.memory(card.device, &memory) == kNvmlSuccess) {
      add("nvml_memory_used_bytes", static_cast<double>(memory.used));
    }
    if (nvml_.clock != nullptr && nvml_.clock(card.device, kClockSm, &number) == kNvmlSuccess) {
      add("nvml_sm_clock_mhz", number);
    }
    if (nvml_.temperature != nullptr &&
        nvml_.temperature(card.device, kSensorGpu, &number) == kNvmlSuccess) {
      add("nvml_temperature_celsius", number);
    }
  }

  std::string name_;
  Library library_;
  Nvml nvml_;
  Duration interval_;
  std::vector<Card> cards_{};
};

}  // namespace

Result<std::unique_ptr<Source>> nvml_source(const std::string& library,
                                            const std::vector<unsigned>& cards, Duration interval) {
  Library opened(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!opened) return Error{Code::not_found, format("NVML: {}", ::dlerror())};
  auto functions = functions_of(opened);
  if (!functions) return functions.error().within(library);
  if (const int code = functions->init(); code != kNvmlSuccess) {
    const char* const words =
        functions->error_string == nullptr ? "error" : functions->error_string(code);
    return Error{Code::refused, format("{}: {} ({})", library, words, code)};
  }
  auto source = std::make_unique<NvmlSource>(library, std::move(opened), *functions, interval);
  if (const auto found = source->find_cards(cards); !found) return found.error().within(library);
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace assay::meter
