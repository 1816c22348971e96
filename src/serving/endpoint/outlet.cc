#include "endpoint/outlet.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "net/websocket.h"

namespace assay::endpoint {
namespace {

constexpr Duration kSplitWait = 2_ms;
constexpr Duration kSlowHeadWait = 50_ms;
constexpr std::size_t kSlowHeadPieces = 5;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where to cut an event in two: in its middle, or inside a multi-byte character.
std::size_t cut_place(std::string_view event, bool inside_character) {
  const std::size_t middle = event.size() / 2;
  if (!inside_character) return middle;
  const auto found = std::find_if(event.begin(), event.end(), continues_character);
  return found == event.end() ? middle : static_cast<std::size_t>(found - event.begin());
}

}  // namespace

Outlet::Outlet(const OutletOptions& options, const Clock& clock, TruthRecorder& truth)
    : options_(options), clock_(clock), truth_(truth) {
  const Quirks& quirks = options.quirks;
  cuts_ = quirks.has(Quirk::split_event) || quirks.has(Quirk::split_utf8) ||
          quirks.has(Quirk::slow_headers) || quirks.has(Quirk::stall) ||
          quirks.has(Quirk::late_done);
  if (quirks.has(Quirk::joined_events)) {
    options_.events_per_write = std::max(options_.events_per_write, 2u);
  }
}

Outlet::Status Outlet::head(Output& output, std::string_view bytes, bool now) {
  if (options_.quirks.has(Quirk::slow_headers)) {
    const std::size_t step = bytes.size() / kSlowHeadPieces + 1;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      output.more().pieces.push_back(
          {.wait = kSlowHeadWait, .bytes = std::string(bytes.substr(at, step))});
    }
    return send_pieces(output);
  }
  if (cuts()) {
    output.more().pieces.push_back({.bytes = std::string(bytes)});
    return send_pieces(output);
  }
  if (now) return hand(output, {&bytes, 1}, {}, Then::more);
  output.more().batch.append(bytes);
  return Status::open;
}

// An event as a message of a WebSocket. What cuts or fills a stream of HTTP has its like here:
// ragged-chunks are fragments, and pings and comments are ping frames, also between fragments.
void Outlet::put_message(std::string_view event) {
  if (event.empty()) return;
  const auto frame = [this](net::FrameType type, std::string_view payload, bool final) {
    std::array<char, net::kServerFrameHeadMax> head{};
    const std::size_t size = net::put_server_frame_head(head.data(), type, payload.size(), final);
    out_.put({head.data(), size});
    out_.put(payload);
  };
  const bool pings = options_.quirks.has(Quirk::pings) || options_.quirks.has(Quirk::comments);
  if (!options_.quirks.has(Quirk::ragged_chunks)) {
    if (pings) frame(net::FrameType::ping, "assay", true);
    return frame(net::FrameType::text, event, true);
  }
  const std::size_t half = event.size() / 2;
  frame(net::FrameType::text, event.substr(0, half), false);
  if (pings) frame(net::FrameType::ping, "assay", true);
  frame(net::FrameType::more, event.substr(half), true);
}

// The batch's bytes with HTTP framing, into out_ and out_marks_.
void Outlet::encode(Output& output, const EventBatch& batch, Then then) {
  out_.clear();
  out_marks_.clear();
  BodyCoder* const coder = output.extra != nullptr ? output.extra->coder.get() : nullptr;
  const std::string_view bytes = batch.bytes.view();
  std::size_t from = 0;
  for (const EventMark& mark : batch.marks) {
    const std::string_view event = bytes.substr(from, mark.end - from);
    from = mark.end;
    if (output.socket) {
      put_message(event);
    } else if (coder != nullptr) {
      coder->put(out_, event);
    } else if (!event.empty()) {
      out_.put_chunk(event);
    }
    out_marks_.push_back({out_.size(), mark.tokens, mark.category, mark.wait});
  }
  if (then != Then::finish || output.body_ended) return;
  output.body_ended = true;
  if (output.socket) return;
  if (coder != nullptr) {
    coder->end(out_);
  } else {
    out_.put("0\r\n\r\n");
  }
}

Outlet::Status Outlet::send(Output& output, const EventBatch& batch, Then then) {
  encode(output, batch, then);
  if (cuts()) {
    cut_up(output, out_.view(), out_marks_, then);
    return send_pieces(output);
  }
  const bool batched = output.extra != nullptr && !output.extra->batch.empty();
  if (options_.events_per_write == 1 && !batched) {
    const std::string_view bytes = out_.view();
    return hand(output, {&bytes, 1}, out_marks_, then);
  }
  Output::Extra& extra = output.more();
  const std::size_t base = extra.batch.size();
  extra.batch.append(out_.view());
  for (EventMark mark : out_marks_) {
    mark.end += base;
    extra.batch_marks.push_back(mark);
  }
  if (then == Then::more && extra.batch_marks.size() < options_.events_per_write) {
    return Status::open;
  }
  return flush_batch(output, then);
}

Outlet::Status Outlet::flush_batch(Output& output, Then then) {
  Output::Extra& extra = *output.extra;
  const std::string_view bytes = extra.batch;
  const Status status = hand(output, {&bytes, 1}, extra.batch_marks, then);
  if (status == Status::open) {
    extra.batch.clear();
    extra.batch_marks.clear();
  }
  return status;
}

Outlet::Status Outlet::send_raw(Output& output, std::span<const std::string_view> parts,
                                const EventMark& mark, Then then) {
  output.body_ended = true;
  std::size_t total = 0;
  for (const std::string_view part : parts) total += part.size();
  EventMark whole = mark;
  whole.end = total;
  if (!cuts()) return hand(output, parts, {&whole, mark.tokens > 0 ? 1u : 0u}, then);
  std::string bytes;
  for (const std::string_view part : parts) bytes += part;
  cut_up(output, bytes, {&whole, 1}, then);
  return send_pieces(output);
}

void Outlet::note(Output& output, const EventMark& mark, Instant at) {
  ++output.events;
  output.tokens += mark.tokens;
  if (!truth_.on()) return;
  truth_.event({.number = output.number,
                .tokens = static_cast<std::uint16_t>(std::min(mark.tokens, 0xffffu)),
                .category = mark.category,
                .at = at});
}

Outlet::Status Outlet::hand(Output& output, std::span<const std::string_view> parts,
                            std::span<const EventMark> marks, Then then) {
  const Instant at = clock_.now();
  const auto sent = server_->send(output.connection, parts);
  if (truth_.has_holds()) truth_.wrote(at, clock_.now());
  if (sent == net::HttpServer::Sent::gone) return Status::gone;
  output.last_handed = at;
  if (sent == net::HttpServer::Sent::handed) {
    for (const EventMark& mark : marks) note(output, mark, at);
    return then == Then::more ? Status::open : conclude(output, then);
  }
  std::size_t total = 0;
  for (const std::string_view part : parts) total += part.size();
  const std::uint64_t base = server_->accepted(output.connection) - total;
  const std::uint64_t handed = server_->handed(output.connection);
  for (const EventMark& mark : marks) {
    if (base + mark.end <= handed) {
      note(output, mark, at);
    } else {
      output.more().unsent.push_back({base + mark.end, mark});
    }
  }
  if (then == Then::reset) return conclude(output, then);
  output.then = then;
  return Status::open;
}

Outlet::Status Outlet::progress(Output& output, std::uint64_t handed) {
  if (output.extra != nullptr) {
    auto& unsent = output.extra->unsent;
    const Instant at = server_->turn_start();
    while (!unsent.empty() && unsent.front().end <= handed) {
      output.last_handed = at;
      note(output, unsent.front().mark, at);
      unsent.pop_front();
    }
  }
  if (output.then == Then::more || handed < server_->accepted(output.connection)) {
    return Status::open;
  }
  return conclude(output, output.then);
}

Outlet::Status Outlet::conclude(Output& output, Then then) {
  switch (then) {
    case Then::finish:
      if (!output.socket) server_->finish(output.connection, !output.close_after);
      break;
    case Then::close:
      server_->close(output.connection);
      break;
    case Then::reset:
      server_->reset(output.connection);
      break;
    case Then::more:
      CHECK(false && "a reply can't be concluded by more of it");
  }
  return Status::complete;
}

void Outlet::cut_up(Output& output, std::string_view bytes, std::span<const EventMark> marks,
                    Then then) {
  auto& pieces = output.more().pieces;
  const bool inside = options_.quirks.has(Quirk::split_utf8);
  const bool split = inside || options_.quirks.has(Quirk::split_event);
  std::size_t from = 0;
  for (const EventMark& mark : marks) {
    std::string_view event = bytes.substr(from, mark.end - from);
    from = mark.end;
    Duration wait = mark.wait;
    if (split) {
      const std::size_t cut = cut_place(event, inside);
      if (cut > 0) {
        pieces.push_back({.wait = wait, .bytes = std::string(event.substr(0, cut))});
        event.remove_prefix(cut);
        wait = kSplitWait;
      }
    }
    EventMark whole = mark;
    whole.end = event.size();
    pieces.push_back({.wait = wait, .bytes = std::string(event), .marks = {whole}});
  }
  if (from < bytes.size() || pieces.empty()) pieces.push_back({});
  pieces.back().bytes.append(bytes.substr(from));
  pieces.back().then = then;
}

Outlet::Status Outlet::send_pieces(Output& output) {
  Output::Extra& extra = output.more();
  while (!extra.pieces.empty() && !extra.waiting) {
    Output::Piece& first = extra.pieces.front();
    if (first.wait.ns > 0) {
      due_.push(clock_.now() + first.wait, output.slot, output.generation);
      extra.waiting = true;
      first.wait = {};
      break;
    }
    const Output::Piece piece = std::move(first);
    extra.pieces.pop_front();
    const std::string_view bytes = piece.bytes;
    const Status status = hand(output, {&bytes, 1}, piece.marks, piece.then);
    if (status != Status::open) return status;
  }
  return Status::open;
}

bool Outlet::take_due(Instant now, std::uint32_t& slot, std::uint32_t& generation) {
  if (due_.empty() || due_.front().at > now) return false;
  slot = due_.front().slot;
  generation = due_.front().generation;
  due_.pop();
  return true;
}

Outlet::Status Outlet::resume(Output& output) {
  if (output.extra == nullptr) return Status::open;
  output.extra->waiting = false;
  return send_pieces(output);
}

}  // namespace assay::endpoint
