#include "dataset/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "dataset/media.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(TrafficMix, a_class_is_its_name_and_what_differs) {
  const auto one = parse_class(
      "batch, share=0.3, isl=lognormal:512/0.5, osl=64, prefix=1000x4, model=m-lora, priority=-1,"
      "slo=ttft<=2s&latency<=9s, body.user=u1, body.n=2");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->name, "batch");
  EXPECT_EQ(one->share, 0.3);
  EXPECT_EQ(to_string(*one->isl), "lognormal:512,0.5");
  EXPECT_EQ(one->prefixes.front().branches, 4U);
  EXPECT_EQ(one->overrides.dump(), R"({"model":"m-lora","priority":-1,"user":"u1","n":2})");
  EXPECT_EQ(one->slo, "ttft<=2s&latency<=9s");
  for (const char* wrong : {"", "share=1", "a,share=0", "a,share", "a,speed=1", "a,slo=p99<=1s",
                            "a,isl=0x", "a b", "a,body.=1"}) {
    EXPECT_FALSE(parse_class(wrong)) << wrong;
  }
}

TEST(TrafficMix, each_row_is_of_its_class_whatever_the_other_classes_are) {
  SyntheticSpec spec{.count = 400, .isl = LengthSpec::fixed(30), .token_ids = true};
  spec.classes = {*parse_class("short,share=3,isl=10,osl=5"),
                  *parse_class("long,isl=500,priority=2")};
  const auto mix = make_mix(spec, "");
  ASSERT_TRUE(mix);
  ASSERT_EQ(mix->rows(), 400U);
  ASSERT_EQ(mix->mix.size(), 2U);
  int shorts = 0;
  for (std::uint32_t row = 0; row < 400; ++row) {
    const Sample sample = mix->make_row(row);
    const bool is_short = class_of(mix->mix, row) == 0;
    shorts += is_short ? 1 : 0;
    EXPECT_EQ(sample.input_tokens.size(), is_short ? 10U : 500U);
    EXPECT_EQ(sample.output_tokens_max, is_short ? 5 : 0);
    EXPECT_EQ(sample.overrides.is_null(), is_short);
    EXPECT_EQ(sample.overrides["priority"].as_int(), is_short ? 0 : 2);
  }
  EXPECT_NEAR(shorts, 300, 3);
  // A row's prompt follows from its class and number, so a class alone asks the same.
  SyntheticSpec alone = spec;
  alone.classes = {spec.classes[1]};
  const auto same = make_mix(alone, "");
  for (std::uint32_t row = 0; row < 50; ++row) {
    if (class_of(mix->mix, row) != 1) continue;
    EXPECT_EQ(mix->make_row(row).input_tokens, same->make_row(row).input_tokens);
  }
  EXPECT_NE(mix->recipe.find("class short share 3"), std::string::npos);
}

std::uint32_t little(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 4; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

TEST(Media, a_picture_is_a_png_whose_pixels_are_all_there) {
  Rng rng(1);
  const std::string png = bytes_of(*parse_medium("image", "300x70"), rng);
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1a\n"));
  const std::size_t data = png.find("IDAT");
  ASSERT_NE(data, std::string::npos);
  std::string rows(1 << 20, '\0');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<unsigned char*>(rows.data()), &size,
                       reinterpret_cast<const unsigned char*>(png.data()) + data + 4,
                       png.size() - data - 4 - 16),
            Z_OK);
  EXPECT_EQ(size, 70U * (1 + 3 * 300));
  Rng again(1);
  EXPECT_EQ(bytes_of(*parse_medium("image", "300x70"), again), png);
  EXPECT_NE(bytes_of(*parse_medium("image", "300x70"), again), png) << "each has its own noise";
}

TEST(Media, a_sound_and_a_video_have_the_lengths_that_their_heads_say) {
  Rng rng(1);
  const std::string wav = bytes_of(*parse_medium("audio", "250ms"), rng);
  EXPECT_EQ(wav.size(), 44U + 2 * 6'000);
  EXPECT_EQ(little(wav, 4), wav.size() - 8);
  EXPECT_EQ(little(wav, 40), 2U * 6'000);
  const std::string avi = bytes_of(*parse_medium("video", "5x3x7"), rng);
  EXPECT_THAT(avi, StartsWith("RIFF"));
  EXPECT_EQ(little(avi, 4), avi.size() - 8);
  std::size_t frames = 0;
  for (std::size_t at = avi.find("00db"); at != std::string::npos; at = avi.find("00db", at)) {
    EXPECT_EQ(little(avi, at + 4), 3U * 16) << "rows are whole words";
    at += 8 + 3 * 16;
    ++frames;
  }
  EXPECT_EQ(frames, 7U);
}

TEST(Media, what_is_no_size_is_refused) {
  for (const auto& [key, size] : {std::pair{"image", "512"},
                                  {"image", "0x5"},
                                  {"image", "5x5x5"},
                                  {"image", "16384x16384"},
                                  {"audio", "5"},
                                  {"audio", "2h"},
                                  {"video", "64x64"},
                                  {"video", "ax64x1"}}) {
    const auto read = parse_medium(key, size);
    ASSERT_FALSE(read) << key << size;
    EXPECT_THAT(read.error().message, HasSubstr(size));
  }
}

TEST(Media, a_class_has_its_own_and_a_kind_that_takes_files_gets_files) {
  SyntheticSpec spec;
  spec.count = 8;
  spec.classes = {*parse_class("small,image=8x8,isl=5"),
                  *parse_class("large,image=16x16,image=16x16,audio=10ms,isl=5")};
  const auto data = make_mix(spec, "");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(data->recipe, HasSubstr("image 16x16"));
  std::size_t seen = 0;
  for (std::uint32_t row = 0; row < 8; ++row) {
    const Sample sample = data->make_row(row);
    EXPECT_TRUE(sample.prompt.empty());
    const Json& parts = sample.content_parts;
    if (class_of(data->mix, row) == 0) {
      ASSERT_EQ(parts.size(), 2U);
    } else {
      ASSERT_EQ(parts.size(), 4U);
      EXPECT_EQ(parts[2]["input_audio"]["format"].as_string(), "wav");
      ++seen;
    }
    EXPECT_THAT(parts[0]["image_url"]["url"].as_string(), StartsWith("data:image/png;base64,"));
    EXPECT_EQ(parts[parts.size() - 1]["type"].as_string(), "text");
    EXPECT_EQ(data->make_row(row).content_parts, parts);
  }
  EXPECT_GT(seen, 0U);
  spec.file_columns = {"audio", "image"};
  const auto files = make_mix(spec, "");
  for (std::uint32_t row = 0; row < 8; ++row) {
    const Sample sample = files->make_row(row);
    EXPECT_FALSE(sample.prompt.empty());
    EXPECT_TRUE(sample.content_parts.is_null());
    EXPECT_EQ(sample.attachments.size(), class_of(files->mix, row) == 0 ? 1U : 3U);
  }
}

}  // namespace
}  // namespace assay::dataset
