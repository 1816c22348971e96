// LoadgenLogs: the log files of a recorded LoadGen test over a network, as LoadGen leaves them, in
// the run's folder. A plan of `assay pack --suite inference` takes them from there.
//
//   performance/  mlperf_log_summary.txt  mlperf_log_detail.txt
//                 mlperf_log_accuracy.json: the answers that the test's settings log
//   accuracy/     the same of the accuracy phases, every answer; and accuracy.txt: the scores, in
//                 the words of the suite's own scripts
//
// It is a sink beside a replay of the run. An answer goes to the disk when it ends, so memory holds
// those in flight. Its bytes are token ids (int32) where the workload's logs have them and the run
// names a tokenizer; float32 where the workload answers in numbers; else the text in UTF-8. Without
// texts in the run's log there is no accuracy log. One thread.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/flat_map.h"
#include "base/result.h"
#include "domain/quiet_sink.h"
#include "domain/run_info.h"
#include "loadgen/detail_log.h"
#include "loadgen/test.h"
#include "score/accuracy_log.h"
#include "text/tokenizer.h"

namespace assay::campaign {

class LoadgenLogs final : public QuietSink {
 public:
  // Null where the run was no LoadGen test.
  static Result<std::unique_ptr<LoadgenLogs>> open(const std::filesystem::path& folder,
                                                   const RunInfo& info);

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // After the replay. `run` has the judgement and the scores.
  Result<void> finish(const audit::LoadedRun& run);

 private:
  // The performance test, or the accuracy phases together.
  struct Part {
    std::filesystem::path folder{};
    File answers{};
    bool any = false;
    bool lacks_text = false;
    std::string trouble{};  // of an answer that is no payload of the workload
    Instant began = Instant::none();
    Instant last = Instant::none();
    std::uint64_t failed = 0;
    std::vector<std::uint64_t> asked{};  // qsl_idx in the order of asking; of the accuracy phases
  };
  struct Open {
    std::uint64_t index = 0;  // qsl_idx
    std::string text{};
    std::string first{};
  };

  LoadgenLogs(const std::filesystem::path& folder, const RunInfo& info, loadgen::Test test);
  Part* part_of(const Query& query);
  std::uint64_t index_of(const Query& query) const;
  Result<std::string> bytes_of(const std::string& text) const;
  void write_answer(Part& part, const Event& event, const Open& open);
  Result<void> close(Part& part);
  loadgen::LoggedPhase logged(const Part& part, std::size_t kind) const;

  const RunInfo info_;
  const loadgen::Test test_;
  const score::LoggedWorkload* workload_ = nullptr;  // null: texts
  std::unique_ptr<const text::Tokenizer> tokenizer_{};
  std::vector<bool> logged_{};   // by the query's index in the performance test
  std::array<Part, 2> parts_{};  // performance, accuracy
  FlatMap<Open> open_{256};
};

}  // namespace assay::campaign
