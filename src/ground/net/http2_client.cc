#include "net/http2_client.h"

#include <nghttp2/nghttp2.h>

#include <charconv>
#include <limits>
#include <new>
#include <vector>

#include "base/check.h"
#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "net/content_headers.h"
#include "net/foreign_protocol.h"

namespace assay::net {
namespace {

constexpr std::int32_t kWindow = 0x7fffffff;  // the largest in RFC 9113
constexpr std::uint32_t kFrameBytes = 1 << 20;
constexpr std::size_t kFieldOverhead = 32;  // of a field, as in RFC 9113, 6.5.2
constexpr std::size_t kOpeningBytes = 9;    // enough to recognise another protocol
constexpr std::size_t kWordsMax = 200;
constexpr std::uint16_t kLeastStatus = 100;
constexpr std::int32_t kGrpcUnknown = 2;  // for a status that is no number
constexpr std::uint64_t kGrpcStatusMax = std::numeric_limits<std::int32_t>::max();

// The state of one request; freed when its stream is over.
struct Stream {
  void* user = nullptr;
  std::string body{};
  std::size_t sent = 0;
  ResponseHead head{};
  std::size_t head_bytes = 0;
  bool told = false;    // the head was reported: a later HEADERS frame has trailers
  bool unsent = false;  // cancelled before it was sent
  std::string fault{};  // in nghttp2's words, of a frame that it refused
  std::string broken{};
};

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv to_nv(const Http2Client::Header& header) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  // A request's id never repeats: in both ends' tables it would only push others out.
  const bool once = header.first == "x-request-id";
  return {bytes(header.first), bytes(header.second), header.first.size(), header.second.size(),
          static_cast<std::uint8_t>(once ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)};
}

ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size,
                  std::uint32_t* flags, nghttp2_data_source* source, void*) {
  auto* stream = static_cast<Stream*>(source->ptr);
  const std::size_t n = std::min(size, stream->body.size() - stream->sent);
  stream->body.copy(reinterpret_cast<char*>(out), n, stream->sent);
  stream->sent += n;
  if (stream->sent == stream->body.size()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    std::string().swap(stream->body);  // the reply may take minutes
  }
  return static_cast<ssize_t>(n);
}

}  // namespace

struct Http2Client::State {
  explicit State(Http2Events& events_in) : events(events_in) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    nghttp2_session_del(session);
    for (Stream* stream : streams) delete stream;
  }

  Stream* stream_of(std::int32_t id) const {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int on_header(nghttp2_session* session, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    Stream* stream = self->stream_of(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->head_bytes += name_size + value_size + kFieldOverhead;
    if (stream->head_bytes > kHeadBytesMax) {
      self->broken = format("a response head of more than {} KiB", kHeadBytesMax / 1024);
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    take_header(*stream, view(name, name_size), view(value, value_size));
    // nghttp2 takes any three digits, and would deliver a body behind a status that is none.
    if (view(name, name_size) == ":status" && stream->head.status < kLeastStatus) {
      stream->fault = format("the status {} is none of HTTP", view(value, value_size));
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                NGHTTP2_PROTOCOL_ERROR);
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return 0;
  }

  static int on_begin_frame(nghttp2_session*, const nghttp2_frame_hd* hd, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    self->said.clear();
    // nghttp2 waits for the peer to acknowledge this; but a request follows our SETTINGS at once.
    if (hd->type == NGHTTP2_PUSH_PROMISE) {
      self->broken = "PROTOCOL_ERROR: PUSH_PROMISE, though server push is switched off";
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (++self->idle_frames <= kIdleFramesMax) return 0;
    self->broken = format("{} frames in a row that bring nothing of a reply", kIdleFramesMax);
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    if (frame->hd.type == NGHTTP2_SETTINGS) self->begun = true;
    if (frame->hd.type == NGHTTP2_GOAWAY) self->take_goaway(frame->goaway);
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    Stream* stream = self->stream_of(frame->hd.stream_id);
    if (stream == nullptr || stream->told || stream->user == nullptr) return 0;
    if (stream->head.status < 200) {
      stream->head = {};  // interim
      return 0;
    }
    stream->told = true;
    self->progress();
    self->events.on_head(stream->user, stream->head);
    return 0;
  }

  void progress() {
    idle_frames = 0;
    idle_bytes = 0;
  }

  void take_goaway(const nghttp2_goaway& frame) {
    if (frame.error_code == NGHTTP2_NO_ERROR) return;
    goaway = format("GOAWAY: {}", nghttp2_http2_strerror(frame.error_code));
    if (frame.opaque_data_len == 0) return;
    goaway += ": ";
    goaway += printable(view(frame.opaque_data, std::min(frame.opaque_data_len, kWordsMax)));
  }

  // nghttp2's reason for refusing a frame. What answers it goes out later, behind other faults.
  static int on_invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int error,
                              void* self_void) {
    auto* self = static_cast<State*>(self_void);
    Stream* stream = self->stream_of(frame->hd.stream_id);
    if (stream != nullptr)
      stream->fault = self->said.empty() ? nghttp2_strerror(error) : self->said;
    return 0;
  }
  static int on_words(nghttp2_session*, int, const char* words, std::size_t size, void* self_void) {
    static_cast<State*>(self_void)->said =
        printable(std::string_view(words, std::min(size, kWordsMax)));
    return 0;
  }

  // All our frames except a cancel are answers to the peer.
  static int on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    const auto& hd = frame->hd;
    if (hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      const nghttp2_goaway& own = frame->goaway;
      self->broken = nghttp2_http2_strerror(own.error_code);
      const std::string_view why = view(own.opaque_data, own.opaque_data_len);
      if (!why.empty()) self->broken += format(": {}", why);
    }
    Stream* stream = self->stream_of(hd.stream_id);
    if (stream == nullptr) return 0;
    if (hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_CANCEL) {
      stream->broken = nghttp2_http2_strerror(frame->rst_stream.error_code);
      if (!stream->fault.empty()) stream->broken += format(": {}", stream->fault);
    }
    if (hd.type == NGHTTP2_DATA) self->progress();
    const bool last = (hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (last && stream->user != nullptr) self->events.on_request_out(stream->user);
    return 0;
  }

  static int on_frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* self_void) {
    Stream* stream = static_cast<State*>(self_void)->stream_of(frame->hd.stream_id);
    if (stream != nullptr) stream->unsent = true;  // a stream's first frame, or none
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* self_void) {
    auto* self = static_cast<State*>(self_void);
    self->progress();
    Stream* stream = self->stream_of(id);
    if (stream == nullptr || stream->user == nullptr) return 0;
    const char* const end = reinterpret_cast<const char*>(data) + size;
    const char* const fed_end = self->fed.data() + self->fed.size();
    self->events.on_body(stream->user, view(data, size), static_cast<std::size_t>(fed_end - end));
    return 0;
  }

  static int on_close(nghttp2_session* session, std::int32_t id, std::uint32_t error,
                      void* self_void) {
    auto* self = static_cast<State*>(self_void);
    Stream* found = self->stream_of(id);
    if (found == nullptr) return 0;
    nghttp2_session_set_stream_user_data(session, id, nullptr);
    std::erase(self->streams, found);
    const std::unique_ptr<Stream> stream(found);
    if (stream->user == nullptr) return 0;
    self->events.on_end(stream->user,
                        {.code = error,
                         .unprocessed = stream->unsent || error == NGHTTP2_REFUSED_STREAM,
                         .broken = stream->broken,
                         .grpc_status = stream->head.grpc_status,
                         .grpc_message = stream->head.grpc_message});
    return 0;
  }

  static void take_header(Stream& stream, std::string_view name, std::string_view value) {
    ResponseHead& head = stream.head;
    if (name == ":status") {
      head.status = static_cast<std::uint16_t>(*parse_uint(value));  // nghttp2 saw three digits
    } else if (name == "content-type") {
      head.type = content_type_of(value);
    } else if (name == "content-encoding") {
      head.coding = content_coding_of(value);
    } else if (name == "content-length") {
      head.has_length = std::from_chars(value.begin(), value.end(), head.length).ec == std::errc{};
    } else if (name == "location" && head.status / 100 == 3) {
      head.location = value;
    } else if (name == "retry-after") {
      head.retry.take_retry_after(value);
    } else if (name == "date" && head.status != 200) {
      head.retry.take_date(value);
    } else if (name == "grpc-status") {
      const auto status = parse_uint(value);
      head.grpc_status =
          status && *status <= kGrpcStatusMax ? static_cast<std::int32_t>(*status) : kGrpcUnknown;
    } else if (name == "grpc-message") {
      head.grpc_message = value;
    }
  }

  Http2Events& events;
  nghttp2_session* session = nullptr;
  std::vector<Stream*> streams{};
  std::string_view fed{};
  std::string opening{};  // the first bytes that came
  std::uint32_t idle_frames = 0;
  std::size_t idle_bytes = 0;
  bool begun = false;
  std::string said{};    // by nghttp2, about the current frame
  std::string broken{};  // the peer's fault that ends the connection
  std::string goaway{};  // the peer's, with an error
};

Http2Client::Http2Client(Http2Events& events) : state_(std::make_unique<State>(events)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, State::on_header);
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, State::on_begin_frame);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, State::on_frame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, State::on_invalid_frame);
  nghttp2_session_callbacks_set_error_callback2(callbacks, State::on_words);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, State::on_frame_sent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, State::on_frame_not_sent);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, State::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, State::on_close);
  CHECK(nghttp2_session_client_new(&state_->session, callbacks, state_.get()) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kWindow)},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kFrameBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kHeadBytesMax)}};
  CHECK(nghttp2_submit_settings(state_->session, NGHTTP2_FLAG_NONE, settings,
                                std::size(settings)) == 0);
  CHECK(nghttp2_session_set_local_window_size(state_->session, NGHTTP2_FLAG_NONE, 0, kWindow) == 0);
}

Http2Client::~Http2Client() = default;
Http2Client::Http2Client(Http2Client&&) noexcept = default;
Http2Client& Http2Client::operator=(Http2Client&&) noexcept = default;

std::int32_t Http2Client::submit(std::span<const Header> headers, std::string_view body,
                                 void* user) {
  if (going_away()) return -1;
  std::vector<nghttp2_nv> fields;
  fields.reserve(headers.size());
  for (const Header& header : headers) fields.push_back(to_nv(header));
  auto stream = std::make_unique<Stream>(Stream{.user = user, .body = std::string(body)});
  nghttp2_data_provider provider{};
  provider.source.ptr = stream.get();
  provider.read_callback = read_body;
  const std::int32_t id = nghttp2_submit_request(state_->session, nullptr, fields.data(),
                                                 fields.size(), &provider, stream.get());
  if (id < 0) throw std::bad_alloc();  // nothing else fails while requests are allowed
  state_->streams.push_back(stream.release());
  return id;
}

void Http2Client::cancel(std::int32_t stream) {
  nghttp2_submit_rst_stream(state_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

void Http2Client::forget(std::int32_t stream) {
  Stream* const own = state_->stream_of(stream);
  if (own == nullptr) return;
  own->user = nullptr;
  cancel(stream);
}

bool Http2Client::feed(std::string_view bytes) {
  State& s = *state_;
  s.opening += bytes.substr(0, kOpeningBytes - s.opening.size());
  s.fed = bytes;
  const ssize_t n = nghttp2_session_mem_recv(
      s.session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  s.fed = {};
  s.idle_bytes += bytes.size();
  if (n == static_cast<ssize_t>(bytes.size()) && s.idle_bytes <= kIdleBytesMax) return true;
  if (n >= 0) {
    s.broken = format("{} MiB that bring nothing of a reply", kIdleBytesMax >> 20);
  } else if (s.broken.empty()) {
    s.broken = nghttp2_strerror(static_cast<int>(n));
  }
  return false;
}

std::string_view Http2Client::output() {
  const std::uint8_t* data = nullptr;
  const ssize_t n = nghttp2_session_mem_send(state_->session, &data);
  if (n < 0) throw std::bad_alloc();  // our callbacks do not fail
  return view(data, static_cast<std::size_t>(n));
}

bool Http2Client::begun() const { return state_->begun; }

std::uint32_t Http2Client::streams_max() const {
  return nghttp2_session_get_remote_settings(state_->session,
                                             NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

bool Http2Client::going_away() const {
  return nghttp2_session_check_request_allowed(state_->session) == 0;
}

bool Http2Client::broken() const { return !state_->broken.empty(); }

bool Http2Client::over() const {
  return nghttp2_session_want_read(state_->session) == 0 &&
         nghttp2_session_want_write(state_->session) == 0;
}

std::string Http2Client::error() const {
  const State& s = *state_;
  const std::string_view other = s.begun ? "" : foreign_protocol(s.opening, Spoken::http2);
  if (!other.empty()) return std::string(other);
  return s.broken.empty() ? s.goaway : format("HTTP/2: {}", s.broken);
}

std::string_view http2_error_name(std::uint32_t code) { return nghttp2_http2_strerror(code); }

}  // namespace assay::net
