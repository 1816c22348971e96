#include "protocol/probe_socket.h"

#include <utility>

#include "base/format.h"
#include "base/json.h"

namespace assay::protocol {

ProbeTurn::ProbeTurn(std::string script, Says beside, Says ends)
    : script_(std::move(script)), beside_(beside), ends_(ends) {}

std::string ProbeTurn::opening(std::string_view head) const {
  return std::string(head) + net::websocket_request_headers(key_);
}

void ProbeTurn::take(std::string& bytes, std::string& answer) {
  std::string_view left = bytes;
  told_.clear();
  if (!open_) {
    held_ += bytes;
    const auto state = handshake_.feed(left);
    if (state == net::ClientHandshake::State::reading) return bytes.clear();
    if (state == net::ClientHandshake::State::refused && handshake_.status() != 101) {
      bytes = std::exchange(held_, {});
      return;
    }
    open_ = true;
    told_ =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (state == net::ClientHandshake::State::refused) {
      tell(Json::object().set("type", "error").set("error", handshake_.error()).dump());
      end();
    }
    for (std::string_view script = script_; !script.empty() && !over_;) {
      const std::size_t line = script.find('\n');
      writer_.text(out_, script.substr(0, line));
      script.remove_prefix(line + 1);
    }
    if (script_.empty()) end();
  }
  std::string padded(left);
  const std::size_t size = padded.size();
  padded.append(net::kWebSocketPadding, '\0');
  if (!reader_.feed(std::string_view(padded).substr(0, size), *this)) {
    tell(Json::object().set("type", "error").set("error", reader_.error()).dump());
    end();
  }
  bytes = told_;
  answer = std::exchange(out_, {});
}

void ProbeTurn::tell(std::string_view event) {
  if (over_) return;
  const std::size_t size = event.size() + std::string_view("data: \n\n").size();
  told_ += format("{:x}\r\ndata: {}\n\n\r\n", size, event);
}

void ProbeTurn::end() {
  if (!over_) told_ += "0\r\n\r\n";
  over_ = true;
}

void ProbeTurn::on_message(bool text, std::string_view data, std::size_t) {
  if (!text) return tell(R"({"type":"error","error":"a binary message came; events are text"})");
  if (beside_(data)) return;
  tell(data);
  if (ends_(data)) end();
}

void ProbeTurn::on_ping(std::string_view payload) {
  writer_.frame(out_, net::FrameType::pong, payload);
}

void ProbeTurn::on_close(std::uint16_t, std::string_view) { end(); }

}  // namespace assay::protocol
