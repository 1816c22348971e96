#include <string>
#include <utility>
#include <vector>

#include "sut/mlperf/bindings/c_api.h"
#include "sut/mlperf/loadgen.h"
#include "sut/mlperf/query_sample_library.h"
#include "sut/mlperf/system_under_test.h"

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {
namespace c {
namespace {

class PlainSut final : public SystemUnderTest {
 public:
  PlainSut(ClientData data, std::string name, IssueQueryCallback issue, FlushQueriesCallback flush)
      : data_(data), name_(std::move(name)), issue_(issue), flush_(flush) {}
  const std::string& Name() override { return name_; }
  void IssueQuery(const std::vector<QuerySample>& samples) override {
    issue_(data_, samples.data(), samples.size());
  }
  void FlushQueries() override { flush_(); }

 private:
  ClientData data_;
  std::string name_;
  IssueQueryCallback issue_;
  FlushQueriesCallback flush_;
};

class PlainLibrary final : public QuerySampleLibrary {
 public:
  PlainLibrary(ClientData data, std::string name, size_t total, size_t performance,
               LoadSamplesToRamCallback load, UnloadSamplesFromRamCallback unload)
      : data_(data),
        name_(std::move(name)),
        total_(total),
        performance_(performance),
        load_(load),
        unload_(unload) {}
  const std::string& Name() override { return name_; }
  size_t TotalSampleCount() override { return total_; }
  size_t PerformanceSampleCount() override { return performance_; }
  void LoadSamplesToRam(const std::vector<QuerySampleIndex>& samples) override {
    load_(data_, samples.data(), samples.size());
  }
  void UnloadSamplesFromRam(const std::vector<QuerySampleIndex>& samples) override {
    unload_(data_, samples.data(), samples.size());
  }

 private:
  ClientData data_;
  std::string name_;
  size_t total_;
  size_t performance_;
  LoadSamplesToRamCallback load_;
  UnloadSamplesFromRamCallback unload_;
};

mlperf::ResponseCallback with_data(ResponseCallback callback, ClientData data) {
  return [callback, data](QuerySampleResponse* response) { callback(data, response); };
}

}  // namespace

void QuerySamplesComplete(QuerySampleResponse* responses, size_t response_count) {
  mlperf::QuerySamplesComplete(responses, response_count);
}

void QuerySamplesCompleteResponseCb(QuerySampleResponse* responses, size_t response_count,
                                    ResponseCallback response_cb, ClientData client_data) {
  mlperf::QuerySamplesComplete(responses, response_count, with_data(response_cb, client_data));
}

void FirstTokenComplete(QuerySampleResponse* responses, size_t response_count) {
  mlperf::FirstTokenComplete(responses, response_count);
}

void FirstTokenCompleteResponseCb(QuerySampleResponse* responses, size_t response_count,
                                  ResponseCallback response_cb, ClientData client_data) {
  mlperf::FirstTokenComplete(responses, response_count, with_data(response_cb, client_data));
}

void* ConstructSUT(ClientData client_data, const char* name, size_t name_length,
                   IssueQueryCallback issue_cb, FlushQueriesCallback flush_queries_cb) {
  return static_cast<SystemUnderTest*>(
      new PlainSut(client_data, {name, name_length}, issue_cb, flush_queries_cb));
}

void DestroySUT(void* sut) { delete static_cast<SystemUnderTest*>(sut); }

void* ConstructQSL(ClientData client_data, const char* name, size_t name_length,
                   size_t total_sample_count, size_t performance_sample_count,
                   LoadSamplesToRamCallback load_samples_to_ram_cb,
                   UnloadSamplesFromRamCallback unload_samples_from_ram_cb) {
  return static_cast<QuerySampleLibrary*>(new PlainLibrary(
      client_data, {name, name_length}, total_sample_count, performance_sample_count,
      load_samples_to_ram_cb, unload_samples_from_ram_cb));
}

void DestroyQSL(void* qsl) { delete static_cast<QuerySampleLibrary*>(qsl); }

void StartTest(void* sut, void* qsl, const TestSettings& settings,
               const std::string& audit_config_filename) {
  const LogSettings logs;
  mlperf::StartTest(static_cast<SystemUnderTest*>(sut), static_cast<QuerySampleLibrary*>(qsl),
                    settings, logs, audit_config_filename);
}

void RegisterIssueQueryThread() { mlperf::RegisterIssueQueryThread(); }

}  // namespace c
}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
