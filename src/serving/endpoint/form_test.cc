// Forms, and the sounds in them.
#include "endpoint/form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "endpoint/sound_ask.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

std::string form_part(std::string_view disposition, std::string_view value) {
  return "--b\r\nContent-Disposition: form-data; " + std::string(disposition) + "\r\n\r\n" +
         std::string(value) + "\r\n";
}

TEST(Form, parts_have_names_files_and_values_as_they_are) {
  const std::string body =
      form_part("name=\"model\"", "m") +
      form_part("name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav", "x\r\n--c\r\n") +
      "--b--\r\n";
  std::vector<FormPart> parts;
  ASSERT_TRUE(read_form(body, "b", parts));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "model");
  EXPECT_FALSE(parts[0].is_file);
  EXPECT_EQ(parts[1].file, "a.wav");
  EXPECT_EQ(parts[1].value, "x\r\n--c\r\n");
}

TEST(Form, a_cut_form_is_none) {
  const std::string body = form_part("name=\"model\"", "m") + "--b--\r\n";
  for (std::size_t bytes = 0; bytes + 4 < body.size(); ++bytes) {
    std::vector<FormPart> parts;
    EXPECT_FALSE(read_form(std::string_view(body).substr(0, bytes), "b", parts)) << bytes;
  }
  std::vector<FormPart> parts;
  EXPECT_FALSE(read_form(body, "", parts));
  EXPECT_FALSE(read_form(body, "c", parts));
}

TEST(Form, the_boundary_stands_in_the_content_type) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(boundary_of("Multipart/Form-Data; charset=utf-8; boundary=\"a b\""), "a b");
  EXPECT_EQ(boundary_of("multipart/form-data"), "");
  EXPECT_EQ(boundary_of("application/json; boundary=abc"), "");
}

std::string sound_trouble(const std::string& parts, Ask* out = nullptr) {
  Ask ask;
  ask.boundary = "b";
  const auto read = read_sound_ask(Route::transcriptions, parts + "--b--\r\n", ask);
  if (out != nullptr) *out = ask;
  const auto* const error = std::get_if<ApiError>(&read);
  return error == nullptr ? "" : error->message;
}

TEST(SoundAsk, a_file_is_asked_and_its_size_is_the_prompt) {
  Ask ask;
  const std::string file = form_part("name=\"file\"; filename=\"a.wav\"", std::string(6400, 'x'));
  EXPECT_EQ(
      sound_trouble(form_part("name=\"model\"", "m") + form_part("name=\"stream\"", "true") + file,
                    &ask),
      "");
  EXPECT_EQ(ask.model, "m");
  EXPECT_TRUE(ask.stream);
  EXPECT_EQ(ask.prompt_tokens, 10U);
  EXPECT_THAT(sound_trouble(form_part("name=\"model\"", "m")), HasSubstr("file: is required"));
  EXPECT_THAT(sound_trouble(form_part("name=\"file\"", "text")), HasSubstr("must be a file"));
  EXPECT_THAT(sound_trouble(form_part("name=\"stream\"", "True") + file), HasSubstr("stream"));
  EXPECT_THAT(sound_trouble(form_part("name=\"response_format\"", "srt") + file),
              HasSubstr("json and verbose_json"));
}

}  // namespace
}  // namespace assay::endpoint
