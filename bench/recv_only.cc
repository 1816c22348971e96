// The minimal client of streams: sends a request, receives until its body ends, sends again. No
// parsing, no timing, no record. Its cost is the kernel's share; `assay` is compared with it.
//
//   recv_only PORT CONNECTIONS SECONDS OSL [stream|plain [RAMP]]
//
// The connections start at once, or evenly over RAMP seconds.
// Prints one JSON line: replies, reads, bytes, events (replies × OSL), seconds, cpu_seconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int dial(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return -1;
  return fd;
}

std::string request_of(bool stream, const char* osl) {
  const std::string body =
      std::string("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],") +
      "\"max_completion_tokens\":" + osl + (stream ? ",\"stream\":true}" : "}");
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The end of a chunked body; a plain body is assumed to come in one read.
bool ends_body(const char* bytes, std::size_t size, bool stream) {
  return !stream || (size >= 5 && std::memcmp(bytes + size - 5, "0\r\n\r\n", 5) == 0);
}

// Opens a connection and sends its first request.
bool open_one(int epoll, int port, const std::string& request) {
  const int fd = dial(port);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return fd >= 0 && ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 &&
         ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) >= 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: recv_only PORT CONNECTIONS SECONDS OSL [stream|plain [RAMP]]\n");
    return 2;
  }
  const int port = std::atoi(argv[1]);
  const int connections = std::atoi(argv[2]);
  const double duration = std::atof(argv[3]);
  const bool stream = argc < 6 || std::strcmp(argv[5], "stream") == 0;
  const double ramp = argc < 7 ? 0 : std::atof(argv[6]);
  const std::string request = request_of(stream, argv[4]);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  int opened = 0;
  for (; ramp <= 0 && opened < connections; ++opened) {
    if (!open_one(epoll, port, request)) return 3;
  }
  std::vector<char> buffer(256 * 1024);
  std::vector<epoll_event> ready(128);
  std::uint64_t replies = 0;
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  const double start = seconds_of(CLOCK_MONOTONIC);
  const double cpu_start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  double now = start;
  while (now - start < duration) {
    for (; opened < connections && now - start >= ramp * opened / connections; ++opened) {
      if (!open_one(epoll, port, request)) return 3;
    }
    const int wait_ms = opened < connections ? 1 : 100;
    const int n = ::epoll_wait(epoll, ready.data(), static_cast<int>(ready.size()), wait_ms);
    for (int i = 0; i < n; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) return 3;
      ++reads;
      bytes += static_cast<std::uint64_t>(got);
      if (!ends_body(buffer.data(), static_cast<std::size_t>(got), stream)) continue;
      ++replies;
      if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return 3;
    }
    now = seconds_of(CLOCK_MONOTONIC);
  }
  const double events = static_cast<double>(replies) * std::atof(argv[4]);
  std::printf(
      "{\"replies\":%llu,\"reads\":%llu,\"bytes\":%llu,\"events\":%.0f,\"seconds\":%.6f,"
      "\"cpu_seconds\":%.6f}\n",
      static_cast<unsigned long long>(replies), static_cast<unsigned long long>(reads),
      static_cast<unsigned long long>(bytes), events, now - start,
      seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
  return 0;
}
