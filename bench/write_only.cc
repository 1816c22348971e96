// The minimal server of streams: for each request, with any content, it writes a head and OSL
// events of the same bytes, one write() an event, connections in turns. No parsing, no clock, no
// record. Its rate is the kernel's limit; `assay endpoint` is compared with it.
//
//   write_only OSL [EVENTS_PER_WRITE [EVENTS_PER_SECOND]]
//
// An OSL of 0 means a plain reply: one small chat completion in one write. With EVENTS_PER_SECOND
// it writes 25 events at a time and sleeps between. An event costs more then, because the reader
// sleeps too and must be woken.
//
// Prints its port, and serves until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// The same number of bytes as an event of the endpoint's chat.
std::string chunk_of_event() {
  const std::string event =
      "data: {\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\","
      "\"created\":1795190523,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
      "\" word\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", event.size());
  return size + event + "\r\n";
}

// A whole chat completion of one token.
std::string plain_reply() {
  const std::string body =
      "{\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion\","
      "\"created\":1795190523,\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{"
      "\"role\":\"assistant\",\"content\":\"word\"},\"logprobs\":null,"
      "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,"
      "\"completion_tokens\":1,\"total_tokens\":2}}";
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct Stream {
  int fd = -1;
  int left = 0;
};

constexpr std::size_t kBurst = 25;

// Sleeps until the next burst is due. A late burst does not catch up at once.
class Pace {
 public:
  explicit Pace(double events_per_second)
      : gap_ns_(events_per_second > 0 ? static_cast<long>(kBurst * 1e9 / events_per_second) : 0) {
    ::clock_gettime(CLOCK_MONOTONIC, &next_);
  }
  bool set() const { return gap_ns_ > 0; }
  void wait() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const bool behind = now.tv_sec > next_.tv_sec + 1;
    if (behind) next_ = now;
    next_.tv_nsec += gap_ns_;
    next_.tv_sec += next_.tv_nsec / 1'000'000'000;
    next_.tv_nsec %= 1'000'000'000;
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next_, nullptr);
  }

 private:
  long gap_ns_;
  timespec next_{};
};

bool send_all(int fd, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

// Opens a listener on a free port of loopback and prints the port. Negative on failure.
int listen_and_tell() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t at_size = sizeof at;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(listener, 4096) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &at_size) != 0) {
    return -1;
  }
  std::printf("%d\n", ntohs(at.sin_port));
  std::fflush(stdout);
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: write_only OSL [EVENTS_PER_WRITE [EVENTS_PER_SECOND]]\n");
    return 2;
  }
  const int osl = std::atoi(argv[1]);
  const int per_write = argc > 2 ? std::atoi(argv[2]) : 1;
  Pace pace(argc > 3 ? std::atof(argv[3]) : 0);
  std::string write;
  for (int i = 0; i < per_write; ++i) write += chunk_of_event();
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string end = write + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
  const std::string plain = plain_reply();

  const int listener = listen_and_tell();
  if (listener < 0) return 3;
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);

  std::vector<Stream> streams;
  std::size_t at_stream = 0;
  std::vector<epoll_event> ready(512);
  char request[65536];
  for (;;) {
    const int n =
        ::epoll_wait(epoll, ready.data(), static_cast<int>(ready.size()), streams.empty() ? -1 : 0);
    for (int i = 0; i < n; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        const int one = 1;
        ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        event.data.fd = accepted;
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, accepted, &event);
      } else if (::recv(fd, request, sizeof request, 0) <= 0) {
        ::close(fd);
        std::erase_if(streams, [fd](const Stream& s) { return s.fd == fd; });
      } else if (osl == 0) {
        send_all(fd, plain);
      } else if (send_all(fd, head)) {
        streams.push_back({fd, std::max(1, osl / per_write)});
      }
    }
    const std::size_t burst = pace.set() ? std::min(kBurst, streams.size()) : streams.size();
    for (std::size_t done = 0; done < burst && !streams.empty(); ++done) {
      if (!pace.set() && done == 0) at_stream = 0;
      const std::size_t i = at_stream % streams.size();
      const bool last = --streams[i].left == 0;
      const bool sent = send_all(streams[i].fd, last ? end : write);
      if (sent && !last) {
        at_stream = i + 1;
        continue;
      }
      streams[i] = streams.back();
      streams.pop_back();
    }
    if (pace.set() && !streams.empty()) pace.wait();
  }
}
