#include "net/http2_server.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <deque>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"

namespace assay::net {
namespace {

constexpr std::uint32_t kServedFrameBytes = 1 << 20;
constexpr std::int32_t kServedWindow = 16 << 20;
constexpr std::size_t kServedFieldOverhead = 32;  // of a field, as in RFC 9113, 6.5.2
constexpr std::size_t kSentKept = 64U << 10;      // sent bytes at the front of a stream's body

std::string_view bytes_view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv field_of(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> to_fields(std::span<const HttpHeader> headers) {
  std::vector<nghttp2_nv> out;
  for (const HttpHeader& header : headers) out.push_back(field_of(header.name, header.value));
  return out;
}

// One request and its reply; freed when its stream is over.
struct Served {
  std::int32_t id = 0;
  // The request: names and values one behind the other, and their sizes.
  std::string fields{};
  std::vector<std::pair<std::size_t, std::size_t>> sizes{};
  std::string body{};
  bool head_done = false;
  bool refused = false;    // answered without the service: what still comes is dropped
  bool delivered = false;  // the caller has it
  // The reply.
  std::string out{};
  std::size_t sent = 0;
  bool answered = false;  // its head is given
  bool ended = false;     // no more of the body comes
  std::vector<std::pair<std::string, std::string>> trailers{};
};

// The trailers follow the last byte of the body: given earlier, they would be sent earlier.
void submit_trailers(nghttp2_session* session, const Served& stream) {
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : stream.trailers) fields.push_back(field_of(name, value));
  nghttp2_submit_trailer(session, stream.id, fields.data(), fields.size());
}

ssize_t read_reply_body(nghttp2_session* session, std::int32_t, std::uint8_t* out, std::size_t size,
                        std::uint32_t* flags, nghttp2_data_source* source, void*) {
  auto* stream = static_cast<Served*>(source->ptr);
  const std::size_t n = std::min(size, stream->out.size() - stream->sent);
  stream->out.copy(reinterpret_cast<char*>(out), n, stream->sent);
  stream->sent += n;
  if (stream->sent == stream->out.size() || stream->sent > kSentKept) {
    stream->out.erase(0, stream->sent);
    stream->sent = 0;
  }
  if (!stream->out.empty()) return static_cast<ssize_t>(n);
  if (stream->ended) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!stream->trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      submit_trailers(session, *stream);
    }
  } else if (n == 0) {
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(n);
}

}  // namespace

struct Http2Server::State {
  explicit State(const RequestLimits& limits_in) : limits(limits_in) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    nghttp2_session_del(session);
    for (Served* stream : streams) delete stream;
  }

  Served* stream_of(std::int32_t id) const {
    return static_cast<Served*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame,
                              void* self_void) {
    auto* self = static_cast<State*>(self_void);
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    auto stream = std::make_unique<Served>(Served{.id = frame->hd.stream_id});
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream.get());
    self->streams.push_back(stream.release());
    return 0;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    Served* stream = self->stream_of(frame->hd.stream_id);
    if (stream == nullptr || stream->head_done || stream->refused) return 0;
    const std::size_t bytes = stream->fields.size() +
                              kServedFieldOverhead * (stream->sizes.size() + 1) + name_size +
                              value_size;
    if (bytes > self->limits.head_bytes_max) {
      self->refuse(*stream, RequestError::head_too_large);
      return 0;
    }
    stream->fields += bytes_view(name, name_size);
    stream->fields += bytes_view(value, value_size);
    stream->sizes.emplace_back(name_size, value_size);
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    Served* stream = self->stream_of(id);
    if (stream == nullptr || stream->refused) return 0;
    if (stream->body.size() + size > self->limits.body_bytes_max) {
      std::string().swap(stream->body);
      self->refuse(*stream, RequestError::body_too_large);
      return 0;
    }
    stream->body += bytes_view(data, size);
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    const auto& hd = frame->hd;
    if (hd.type != NGHTTP2_HEADERS && hd.type != NGHTTP2_DATA) return 0;
    Served* stream = self->stream_of(hd.stream_id);
    if (stream == nullptr) return 0;
    if (hd.type == NGHTTP2_HEADERS) stream->head_done = true;
    const bool last = (hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (last && !stream->refused) self->ready.push_back(stream->id);
    return 0;
  }

  static int on_close(nghttp2_session* session, std::int32_t id, std::uint32_t, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    Served* found = self->stream_of(id);
    if (found == nullptr) return 0;
    nghttp2_session_set_stream_user_data(session, id, nullptr);
    std::erase(self->streams, found);
    const std::unique_ptr<Served> stream(found);
    if (stream->delivered && !(stream->ended && stream->out.empty())) self->gone.push_back(id);
    return 0;
  }

  // Answers with a status alone.
  void refuse(Served& stream, RequestError error) {
    stream.refused = true;
    const std::string status = std::to_string(static_cast<int>(error));
    const nghttp2_nv field = field_of(":status", status);
    nghttp2_submit_response(session, stream.id, &field, 1, nullptr);
  }

  void show(Served& stream) {
    Http2Request& out = request;
    out.stream = stream.id;
    RequestHead& head = out.head;
    head.method = head.target = {};
    head.headers.clear();
    const std::size_t body_bytes = stream.body.size();
    head.content_length = body_bytes;
    std::string_view left = stream.fields;
    for (const auto& [name_size, value_size] : stream.sizes) {
      const std::string_view name = left.substr(0, name_size);
      const std::string_view value = left.substr(name_size, value_size);
      left.remove_prefix(name_size + value_size);
      if (name == ":method") {
        head.method = value;
      } else if (name == ":path") {
        head.target = value;
      } else if (name == ":authority") {
        head.headers.push_back({"host", value});
      } else if (!name.starts_with(':')) {
        head.headers.push_back({name, value});
      }
    }
    stream.body.append(kRequestPadding, '\0');
    out.body = std::string_view(stream.body).substr(0, body_bytes);
  }

  RequestLimits limits;
  nghttp2_session* session = nullptr;
  std::vector<Served*> streams{};
  std::deque<std::int32_t> ready{};
  std::deque<std::int32_t> gone{};
  Http2Request request{};
};

Http2Server::Http2Server(const RequestLimits& limits) : state_(std::make_unique<State>(limits)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, State::on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, State::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, State::on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, State::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, State::on_close);
  CHECK(nghttp2_session_server_new(&state_->session, callbacks, state_.get()) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kServedWindow)},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kServedFrameBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.head_bytes_max)}};
  CHECK(nghttp2_submit_settings(state_->session, NGHTTP2_FLAG_NONE, settings,
                                std::size(settings)) == 0);
  CHECK(nghttp2_session_set_local_window_size(state_->session, NGHTTP2_FLAG_NONE, 0,
                                              kServedWindow) == 0);
}

Http2Server::~Http2Server() = default;
Http2Server::Http2Server(Http2Server&&) noexcept = default;
Http2Server& Http2Server::operator=(Http2Server&&) noexcept = default;

bool Http2Server::feed(std::string_view bytes) {
  const ssize_t n = nghttp2_session_mem_recv(
      state_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return n == static_cast<ssize_t>(bytes.size());
}

bool Http2Server::over() const {
  return nghttp2_session_want_read(state_->session) == 0 &&
         nghttp2_session_want_write(state_->session) == 0;
}

std::int32_t Http2Server::take_gone() {
  if (state_->gone.empty()) return 0;
  const std::int32_t id = state_->gone.front();
  state_->gone.pop_front();
  return id;
}

const Http2Request* Http2Server::take_request() {
  while (!state_->ready.empty()) {
    Served* const stream = state_->stream_of(state_->ready.front());
    state_->ready.pop_front();
    if (stream == nullptr) continue;  // given up before it was taken
    stream->delivered = true;
    state_->show(*stream);
    return &state_->request;
  }
  return nullptr;
}

std::string_view Http2Server::output() {
  const std::uint8_t* data = nullptr;
  const ssize_t n = nghttp2_session_mem_send(state_->session, &data);
  if (n < 0) throw std::bad_alloc();  // our callbacks do not fail
  return bytes_view(data, static_cast<std::size_t>(n));
}

void Http2Server::head(std::int32_t stream, int status, std::span<const HttpHeader> headers,
                       bool last) {
  Served* const own = state_->stream_of(stream);
  if (own == nullptr || own->answered) return;
  const std::string digits = std::to_string(status);
  std::vector<nghttp2_nv> fields = to_fields(headers);
  fields.insert(fields.begin(), field_of(":status", digits));
  if (status < 200) {
    nghttp2_submit_headers(state_->session, NGHTTP2_FLAG_NONE, stream, nullptr, fields.data(),
                           fields.size(), nullptr);
    return;
  }
  own->answered = true;
  own->ended = last;
  nghttp2_data_provider provider{};
  provider.source.ptr = own;
  provider.read_callback = read_reply_body;
  nghttp2_submit_response(state_->session, stream, fields.data(), fields.size(),
                          last ? nullptr : &provider);
}

void Http2Server::body(std::int32_t stream, std::string_view bytes) {
  Served* const own = state_->stream_of(stream);
  if (own == nullptr || !own->answered || own->ended || bytes.empty()) return;
  own->out += bytes;
  nghttp2_session_resume_data(state_->session, stream);
}

void Http2Server::end(std::int32_t stream, std::span<const HttpHeader> trailers) {
  Served* const own = state_->stream_of(stream);
  if (own == nullptr || !own->answered || own->ended) return;
  own->ended = true;
  for (const HttpHeader& trailer : trailers) {
    own->trailers.emplace_back(trailer.name, trailer.value);
  }
  nghttp2_session_resume_data(state_->session, stream);
}

void Http2Server::reset(std::int32_t stream) {
  Served* const own = state_->stream_of(stream);
  if (own == nullptr) return;
  own->delivered = false;  // the caller knows
  nghttp2_submit_rst_stream(state_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_INTERNAL_ERROR);
}

std::size_t Http2Server::waiting_bytes(std::int32_t stream) const {
  const Served* const own = state_->stream_of(stream);
  return own == nullptr ? 0 : own->out.size() - own->sent;
}

}  // namespace assay::net
