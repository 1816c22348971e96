#include "base/protobuf.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using namespace std::string_literals;

TEST(Protobuf, writes_what_the_format_says) {
  std::string out;
  put_proto_number(out, 1, 150);
  put_proto_bytes(out, 2, "testing");
  put_proto_text(out, 3, "");
  EXPECT_EQ(out, "\x08\x96\x01\x12\x07testing"s);
}

TEST(Protobuf, reads_every_form) {
  const std::string message =
      "\x08\x96\x01\x12\x02hi\x1d\x01\x02\x03\x04\x21\x08\x07\x06\x05\x04\x03\x02\x01"s;
  ProtoReader reader(message);
  ProtoField field = reader.next();
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.value, 150u);
  field = reader.next();
  EXPECT_EQ(field.form, ProtoField::Form::bytes);
  EXPECT_EQ(field.bytes, "hi");
  field = reader.next();
  EXPECT_EQ(field.form, ProtoField::Form::fixed32);
  EXPECT_EQ(field.value, 0x04030201u);
  EXPECT_FALSE(reader.done());
  field = reader.next();
  EXPECT_EQ(field.number, 4u);
  EXPECT_EQ(field.value, 0x0102030405060708u);
  EXPECT_TRUE(reader.done());
  EXPECT_FALSE(reader.broken());
}

TEST(Protobuf, a_cut_field_and_a_form_that_does_not_exist_are_broken) {
  for (const std::string& bytes : {"\x08"s, "\x12\x05hi"s, "\x1d\x01"s, "\x0b"s, "\x0e"s}) {
    ProtoReader reader(bytes);
    reader.next();
    EXPECT_TRUE(reader.broken());
    EXPECT_TRUE(reader.done());
  }
}

}  // namespace
}  // namespace assay
