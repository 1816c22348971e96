#include "net/foreign_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::net {
namespace {

using testing::HasSubstr;

const std::string kSettingsFrame("\0\0\x12\x04\0\0\0\0\0", 9);

TEST(ForeignProtocol, each_is_named_with_what_to_change) {
  for (const Spoken ours : {Spoken::http1, Spoken::http2}) {
    EXPECT_THAT(foreign_protocol("\x15\x03\x03", ours), HasSubstr("https://"));
    EXPECT_THAT(foreign_protocol("\x16\x03", ours), HasSubstr("https://"));
    EXPECT_EQ(foreign_protocol("SSH-2.0-x", ours), "this port speaks SSH");
  }
  EXPECT_THAT(foreign_protocol(kSettingsFrame, Spoken::http1), HasSubstr("--http 2"));
  EXPECT_EQ(foreign_protocol(kSettingsFrame, Spoken::http2), "");
  EXPECT_THAT(foreign_protocol("HTTP/1.1 400", Spoken::http2), HasSubstr("--http 1.1"));
  EXPECT_EQ(foreign_protocol("HTTP/1.1 400", Spoken::http1), "");
}

TEST(ForeignProtocol, what_only_looks_alike_is_not_named) {
  for (const std::string& bytes :
       {std::string(), std::string("\x15"), std::string("\x16\x02"), std::string("\x17\x03"),
        std::string("SSH"), kSettingsFrame.substr(0, 8), "\1" + kSettingsFrame.substr(1),
        kSettingsFrame.substr(0, 3) + std::string("\x05\0\0\0\0\0", 6),
        kSettingsFrame.substr(0, 3) + std::string("\x04\0\0\0\0\1", 6), std::string("220 smtp")}) {
    EXPECT_EQ(foreign_protocol(bytes, Spoken::http1), "");
  }
}

// A prefix that is shorter than this may still be ours.
TEST(ForeignProtocol, as_many_bytes_are_awaited_as_name_it) {
  for (const std::string& bytes :
       {std::string("\x15\x03"), std::string("\x16\x03"), std::string("SSH-"), kSettingsFrame}) {
    const std::size_t needed = bytes_to_name(bytes[0]);
    EXPECT_EQ(needed, bytes.size());
    EXPECT_NE(foreign_protocol(bytes, Spoken::http1), "");
    EXPECT_EQ(foreign_protocol(bytes.substr(0, needed - 1), Spoken::http1), "");
  }
  EXPECT_EQ(bytes_to_name('H'), 1U);
}

}  // namespace
}  // namespace assay::net
