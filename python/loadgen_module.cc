// assay._loadgen: LoadGen's interface for Python, with the names and arguments of the stock module
// (mlperf_loadgen 6.0.17) over libassay_loadgen's functions. python/assay/loadgen.py shows it.
//
// What a callback raises ends the test; when the logs are written, StartTest raises it again. A
// QuerySampleResponse can be pickled, which the stock module's cannot.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl_bind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c_api.h"
#include "loadgen.h"
#include "query_dispatch_library.h"
#include "query_sample.h"
#include "query_sample_library.h"
#include "system_under_test.h"
#include "test_settings.h"

namespace py = pybind11;

namespace {

using mlperf::QuerySample;
using mlperf::QuerySampleResponse;

// Callables may be given up without the interpreter's lock: by a thread that ends a test.
class Callback {
 public:
  explicit Callback(py::object callable) : callable_(std::move(callable)) {}
  ~Callback() {
    const py::gil_scoped_acquire lock;
    callable_ = py::object();
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  template <typename Make>
  void operator()(const Make& make_arguments) const {
    const py::gil_scoped_acquire lock;
    callable_(*make_arguments());
  }
  const py::object& callable() const { return callable_; }

 private:
  py::object callable_;
};

template <typename Value, typename Of>
py::list list_of(const std::vector<Value>& values, const Of& of) {
  py::list out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), of(values[i]).release().ptr());
  }
  return out;
}

py::list samples_of(const std::vector<QuerySample>& samples) {
  return list_of(samples, [](const QuerySample& sample) { return py::cast(sample); });
}

// A system under test of callables: each query as a list of samples, or as lists of ids and rows.
class Sut : public mlperf::QueryDispatchLibrary {
 public:
  Sut(std::string name, bool fast, py::object issue, py::object flush)
      : name_(std::move(name)), fast_(fast), issue_(std::move(issue)), flush_(std::move(flush)) {}
  const std::string& Name() override { return name_; }
  void IssueQuery(const std::vector<QuerySample>& samples) override {
    issue_([&] {
      if (!fast_) return py::make_tuple(samples_of(samples));
      return py::make_tuple(
          list_of(samples, [](const QuerySample& sample) { return py::int_(sample.id); }),
          list_of(samples, [](const QuerySample& sample) { return py::int_(sample.index); }));
    });
  }
  void FlushQueries() override {
    flush_([] { return py::tuple(); });
  }

 protected:
  std::string name_;

 private:
  const bool fast_;
  Callback issue_;
  Callback flush_;
};

// The system's name is asked for over the network.
class Dispatch final : public Sut {
 public:
  Dispatch(py::object issue, py::object flush, py::object name)
      : Sut("", false, std::move(issue), std::move(flush)), ask_(std::move(name)) {}
  const std::string& Name() override {
    const py::gil_scoped_acquire lock;
    name_ = py::cast<std::string>(ask_.callable()());
    return name_;
  }

 private:
  Callback ask_;
};

class Library final : public mlperf::QuerySampleLibrary {
 public:
  Library(std::size_t total, std::size_t performance, py::object load, py::object unload)
      : total_(total),
        performance_(performance),
        load_(std::move(load)),
        unload_(std::move(unload)) {}
  const std::string& Name() override { return name_; }
  std::size_t TotalSampleCount() override { return total_; }
  std::size_t PerformanceSampleCount() override { return performance_; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>& samples) override {
    load_([&] { return py::make_tuple(py::cast(samples)); });
  }
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>& samples) override {
    unload_([&] { return py::make_tuple(py::cast(samples)); });
  }

 private:
  std::string name_ = "PyQSL";
  std::size_t total_;
  std::size_t performance_;
  Callback load_;
  Callback unload_;
};

std::uintptr_t number_of(mlperf::SystemUnderTest* sut) {
  return reinterpret_cast<std::uintptr_t>(sut);
}
mlperf::SystemUnderTest* sut_of(std::uintptr_t number) {
  return reinterpret_cast<mlperf::SystemUnderTest*>(number);
}
mlperf::QuerySampleLibrary* library_of(std::uintptr_t number) {
  return reinterpret_cast<mlperf::QuerySampleLibrary*>(number);
}

void start(std::uintptr_t sut, std::uintptr_t library, const mlperf::TestSettings& settings,
           const mlperf::LogSettings& logs, const std::string& audit) {
  const py::gil_scoped_release unlock;
  mlperf::StartTest(sut_of(sut), library_of(library), settings, logs, audit);
}

std::vector<QuerySampleResponse> responses_of(const py::iterable& responses) {
  std::vector<QuerySampleResponse> out;
  out.reserve(py::len_hint(responses));
  for (const py::handle response : responses) {
    out.push_back(py::cast<const QuerySampleResponse&>(response));
  }
  return out;
}

mlperf::ResponseCallback callback_of(const py::object& callback) {
  if (callback.is_none()) return {};
  // Called while the caller's reference lives.
  return [called = callback.ptr()](QuerySampleResponse* response) {
    const py::gil_scoped_acquire lock;
    const py::handle function = called;
    function(py::cast(response, py::return_value_policy::reference));
  };
}

using Complete = void (*)(QuerySampleResponse*, std::size_t, const mlperf::ResponseCallback&);

template <Complete complete>
void complete_all(const py::iterable& responses, const py::object& callback) {
  std::vector<QuerySampleResponse> all = responses_of(responses);
  const mlperf::ResponseCallback called = callback_of(callback);
  const py::gil_scoped_release unlock;
  complete(all.data(), all.size(), called);
}

void add_enums(py::module_& m) {
  py::enum_<mlperf::TestScenario>(m, "TestScenario")
      .value("SingleStream", mlperf::TestScenario::SingleStream)
      .value("MultiStream", mlperf::TestScenario::MultiStream)
      .value("Server", mlperf::TestScenario::Server)
      .value("Offline", mlperf::TestScenario::Offline);
  py::enum_<mlperf::TestMode>(m, "TestMode")
      .value("SubmissionRun", mlperf::TestMode::SubmissionRun)
      .value("AccuracyOnly", mlperf::TestMode::AccuracyOnly)
      .value("PerformanceOnly", mlperf::TestMode::PerformanceOnly)
      .value("FindPeakPerformance", mlperf::TestMode::FindPeakPerformance);
  py::enum_<mlperf::LoggingMode>(m, "LoggingMode")
      .value("AsyncPoll", mlperf::LoggingMode::AsyncPoll)
      .value("EndOfTestOnly", mlperf::LoggingMode::EndOfTestOnly)
      .value("Synchronous", mlperf::LoggingMode::Synchronous);
}

void add_settings(py::module_& m) {
  using S = mlperf::TestSettings;
  py::class_<S> settings(m, "TestSettings");
  settings.def(py::init<>());
#define ASSAY_FIELD(name) settings.def_readwrite(#name, &S::name)
  ASSAY_FIELD(scenario);
  ASSAY_FIELD(mode);
  ASSAY_FIELD(single_stream_expected_latency_ns);
  ASSAY_FIELD(single_stream_target_latency_percentile);
  ASSAY_FIELD(multi_stream_expected_latency_ns);
  ASSAY_FIELD(multi_stream_target_latency_percentile);
  ASSAY_FIELD(multi_stream_samples_per_query);
  ASSAY_FIELD(server_target_qps);
  ASSAY_FIELD(server_target_latency_ns);
  ASSAY_FIELD(server_target_latency_percentile);
  ASSAY_FIELD(server_coalesce_queries);
  ASSAY_FIELD(server_find_peak_qps_decimals_of_precision);
  ASSAY_FIELD(server_find_peak_qps_boundary_step_size);
  ASSAY_FIELD(server_max_async_queries);
  ASSAY_FIELD(server_num_issue_query_threads);
  ASSAY_FIELD(offline_expected_qps);
  ASSAY_FIELD(sample_concatenate_permutation);
  ASSAY_FIELD(min_duration_ms);
  ASSAY_FIELD(max_duration_ms);
  ASSAY_FIELD(min_query_count);
  ASSAY_FIELD(max_query_count);
  ASSAY_FIELD(qsl_rng_seed);
  ASSAY_FIELD(sample_index_rng_seed);
  ASSAY_FIELD(schedule_rng_seed);
  ASSAY_FIELD(accuracy_log_rng_seed);
  ASSAY_FIELD(accuracy_log_probability);
  ASSAY_FIELD(accuracy_log_sampling_target);
  ASSAY_FIELD(test05);
  ASSAY_FIELD(test05_qsl_rng_seed);
  ASSAY_FIELD(test05_sample_index_rng_seed);
  ASSAY_FIELD(test05_schedule_rng_seed);
  ASSAY_FIELD(print_timestamps);
  ASSAY_FIELD(performance_issue_unique);
  ASSAY_FIELD(performance_issue_same);
  ASSAY_FIELD(performance_issue_same_index);
  ASSAY_FIELD(performance_sample_count_override);
  ASSAY_FIELD(accuracy_sample_count_override);
  ASSAY_FIELD(use_token_latencies);
  ASSAY_FIELD(infer_token_latencies);
  ASSAY_FIELD(token_latency_scaling_factor);
#undef ASSAY_FIELD
  // The module's names of these two.
  settings.def_readwrite("ttft_latency", &S::server_ttft_latency);
  settings.def_readwrite("tpot_latency", &S::server_tpot_latency);
  settings.def("FromConfig", &S::FromConfig, py::arg("path"), py::arg("model"), py::arg("scenario"),
               py::arg("conf_type") = 1);
}

void add_log_settings(py::module_& m) {
  using O = mlperf::LogOutputSettings;
  using L = mlperf::LogSettings;
  py::class_<O>(m, "LogOutputSettings")
      .def(py::init<>())
      .def_readwrite("outdir", &O::outdir)
      .def_readwrite("prefix", &O::prefix)
      .def_readwrite("suffix", &O::suffix)
      .def_readwrite("prefix_with_datetime", &O::prefix_with_datetime)
      .def_readwrite("copy_detail_to_stdout", &O::copy_detail_to_stdout)
      .def_readwrite("copy_summary_to_stdout", &O::copy_summary_to_stdout);
  py::class_<L>(m, "LogSettings")
      .def(py::init<>())
      .def_readwrite("log_output", &L::log_output)
      .def_readwrite("log_mode", &L::log_mode)
      .def_readwrite("log_mode_async_poll_interval_ms", &L::log_mode_async_poll_interval_ms)
      .def_readwrite("enable_trace", &L::enable_trace);
}

QuerySampleResponse unpickled(const py::tuple& state) {
  if (state.size() != 3 && state.size() != 4) throw py::value_error("no state of a response");
  return {state[0].cast<mlperf::ResponseId>(), state[1].cast<std::uintptr_t>(),
          state[2].cast<std::size_t>(), state.size() == 4 ? state[3].cast<std::int64_t>() : 0};
}

void add_samples(py::module_& m) {
  using R = QuerySampleResponse;
  py::class_<QuerySample>(m, "QuerySample")
      .def(py::init<>())
      .def(py::init([](mlperf::ResponseId id, mlperf::QuerySampleIndex index) {
        return QuerySample{id, index};
      }))
      .def_readwrite("id", &QuerySample::id)
      .def_readwrite("index", &QuerySample::index)
      .def(py::pickle(
          [](const QuerySample& sample) { return py::make_tuple(sample.id, sample.index); },
          [](const py::tuple& state) {
            if (state.size() != 2) throw py::value_error("no state of a sample");
            return QuerySample{state[0].cast<mlperf::ResponseId>(),
                               state[1].cast<mlperf::QuerySampleIndex>()};
          }));
  py::class_<R>(m, "QuerySampleResponse")
      .def(py::init<>())
      .def(py::init<mlperf::ResponseId, std::uintptr_t, std::size_t>())
      .def(py::init<mlperf::ResponseId, std::uintptr_t, std::size_t, std::int64_t>())
      .def_readwrite("id", &R::id)
      .def_readwrite("data", &R::data)
      .def_readwrite("size", &R::size)
      .def_readwrite("n_tokens", &R::n_tokens)
      .def(py::pickle([](const R& r) { return py::make_tuple(r.id, r.data, r.size, r.n_tokens); },
                      &unpickled));
  py::bind_vector<std::vector<QuerySample>>(m, "VectorQuerySample");
  py::bind_vector<std::vector<R>>(m, "VectorQuerySampleResponse");
}

void add_tests(py::module_& m) {
  m.def("ConstructSUT", [](py::object issue, py::object flush) {
    return number_of(new Sut("PySUT", false, std::move(issue), std::move(flush)));
  });
  m.def("ConstructFastSUT", [](py::object issue, py::object flush) {
    return number_of(new Sut("PyFastSUT", true, std::move(issue), std::move(flush)));
  });
  m.def("ConstructQDL", [](py::object issue, py::object flush, py::object name) {
    return number_of(new Dispatch(std::move(issue), std::move(flush), std::move(name)));
  });
  for (const char* const name : {"DestroySUT", "DestroyFastSUT", "DestroyQDL"}) {
    m.def(name, [](std::uintptr_t sut) { delete sut_of(sut); });
  }
  m.def("ConstructQSL",
        [](std::size_t total, std::size_t performance, py::object load, py::object unload) {
          return reinterpret_cast<std::uintptr_t>(static_cast<mlperf::QuerySampleLibrary*>(
              new Library(total, performance, std::move(load), std::move(unload))));
        });
  m.def("DestroyQSL", [](std::uintptr_t library) { delete library_of(library); });
  m.def(
      "StartTest",
      [](std::uintptr_t sut, std::uintptr_t library, const mlperf::TestSettings& settings,
         const std::string& audit) { start(sut, library, settings, {}, audit); },
      py::arg("sut"), py::arg("qsl"), py::arg("test_settings"),
      py::arg("audit_config_filename") = "audit.config");
  m.def("StartTestWithLogSettings", &start, py::arg("sut"), py::arg("qsl"),
        py::arg("test_settings"), py::arg("log_settings"),
        py::arg("audit_config_filename") = "audit.config");
  m.def("QuerySamplesComplete", &complete_all<mlperf::QuerySamplesComplete>, py::arg("responses"),
        py::arg("response_cb") = py::none());
  m.def("FirstTokenComplete", &complete_all<mlperf::FirstTokenComplete>, py::arg("responses"),
        py::arg("response_cb") = py::none());
  // Not in the stock module.
  m.def("AbortTest", &mlperf::AbortTest, py::call_guard<py::gil_scoped_release>());
  m.def("RegisterIssueQueryThread", &mlperf::RegisterIssueQueryThread,
        py::call_guard<py::gil_scoped_release>());
}

}  // namespace

PYBIND11_MODULE(_loadgen, m) {
  m.doc() = "LoadGen's interface, on Assay's loop.";
  add_enums(m);
  add_settings(m);
  add_log_settings(m);
  add_samples(m);
  add_tests(m);
}
