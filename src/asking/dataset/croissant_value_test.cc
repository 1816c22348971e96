#include "dataset/croissant_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/binary_cell.h"
#include "dataset/croissant_meta.h"

namespace assay::dataset::croissant {
namespace {

using testing::HasSubstr;

std::string shaped(std::vector<std::int64_t> shape, std::string_view value) {
  Field field{.id = "f", .type = "Integer", .repeated = true, .shape = std::move(shape)};
  const auto made = FieldValue::make(field);
  EXPECT_TRUE(made);
  const auto out = made->apply(*Json::parse(value));
  return out ? out->dump() : out.error().message;
}

TEST(CroissantValue, AnArrayHasItsDeclaredShape) {
  EXPECT_EQ(shaped({2, 3}, "[1,2,3,4,5,6]"), "[[1,2,3],[4,5,6]]");
  EXPECT_EQ(shaped({-1, 3}, "[1,2,3,4,5,6]"), "[[1,2,3],[4,5,6]]");
  EXPECT_EQ(shaped({2, -1}, "[1,2,3,4,5,6]"), "[[1,2,3],[4,5,6]]");
  EXPECT_EQ(shaped({2, 1, -1}, "[1,2,3,4]"), "[[[1,2]],[[3,4]]]");
  EXPECT_EQ(shaped({-1}, "[1,2]"), "[1,2]");
  EXPECT_EQ(shaped({-1, 3}, "[]"), "[]");
  // A nested value stays unchanged, and other values are not arrays.
  EXPECT_EQ(shaped({2, 2}, "[[1,2],[3,4]]"), "[[1,2],[3,4]]");
  EXPECT_EQ(shaped({-1, -1}, "[[1,2],[3,4]]"), "[[1,2],[3,4]]");
  EXPECT_EQ(shaped({2, 2}, "7"), "7");
  EXPECT_EQ(shaped({}, "[1,2]"), "[1,2]");
  EXPECT_THAT(shaped({2, 3}, "[1,2,3,4]"), HasSubstr("4 values do not make an array of shape 2,3"));
  EXPECT_THAT(shaped({-1, 3}, "[1,2,3,4]"), HasSubstr("shape -1,3"));
  EXPECT_THAT(shaped({-1, -1}, "[1,2,3,4]"), HasSubstr("its nesting"));
  EXPECT_THAT(shaped({1LL << 40, 1LL << 40}, "[1]"), HasSubstr("too large"));
}

std::string heard(std::int64_t rate, const std::string& cell) {
  Field field{.id = "f", .type = "AudioObject"};
  field.source.sampling_rate = rate;
  const auto made = FieldValue::make(field);
  EXPECT_TRUE(made);
  const auto out = made->apply(Json(cell));
  return out ? "taken" : out.error().message;
}

TEST(CroissantValue, AudioOfAnotherRateIsRefusedAndNotTakenForIt) {
  using std::string_literals::operator""s;
  // 16,000 Hz, one channel, then an invalid byte.
  const std::string wave =
      "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\0\0\0\0\xff"s;
  const std::string cell = binary_cell(wave);
  ASSERT_TRUE(cell.starts_with("data:audio/wav;base64,"));
  EXPECT_EQ(heard(16000, cell), "taken");
  EXPECT_EQ(heard(0, "anything"), "taken");
  EXPECT_THAT(heard(22050, cell), HasSubstr("the audio has 16000 Hz"));
  EXPECT_THAT(heard(22050, "ID3 an mp3"), HasSubstr("is not a WAV file"));
}

TEST(CroissantMeta, ShapesAndRatesAreRead) {
  const auto field_of = [](const char* more) {
    return parse_metadata(*Json::parse(
        std::string(R"({"@context": {"@vocab": "https://schema.org/"}, "@type": "sc:Dataset",
          "name": "d", "distribution": [{"@type": "cr:FileObject", "@id": "a.csv",
          "contentUrl": "a.csv", "encodingFormat": "text/csv"}], "recordSet": [{
          "@type": "cr:RecordSet", "@id": "r", "field": [{"@type": "cr:Field", "@id": "r/f",
          "dataType": "sc:Integer", "isArray": true, )") +
        more + "}]}]}"));
  };
  const std::string from =
      R"("source": {"fileObject": {"@id": "a.csv"}, "extract": {"column": "c"})";
  const auto read = field_of(
      (R"x("arrayShape": "(-1, 3)", )x" + from + R"(, "transform": {"samplingRate": 16000}})")
          .c_str());
  ASSERT_TRUE(read) << read.error().message;
  const Field& field = read->record_sets[0].fields[0];
  EXPECT_EQ(field.shape, (std::vector<std::int64_t>{-1, 3}));
  EXPECT_EQ(field.source.sampling_rate, 16000);
  const auto wrong = field_of((R"("arrayShape": "0,3", )" + from + "}").c_str());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("arrayShape"));
  EXPECT_FALSE(field_of((from + R"(, "samplingRate": -1})").c_str()));
}

}  // namespace
}  // namespace assay::dataset::croissant
