// LoadGen's interface with plain functions as callbacks. Every call but StartTest and the Destroy
// functions may come from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sut/mlperf/query_sample.h"
#include "sut/mlperf/test_settings.h"

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {
namespace c {

typedef std::uintptr_t ClientData;  // passed back to each callback
typedef void (*IssueQueryCallback)(ClientData, const QuerySample*, size_t);
typedef void (*FlushQueriesCallback)();
typedef void (*ResponseCallback)(ClientData, QuerySampleResponse*);
typedef void (*LoadSamplesToRamCallback)(ClientData, const QuerySampleIndex*, size_t);
typedef void (*UnloadSamplesFromRamCallback)(ClientData, const QuerySampleIndex*, size_t);

void QuerySamplesComplete(QuerySampleResponse* responses, size_t response_count);
void QuerySamplesCompleteResponseCb(QuerySampleResponse* responses, size_t response_count,
                                    ResponseCallback response_cb, ClientData client_data);
void FirstTokenComplete(QuerySampleResponse* responses, size_t response_count);
void FirstTokenCompleteResponseCb(QuerySampleResponse* responses, size_t response_count,
                                  ResponseCallback response_cb, ClientData client_data);

void* ConstructSUT(ClientData client_data, const char* name, size_t name_length,
                   IssueQueryCallback issue_cb, FlushQueriesCallback flush_queries_cb);
void DestroySUT(void* sut);
void* ConstructQSL(ClientData client_data, const char* name, size_t name_length,
                   size_t total_sample_count, size_t performance_sample_count,
                   LoadSamplesToRamCallback load_samples_to_ram_cb,
                   UnloadSamplesFromRamCallback unload_samples_from_ram_cb);
void DestroyQSL(void* qsl);

// With the default log settings.
void StartTest(void* sut, void* qsl, const TestSettings& settings,
               const std::string& audit_config_filename);
void RegisterIssueQueryThread();

}  // namespace c
}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
