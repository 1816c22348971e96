// LoadGen's interface for C++: a program that was written for the stock library compiles against
// this header and links libassay_loadgen. A test is a run of our own loop (sut/sut_target.h).
//
// Where the stock library hangs or ends in undefined behaviour, this one goes on and its detail log
// names the fault: a sample that is never completed (after ASSAY_LOADGEN_TIMEOUT_S seconds without
// any completion, 3600 by default), one that is completed twice, an unknown id, an exception.
#pragma once

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

struct QuerySampleResponse;
class QuerySampleLibrary;
class SystemUnderTest;
struct TestSettings;
struct LogSettings;

// Called for each response whose bytes will be logged, after the time was taken and before they are
// read.
using ResponseCallback = std::function<void(QuerySampleResponse*)>;

// Completes samples. All of one call have the time of its begin. Any thread.
void QuerySamplesComplete(QuerySampleResponse* responses, std::size_t response_count,
                          const ResponseCallback& response_cb = {});

// The first token of each sample is there. The callback is not called. Any thread.
void FirstTokenComplete(QuerySampleResponse* responses, std::size_t response_count,
                        const ResponseCallback& response_cb = {});

// Runs a whole test and writes its four log files. An exception of the system under test ends the
// test, and leaves this function when the logs are written. One test at a time in a process.
void StartTest(SystemUnderTest* sut, QuerySampleLibrary* qsl,
               const TestSettings& requested_settings, const LogSettings& log_settings,
               const std::string audit_config_filename = "audit.config");

// Ends the test that runs, as an interrupt would. Any thread.
void AbortTest();

// Makes the calling thread an issue thread until the next test ends; Server with
// server_num_issue_query_threads.
void RegisterIssueQueryThread();

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
