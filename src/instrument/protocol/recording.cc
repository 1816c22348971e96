#include "protocol/recording.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "net/lines.h"
#include "net/sse.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"
#include "protocol/sound_meter.h"

namespace assay::protocol {
namespace {

class Reading {
 public:
  Reading(const Recording& recording, Spoken api, bool stream_asked, std::uint32_t sound_rate)
      : recording_(recording), stream_asked_(stream_asked) {
    state_.api = api;
    sound_.begin(sound_rate);
  }

  ReplyFacts run() {
    net::ResponseParser parser;
    for (; at_ < recording_.reads.size() && parser.state() != net::ResponseParser::State::complete;
         ++at_) {
      const RecordedRead& read = recording_.reads[at_];
      if (!f_.first_byte.known()) f_.first_byte = read.at;
      f_.end = read.at;
      if (!f_.has_head) head_bytes_ += read.bytes;
      std::string_view bytes = read.bytes;
      parser.feed(
          bytes, [&](const net::ResponseHead& head) { on_head(head); },
          [&](std::string_view piece) { on_body(piece); });
    }
    f_.reads = at_;
    f_.fault = std::string(parser.error());
    using State = net::ResponseParser::State;
    // The end of the connection completes a body without another framing.
    if (parser.state() == State::body && recording_.ending == Recording::Ending::closed) {
      parser.end_of_input();
    }
    f_.complete = parser.state() == State::complete;
    finish_body();
    return std::move(f_);
  }

 private:
  const RecordedRead& now() const { return recording_.reads[std::min(at_, last())]; }
  std::size_t last() const { return recording_.reads.size() - 1; }

  void on_head(const net::ResponseHead& head) {
    f_.has_head = true;
    f_.head = head;
    // Interim responses (HTTP/1.1 1xx) come before it.
    std::size_t begin = 0;
    std::size_t end = head_bytes_.find("\r\n\r\n");
    while (end != std::string::npos && head_bytes_.substr(begin, 10).ends_with(" 1")) {
      begin = end + 4;
      end = head_bytes_.find("\r\n\r\n", begin);
    }
    f_.head_text = head_bytes_.substr(begin, end == std::string::npos ? end : end - begin);
  }

  void on_body(std::string_view piece) {
    f_.body += piece;
    if (f_.head.coding != net::ContentCoding::identity) return;
    if (kind_of(state_.api).raw_sound && f_.head.status == 200 && !decided_) {
      decided_ = true;
      const bool events = f_.head.type == net::ContentType::event_stream ||
                          piece.starts_with("data:") || piece.starts_with("event:");
      const bool json = f_.head.type == net::ContentType::json && piece.starts_with('{');
      f_.is_sound = !events && !json;
      f_.streamed = events || (f_.is_sound && !f_.head.has_length);
    }
    if (f_.is_sound) return hear(sound_.feed(piece));
    if (!decided_) {
      const std::size_t at = piece.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
      if (at == std::string_view::npos) return;
      decided_ = true;
      const bool whole = piece[at] == '{' || piece[at] == '[' || piece[at] == '<';
      by_lines_ = streams_lines(kind_of(state_.api), stream_asked_, f_.head);
      f_.streamed = f_.head.status == 200 && (by_lines_ || !whole);
    }
    if (!f_.streamed) return;
    std::string padded(piece);
    padded.append(net::kSsePadding, '\0');
    const auto take = [&](std::string_view data, std::size_t) { on_event(data); };
    if (by_lines_) {
      line_parser_.feed({padded.data(), piece.size()}, take);
    } else {
      sse_.feed({padded.data(), piece.size()}, take);
    }
  }

  void finish_body() {
    if (!decided_) return;
    if (f_.is_sound) {
      hear(sound_.finish());
    } else if (f_.streamed) {
      const auto take = [&](std::string_view data, std::size_t) { on_event(data); };
      if (by_lines_) {
        line_parser_.finish(take);
      } else {
        sse_.finish(take);
      }
      read_lines();
    } else if (f_.head.status == 200) {
      std::string padded = f_.body;
      padded.append(kDecodePadding, '\0');
      decoder_.decode_reply(state_.api, {padded.data(), f_.body.size()}, decoded_);
      keep();
    }
    if (f_.head.status != 200) f_.error = error_text(f_.body);
    if (f_.sound_bytes > 0 && sound_.rate() > 0) {
      f_.sound_length = sound_.length_of(f_.sound_bytes);
    }
  }

  // A piece of a reply that is a sound itself.
  void hear(std::uint64_t bytes) {
    if (bytes == 0) return;
    note_sound(now().at, bytes);
    f_.events.push_back({.at = now().at,
                         .read = std::min(at_, last()),
                         .category = Category::sound,
                         .has_choice = true});
  }

  void note_sound(Instant at, std::uint64_t bytes) {
    if (!f_.first_sound.known()) f_.first_sound = at;
    ++f_.sound_pieces;
    f_.sound_bytes += bytes;
  }

  void on_event(std::string_view data) {
    decoder_.decode(data, state_, decoded_);
    std::string words;
    if (sse_.names_error()) take_as_error(data, words, decoded_);
    keep();
  }

  void keep() {
    RecordedEvent event{.at = now().at,
                        .read = std::min(at_, last()),
                        .category = decoded_.category,
                        .malformed = decoded_.malformed,
                        .has_choice = decoded_.has_choice,
                        .has_usage = decoded_.has_usage,
                        .finish = decoded_.finish,
                        .usage = decoded_.usage,
                        .units = decoded_.units,
                        .error = std::string(decoded_.error)};
    for (const Fragment& fragment : std::span(decoded_.fragments).first(decoded_.fragment_count)) {
      event.fragments.emplace_back(fragment.category, std::string(fragment.text));
    }
    note(event);
    f_.events.push_back(std::move(event));
  }

  void note(const RecordedEvent& event) {
    if (!f_.first_event.known()) f_.first_event = event.at;
    if (!f_.events.empty() && f_.events.back().read == event.read) ++f_.joined_events;
    if (f_.done_marker.known()) ++f_.events_after_done;
    const bool ends = event.category == Category::marker || decoded_.ends;
    if (ends && !f_.done_marker.known()) f_.done_marker = event.at;
    if (event.malformed) ++f_.malformed;
    if (event.category == Category::unread) {
      ++f_.unread_events;
      if (f_.unread.empty()) f_.unread = decoded_.unread;
    }
    if (f_.error.empty()) f_.error = event.error;
    const bool speaks = !event.fragments.empty() || event.finish != FinishReason::none;
    if (f_.usage_events > 0 && speaks) f_.usage_before_finish = true;
    if (event.has_usage) {
      ++f_.usage_events;
      if (speaks) f_.usage_before_finish = true;
      take_counts(f_.usage, event.usage);
    }
    if (event.finish != FinishReason::none) f_.finish = event.finish;
    for (const auto& [category, text] : event.fragments) {
      if (category == Category::sound) {
        note_sound(event.at, sound_.feed_base64(text));
      } else {
        note_fragment(event.at, category, text);
      }
    }
  }

  void note_fragment(Instant at, Category category, const std::string& text) {
    ++f_.fragments;
    if (!f_.first_token.known()) f_.first_token = at;
    f_.last_token = at;
    if (!valid_utf8(text)) ++f_.split_characters;
    if (category == Category::reasoning) {
      ++f_.reasoning_fragments;
      f_.reasoning += text;
    } else if (category == Category::tool_call) {
      ++f_.tool_fragments;
      f_.tool_calls += text;
    } else {
      if (!f_.first_visible.known()) f_.first_visible = at;
      f_.text += text;
    }
  }

  void read_lines() {
    f_.carriage_returns = f_.body.find('\r') != std::string::npos;
    for (const std::string_view line : split(f_.body, '\n')) {
      if (line.starts_with(':')) ++f_.comments;
    }
  }

  const Recording& recording_;
  ReplyFacts f_{};
  std::size_t at_ = 0;
  std::string head_bytes_{};
  bool decided_ = false;
  bool stream_asked_;
  bool by_lines_ = false;
  net::SseParser sse_{};
  net::LineParser line_parser_{};
  ReplyDecoder decoder_{};
  StreamState state_{};
  SoundMeter sound_{};
  DecodedEvent decoded_{};
};

}  // namespace

ReplyFacts read_recording(const Recording& recording, Spoken api, bool stream_asked,
                          std::uint32_t sound_rate) {
  return Reading(recording, api, stream_asked, sound_rate).run();
}

void redact(ReplyFacts& facts, const Redactor& redactor) {
  for (std::string* const text :
       {&facts.head_text, &facts.body, &facts.fault, &facts.error, &facts.text, &facts.reasoning,
        &facts.tool_calls, &facts.unread}) {
    *text = redactor.text(*text);
  }
  Redactor::State state = 0;
  std::string scratch;
  for (RecordedEvent& event : facts.events) {
    event.error = redactor.text(event.error);
    for (auto& [category, text] : event.fragments) {
      text = std::string(redactor.piece(text, state, scratch));
    }
  }
}

std::string header_of(const ReplyFacts& facts, std::string_view lower_name) {
  for (const std::string_view line : split(facts.head_text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (lower(trim(line.substr(0, colon))) == lower_name) {
      return std::string(trim(line.substr(colon + 1)));
    }
  }
  return "";
}

}  // namespace assay::protocol
