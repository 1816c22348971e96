// A null system under test, written for the stock LoadGen's headers: it answers at once. Compiled
// against ours by the build, and against the stock library's sources by bench/loadgen.py.
//
//     null_sut SCENARIO MODEL CONFIG SAMPLES LOADED TOKENS PAYLOAD AUDIT FOLDER TRACE
//
// CONFIG "": the default settings. TOKENS −1: none are reported. PAYLOAD 1: an answer is its row,
// in 8 bytes. The last line of the output has the number of queries and how long the test took.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "loadgen.h"
#include "query_sample_library.h"
#include "system_under_test.h"
#include "test_settings.h"

namespace {

class Rows : public mlperf::QuerySampleLibrary {
 public:
  Rows(std::size_t total, std::size_t loaded) : total_(total), loaded_(loaded) {}
  const std::string& Name() override { return name_; }
  std::size_t TotalSampleCount() override { return total_; }
  std::size_t PerformanceSampleCount() override { return loaded_; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>&) override {}
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>&) override {}

 private:
  std::string name_ = "PyQSL";
  std::size_t total_;
  std::size_t loaded_;
};

class Null : public mlperf::SystemUnderTest {
 public:
  Null(std::int64_t tokens, bool payload) : tokens_(tokens), payload_(payload) {}
  const std::string& Name() override { return name_; }
  void IssueQuery(const std::vector<mlperf::QuerySample>& samples) override {
    ++queries;
    rows_.clear();
    answers_.clear();
    for (const mlperf::QuerySample& sample : samples) rows_.push_back(sample.index);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto data = payload_ ? reinterpret_cast<std::uintptr_t>(&rows_[i]) : 0;
      answers_.push_back(
          {samples[i].id, data, payload_ ? sizeof(rows_[i]) : 0, tokens_ < 0 ? 0 : tokens_});
    }
    if (tokens_ >= 0) mlperf::FirstTokenComplete(answers_.data(), answers_.size());
    mlperf::QuerySamplesComplete(answers_.data(), answers_.size());
  }
  void FlushQueries() override {}

  std::uint64_t queries = 0;

 private:
  std::string name_ = "PySUT";
  std::int64_t tokens_;
  bool payload_;
  std::vector<std::uint64_t> rows_;
  std::vector<mlperf::QuerySampleResponse> answers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 11) return 2;
  const std::map<std::string, mlperf::TestScenario> scenarios{
      {"SingleStream", mlperf::TestScenario::SingleStream},
      {"MultiStream", mlperf::TestScenario::MultiStream},
      {"Server", mlperf::TestScenario::Server},
      {"Offline", mlperf::TestScenario::Offline}};
  mlperf::TestSettings settings;
  settings.token_latency_scaling_factor = 0;
  settings.scenario = scenarios.at(argv[1]);
  if (*argv[3] != '\0' && settings.FromConfig(argv[3], argv[2], argv[1]) != 0) return 3;
  Rows rows(std::strtoull(argv[4], nullptr, 10), std::strtoull(argv[5], nullptr, 10));
  Null sut(std::strtoll(argv[6], nullptr, 10), *argv[7] == '1');
  mlperf::LogSettings logs;
  logs.log_output.outdir = argv[9];
  logs.enable_trace = *argv[10] == '1';
  const auto begin = std::chrono::steady_clock::now();
  mlperf::StartTest(&sut, &rows, settings, logs, argv[8]);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"queries\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(sut.queries), took.count());
  return 0;
}
