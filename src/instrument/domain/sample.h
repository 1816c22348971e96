// Sample: one row of a dataset, from which a query is made. Dataset: the rows and their source.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "domain/messages.h"
#include "domain/traffic_class.h"

namespace assay {

// Bytes that a request carries beside its text: a tensor, or a file of a form.
struct Attachment {
  std::string name{};  // of the tensor, as the model calls its input; or of the form's field
  std::string type{};  // a datatype: FP32, INT64, BYTES, …; or a media type
  std::vector<std::int64_t> shape{};  // of a tensor, with the batch first
  std::string file{};                 // the file's name in a form
  std::string bytes{};                // of a tensor: row major, little-endian
};

// A prompt that is made when it is asked for, of a trace that has no text: blocks of `block` tokens
// each, then what belongs to no block. One id is the same block wherever it stands in one scope.
struct MadePrompt {
  std::int64_t tokens = 0;  // 0: the sample's prompt is not made
  std::int64_t block = 0;
  std::uint64_t scope = 0;
  std::uint64_t rest = 0;                                   // seeds the tokens behind the blocks
  std::shared_ptr<const std::vector<std::uint64_t>> ids{};  // shared by a trajectory's repeats
};

// The question is exactly one of `prompt`, `messages`, `input_tokens` and `attachments`; codecs say
// which they accept.
struct Sample {
  std::string prompt{};                      // the user's text
  std::string system{};                      // the system prompt for `prompt`; may be empty
  Messages messages{};                       // OpenAI messages, content parts included; else null
  std::vector<std::int32_t> input_tokens{};  // token ids, for APIs that take them; else empty
  Json content_parts{};  // multimodal content of the user's message instead of `prompt`; else null
  std::vector<Attachment> attachments{};
  MadePrompt made{};  // Dataset::make_prompt fills `prompt` or `input_tokens` from it
  Json tools{};       // forwarded unchanged; else null
  Json tool_choice{};
  // Other columns that go into the request body (name, n, stop, logit_bias, user, chat_template,
  // chat_template_kwargs, or columns that the user mapped), as an object; else null.
  Json body{};
  Json overrides{};  // of the body, over the run's own settings, as an object; else null
  Json columns{};    // the row's remaining columns as an object, for scorers; never sent; else null
  // Index in `input_tokens` before which a salt goes, where the dataset knows the end of the system
  // prompt; -1: after the first token, which is the vocabulary's begin of text.
  std::int32_t salt_position = -1;
  std::int64_t output_tokens_max = 0;  // this row's own output limit; 0: the run's
  std::int64_t input_length = -1;      // ISL in tokens where the dataset knows it; -1: unknown
  std::string session{};               // conversation id, for session headers; may be empty
  std::int32_t turn = 0;               // number of the turn in the recorded conversation; 0: none
};

// A client's turn of a conversation.
struct Turn {
  std::uint32_t sample = 0;  // its row, with the history
  Duration delay{};          // after the last of the replies that it waits for, as recorded
  std::uint32_t agent = 0;   // index into Dataset::agents
};

// Turns, each asked when the reply to the one before has come; or a trajectory of agents, where
// several may be under way at once.
struct Conversation {
  std::vector<Turn> turns{};
  // For each turn of a trajectory, the indices of those that it waits for, without cycles. Empty:
  // each turn waits for the one before it.
  std::vector<std::vector<std::uint32_t>> after{};
};

struct Dataset {
  std::string name{};
  std::string path{};    // as the user gave it; "" for synthetic
  std::string sha256{};  // of the file's bytes; "" for synthetic
  std::vector<Sample> samples{};
  // Instead of `samples`, for a computed dataset: the number of rows. make_row makes each on
  // request, on any thread, the same each time. `recipe` says in full what they are made from.
  std::uint32_t made_rows = 0;
  std::function<Sample(std::uint32_t row)> make_row{};
  std::string recipe{};
  bool slow_rows = false;      // making a row needs many tokenizer calls
  std::uint64_t not_kept = 0;  // further samples in the file that were not wanted
  // When each sample is due, for a dataset that is a trace, ascending from 0; else empty.
  std::vector<Duration> arrivals{};
  std::vector<Conversation> conversations{};  // for a dataset that is replayed; else empty
  std::vector<std::string> agents{"main"};    // names of those that ask their turns
  // A replayed file's turns that are in no conversation, or are asked with less than was
  // recorded; by reason.
  std::vector<std::pair<std::string, std::uint64_t>> dropped{};
  // Makes the prompt of a sample whose `made` has tokens; on any thread, the same each time.
  std::function<void(Sample& sample)> make_prompt{};
  // For a dataset that is replayed more than once: samples in each pass; sample i and
  // i + rows_of_pass are the same row. Else 0.
  std::uint64_t rows_of_pass = 0;
  // Rows in each group, for a dataset whose rows must be answered group by group, in the order of
  // the rows; else empty.
  std::vector<std::uint32_t> groups{};
  TrafficMix mix{};                  // the classes of the rows; empty for a dataset of one kind
  std::vector<std::string> notes{};  // what a person should know about how it was read

  std::size_t rows() const { return make_row ? made_rows : samples.size(); }
  // REQUIRES: row < rows(). A computed row is stored in `room`.
  const Sample& row(std::size_t row, Sample& room) const {
    if (make_row) return room = make_row(static_cast<std::uint32_t>(row));
    if (samples[row].made.tokens == 0) return samples[row];
    room = samples[row];
    make_prompt(room);
    room.made = {};
    return room;
  }
};

}  // namespace assay
