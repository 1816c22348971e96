// What the records of this room hold before a byte came.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "net/grpc.h"
#include "net/http1_request.h"
#include "net/http1_response.h"
#include "net/http2_client.h"
#include "net/http2_server.h"
#include "net/http_call.h"
#include "net/http_reply.h"
#include "net/http_server.h"
#include "net/receive.h"
#include "net/socket.h"
#include "net/tls.h"
#include "net/url.h"

namespace assay::net {
namespace {

TEST(NothingKnown, a_head_keeps_its_connection_and_promises_no_body) {
  const RequestHead request;
  EXPECT_EQ(request.minor_version, 1);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(together(request.chunked, request.expects_continue, request.content_length), 0);
  const ResponseHead response;
  EXPECT_EQ(response.minor_version, 1);
  EXPECT_TRUE(response.keep_alive);
  EXPECT_EQ(together(response.status, response.chunked, response.has_length, response.length), 0);
  EXPECT_EQ(response.retry_after_s(), -1);
  EXPECT_EQ(response.grpc_status, -1);
  const ReplyHead reply;
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.minor_version, 1);
  EXPECT_TRUE(reply.keep_alive);
  EXPECT_EQ(reply.length, 0U);
}

TEST(NothingKnown, a_call_has_no_answer_yet) {
  EXPECT_EQ(together(HeadResult{}.size, HttpCallReply{}.status, HttpCall{}.insecure), 0);
  EXPECT_EQ(HttpCallReply{}.grpc_status, -1);
  EXPECT_EQ(together(Http2End{}.code, Http2End{}.unprocessed, Http2Request{}.stream), 0);
  EXPECT_EQ(Http2End{}.grpc_status, -1);
  EXPECT_EQ(together(Received{}.bytes, Received{}.error, GrpcMessage{}.compressed), 0);
}

TEST(NothingKnown, certificates_are_checked_and_http2_is_not_offered) {
  EXPECT_EQ(together(TlsClientOptions{}.insecure, TlsClientOptions{}.offer_http2,
                     HttpServerOptions{}.http2, ListenOptions{}.reuse_port),
            0);
  EXPECT_EQ(together(Url{}.port, Url{}.tls, Url{}.ipv6_literal), 0);
  EXPECT_EQ(Fd{}.get(), -1);
  EXPECT_FALSE(Fd{}.open());
}

}  // namespace
}  // namespace assay::net
