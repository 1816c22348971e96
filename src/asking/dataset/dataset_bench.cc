// Time and memory to read a file of many rows: bytes a second, and memory beyond the samples.
// ASSAY_BENCH_BYTES sets the file's size; the project promises 1000000000.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/dataset.h"

namespace assay::dataset {
namespace {

std::uint64_t bytes_wanted() {
  const char* told = std::getenv("ASSAY_BENCH_BYTES");
  const auto number =
      told == nullptr ? Result<std::uint64_t>(std::uint64_t{16'000'000}) : parse_uint(told);
  return number ? *number : 16'000'000;
}

std::int64_t peak_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Rows of about 1.1 KB; one tenth of each is asked.
struct Rows {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "assay_dataset_bench.jsonl";
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  explicit Rows(std::uint64_t wanted) {
    std::ofstream out(path, std::ios::binary);
    const std::string passage(1000, 'x');
    for (; bytes < wanted; ++count) {
      const std::string row =
          format(R"({{"id": {}, "prompt": "{}", "passage": "{}", "answer": [1, 2.5, null]}})"
                 "\n",
                 count, std::string(90, 'q'), passage);
      out << row;
      bytes += row.size();
    }
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

void load_json_lines(benchmark::State& state) {
  const Rows rows(bytes_wanted());
  const std::int64_t before = peak_kb();
  for (auto _ : state) {
    const auto data = load_dataset({.path = rows.path.string()});
    CHECK(data && data->samples.size() == rows.count);
    CHECK(data->samples.back().prompt.size() == 90);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(rows.bytes));
  state.counters["file_MB"] = static_cast<double>(rows.bytes) / 1e6;
  state.counters["memory_MB"] = static_cast<double>(peak_kb() - before) / 1e3;
}
BENCHMARK(load_json_lines)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace assay::dataset
