// A reply that is there at once, as its client reads it.
#include "net/whole_reply.h"

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "net/testing_played_server.h"

namespace assay::net {
namespace {

class WholeReply : public HttpServerCalls {
 protected:
  // What a client reads that asked this, and whether the connection has ended then.
  std::string answer_to(std::string_view request, bool ends) {
    open();
    service.answer = [this](ConnectionId id, const RequestHead& head) {
      send_whole(*server, id, head, {.status = 404, .content_type = "text/plain"}, "no such page");
    };
    Caller caller(where);
    caller.say(request);
    play({[&] { return caller.hear().find("\r\n\r\n") != std::string::npos; },
          [&] {
            caller.hear();
            return caller.ended == ends;
          }});
    return caller.heard;
  }
};

TEST_F(WholeReply, speaks_the_version_of_its_request) {
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nHost: h\r\n\r\n", false),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n"
            "no such page");
}

TEST_F(WholeReply, speaks_the_version_of_its_request_also_where_that_is_the_old_one) {
  EXPECT_EQ(answer_to("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false),
            "HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n"
            "Connection: keep-alive\r\n\r\nno such page");
}

TEST_F(WholeReply, ends_the_connection_where_the_request_wants_that) {
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", true),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n"
            "Connection: close\r\n\r\nno such page");
}

TEST_F(WholeReply, to_head_is_the_head_with_the_length_that_the_body_would_have) {
  EXPECT_EQ(answer_to("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", false),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n");
}

}  // namespace
}  // namespace assay::net
