// EventsJsonl: events.jsonl, the reference client's event file, made from a replay of the event log
// and written as it is heard: memory holds the replies in flight and nothing more. Its grammar is
// in docs/formats/run_folder.md.
//
// Instants are the run's clock: the last byte sent, the kernel's arrivals, the end. As there, a
// query of warm-up has no sample.complete. Tool calls are told as one delta each. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/flat_map.h"
#include "base/result.h"
#include "domain/event_sink.h"
#include "domain/run_info.h"
#include "record/stream_file.h"

namespace assay::record {

class EventsJsonl final : public EventSink {
 public:
  // The "data" of sample.issued: what the query asked, where the caller has the dataset at hand.
  using PromptOf = std::function<std::string(const Query&)>;

  // Without `prompt_of`, prompts are null. Whether replies are streamed is info.facts["streaming"],
  // true where it does not say.
  static Result<EventsJsonl> create(const std::filesystem::path& path, const RunInfo& info,
                                    PromptOf prompt_of = {});

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // Writes the session's end, and gives the file its name.
  Result<void> close(const RunEnd& end);

 private:
  // First fragment and the rest.
  struct Words {
    bool any = false;
    std::string first{};
    std::string rest{};
    void add(std::string_view text);
    std::string all() const { return first + rest; }
  };
  struct Reply {
    bool any = false;
    Words text{};
    Words reasoning{};
    std::string tool_calls{};
  };

  EventsJsonl(StreamFile file, const RunInfo& info, PromptOf prompt_of);
  PhaseKind kind_of(std::uint16_t phase) const;
  void begin(std::string_view type, Instant at, const Query* query);
  void session(std::string_view type, Instant at);
  void append_words(const Words& words);
  void append_output(const Event& event, const Reply& reply);
  void append_tool_calls(std::string_view text, bool streamed);
  void end_line();

  StreamFile file_;
  RunInfo info_;
  PromptOf prompt_of_;
  bool streamed_;
  bool started_ = false;
  Instant last_{};
  FlatMap<Reply> replies_{256};
  std::string line_{};
};

}  // namespace assay::record
