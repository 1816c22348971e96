// Sample: one row of a dataset, as a query will be made from it. Dataset: the rows and where they
// are from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "domain/messages.h"

namespace assay {

// Exactly one of `prompt`, `messages` and `input_tokens` is what is asked; codecs say which they
// accept.
struct Sample {
  std::string prompt{};  // the user's text
  std::string system{};  // the system prompt that goes with `prompt`; may be empty
  Messages messages{};   // OpenAI messages, content parts included; else null
  std::vector<std::int32_t> input_tokens{};  // token ids, for APIs that take them; else empty
  Json content_parts{};  // multimodal content of the user's message instead of `prompt`; else null
  Json tools{};          // forwarded as they stand; else null
  Json tool_choice{};
  // Other columns that the request body takes over (name, n, stop, logit_bias, user, chat_template,
  // chat_template_kwargs, or what the user mapped), as an object; else null.
  Json body{};
  Json overrides{};  // of the body, over the run's own settings, as an object; else null
  Json columns{};    // the row's remaining columns as an object, for scorers; never sent; else null
  // Before which of `input_tokens` a salt goes, where the dataset knows where the system prompt
  // ends; -1: after the first, which is the vocabulary's begin of text.
  std::int32_t salt_position = -1;
  std::int64_t output_tokens_max = 0;  // this row's own output limit; 0: the run's
  std::int64_t input_length = -1;      // ISL in tokens where the dataset knows it; -1: unknown
  std::string session{};               // conversation id, for session headers; may be empty
  std::int32_t turn = 0;               // of that conversation as it was recorded; 0: none
};

// A client's turn of a conversation.
struct Turn {
  std::uint32_t sample = 0;  // which asks it, its history included
  Duration delay{};          // after the reply before it, as it was recorded
};

// Turns that are asked one after the other, each when the reply to the one before has come.
struct Conversation {
  std::vector<Turn> turns{};
};

struct Dataset {
  std::string name{};
  std::string path{};    // as the user gave it; "" for synthetic
  std::string sha256{};  // of the file's bytes; "" for synthetic
  std::vector<Sample> samples{};
  // In place of `samples`, of a dataset that is computed: so many rows, each made when it is asked
  // for, by any thread, the same each time. `recipe` says what they are made from, in full.
  std::uint32_t made_rows = 0;
  std::function<Sample(std::uint32_t row)> make_row{};
  std::string recipe{};
  bool slow_rows = false;      // a row takes a tokenizer many looks
  std::uint64_t not_kept = 0;  // further samples, where only the first were wanted
  // When each sample is due in the trace that the dataset is, ascending from 0; else empty.
  std::vector<Duration> arrivals{};
  std::vector<Conversation> conversations{};  // of a dataset that is replayed; else empty
  // Of one that is replayed more than once: the samples of each pass, of which sample i and
  // i + rows_of_pass are the same row; else 0.
  std::uint64_t rows_of_pass = 0;
  std::vector<std::string> notes{};  // what a person should know of how it was read

  std::size_t rows() const { return make_row ? made_rows : samples.size(); }
  // REQUIRES: row < rows(). One that is made is laid down in `room`.
  const Sample& row(std::size_t row, Sample& room) const {
    if (!make_row) return samples[row];
    return room = make_row(static_cast<std::uint32_t>(row));
  }
};

}  // namespace assay
