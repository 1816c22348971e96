// EventsJsonl writes events.jsonl, the reference client's event file, during a replay of the event
// log. It writes as it reads: memory holds only the replies in flight. Grammar:
// docs/formats/run_folder.md.
//
// Instants are on the run's clock: the last byte sent, the kernel's arrivals, the end. As in the
// reference client's file, a warm-up query has no sample.complete. Each tool call is written as one
// delta. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/flat_map.h"
#include "base/json.h"
#include "base/result.h"
#include "base/staged.h"
#include "domain/quiet_sink.h"
#include "domain/run_info.h"

namespace assay::interchange {

class EventsJsonl final : public QuietSink {
 public:
  // What a caller that has the dataset can add to a query: its turn of a conversation (turn 0: no
  // conversation), and its prompt, which is the "data" of sample.issued.
  struct Place {
    std::string_view conversation{};
    std::int32_t turn = 0;
  };
  struct Prompt {
    Json text{};
    Json token_ids{};
    Json messages{};
    Json tools{};
    Json chat_template_kwargs{};
    Json chat_template{};
    Json tool_choice{};
  };
  struct Asked {
    std::function<Place(const Query&)> place{};
    std::function<Prompt(const Query&)> prompt{};
  };

  // Without `asked` there are no conversations, and prompts are null. Replies are streamed if
  // info.facts["streaming"] says so; true when it is missing.
  static Result<EventsJsonl> create(const std::filesystem::path& path, const RunInfo& info,
                                    Asked asked);
  static Result<EventsJsonl> create(const std::filesystem::path& path, const RunInfo& info) {
    return create(path, info, Asked{});
  }

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // Writes the session's end, and renames the file to its final name.
  Result<void> close(const RunEnd& end);

 private:
  // The first fragment, and all others joined.
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

  EventsJsonl(StagedFile file, const RunInfo& info, Asked asked);
  PhaseKind kind_of(std::uint16_t phase) const;
  void begin(std::string_view type, Instant at, const Query* query);
  void session(std::string_view type, Instant at);
  void issued(const Query& query, Instant at, const Prompt& prompt);
  void append_words(const Words& words);
  void append_output(const Event& event, const Reply& reply);
  void append_tool_calls(std::string_view text, bool streamed);
  void end_line();

  StagedFile file_;
  RunInfo info_;
  Asked asked_;
  bool streamed_;
  bool started_ = false;
  Instant last_{};
  FlatMap<Reply> replies_{256};
  std::string line_{};
};

}  // namespace assay::interchange
