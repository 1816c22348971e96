// The published generator's bytes, and requests as the published reader makes them.
#include "dataset/dlrm_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/testing_temp_folder.h"

namespace assay::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DlrmRecipe small_recipe() {
  return {.users = 6,
          .items = 1280,
          .files = 2,
          .steps = 10,
          .trained_steps = 8,
          .samples_of_item = 5,
          .candidates = 200};
}

std::vector<std::int64_t> integers(const Sample& sample, std::string_view name) {
  for (const Attachment& tensor : sample.attachments) {
    if (tensor.name != name) continue;
    std::vector<std::int64_t> out(tensor.bytes.size() / 8);
    std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
    EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{1, std::ssize(out)}));
    EXPECT_EQ(tensor.type, "INT64");
    return out;
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

// Digests of what streaming_synthetic_data.py writes for the same figures.
TEST(DlrmData, the_generators_files_are_the_published_ones_byte_for_byte) {
  const TempFolder folder;
  const auto done = write_dlrm_data(small_recipe(), folder.path());
  ASSERT_TRUE(done) << done.error().message;
  const std::map<std::string, std::string> published{
      {"0.csv", "fbb4b13673373300a253aca4359999e0c50dd7059eefe047cb6a45ac03b99288"},
      {"1.csv", "d5e2ece918f85fc796edd0045867d1a8d403708e51742939a8572ef59b5a359e"},
      {"offset.csv", "36744182b0f9f7206a12109dfa73cd2617385573cffac30491c40d9ed730df35"},
      {"requests_per_ts.csv", "98e3d3f82b5ccd1601584b45af52197f0406e53d796def3f933c2c34db1c2d66"},
      {"requests_per_ts_offset.csv",
       "be3539f9737d97c504151b1532b72470a056b8962fb06eb98e758e6fbda61d86"},
      {"users_cumsum_per_ts.csv",
       "2f881b4707105fc004917d54de24ffe8eff693d676af656f1c9ed385b2ad55df"},
  };
  for (const auto& [name, digest] : published) {
    const auto bytes = read_file(folder.path() / name);
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(sha256_hex(*bytes), digest) << name;
  }
  const auto again = write_dlrm_data(small_recipe(), folder.path());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("0.csv"));
}

TEST(DlrmData, requests_stand_in_the_order_of_their_steps) {
  const TempFolder folder;
  ASSERT_TRUE(write_dlrm_data(small_recipe(), folder.path()));
  const auto data = load_dlrm_data({.name = "d", .path = folder.path().string()});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(data->groups, ElementsAre(4U, 3U));
  std::size_t row = 0;
  for (std::size_t step = 0; step < data->groups.size(); ++step) {
    for (std::uint32_t i = 0; i < data->groups[step]; ++i, ++row) {
      const Sample& sample = data->samples.at(row);
      EXPECT_THAT(integers(sample, "ts_idx"), ElementsAre(step));
      EXPECT_THAT(integers(sample, "query_idx"), ElementsAre(i));
      EXPECT_EQ(integers(sample, "item_candidate_id").size(), 200U);
    }
  }
  EXPECT_EQ(row, data->samples.size());
  // Half of each step's six users; and the first file alone.
  const auto half = load_dlrm_data({.path = folder.path().string() + "#0.34"});
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->groups.size(), data->groups.size());
  EXPECT_LT(half->samples.size(), data->samples.size());
  std::filesystem::remove(folder.path() / "1.csv");
  const auto first = load_dlrm_data({.path = folder.path().string()});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_LT(first->samples.size(), data->samples.size());
  const auto all = load_dlrm_data({.path = folder.path().string() + "#1"});
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, HasSubstr("the files that are there have"));
}

// Blocks of base, one trained step, evaluation, two tested steps; the user sleeps in the trained
// one.
constexpr std::string_view kLine =
    "\"7,8\",\"1.0,2.0\",\"10,20,30\",\"4.5,1.0,3.4\","
    ",,,,"
    "\"1,2\",\"5.0,5.0\",\"1,2\",\"5.0,5.0\","
    "\"40,50\",\"3.5,3.4\",40,3.5,"
    "\"60,70\",\"2.0,5.0\",60,2.0\r\n";
constexpr DlrmShape kShape{.steps = 3, .trained_steps = 1, .items_of_category = 25};

TEST(DlrmRequest, the_history_is_what_came_before_without_the_evaluation) {
  const auto first = dlrm_request(kLine, kShape, 0, 42, 3);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(integers(*first, "user_id"), ElementsAre(42));
  EXPECT_THAT(integers(*first, "item_id"), ElementsAre(10, 20, 30));
  EXPECT_THAT(integers(*first, "item_rating"), ElementsAre(4, 1, 3));
  EXPECT_THAT(integers(*first, "item_weights"), ElementsAre(8, 1, 4));
  EXPECT_THAT(integers(*first, "item_category_id"), ElementsAre(0, 0, 1));
  EXPECT_THAT(integers(*first, "item_candidate_id"), ElementsAre(40, 50));
  EXPECT_THAT(integers(*first, "item_candidate_rating"), ElementsAre(3, 3));
  EXPECT_THAT(integers(*first, "item_action_weights"), ElementsAre(1, 0));
  EXPECT_THAT(integers(*first, "item_candidate_category_id"), ElementsAre(1, 2));
  const auto second = dlrm_request(kLine, kShape, 1, 42, 0);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_THAT(integers(*second, "item_id"), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(integers(*second, "item_candidate_id"), ElementsAre(60, 70));
}

TEST(DlrmRequest, a_line_of_another_form_is_refused_with_the_reason) {
  const auto why = [](std::string line) {
    const auto made = dlrm_request(line, kShape, 0, 1, 0);
    return made ? std::string("none") : made.error().message;
  };
  const std::string line(kLine);
  EXPECT_THAT(why(line + ",1"), HasSubstr("lists, where 3 steps have 20"));
  EXPECT_THAT(why("\"1,2"), HasSubstr("quote is not closed"));
  const auto changed = [&line](std::string_view from, std::string_view to) {
    std::string out = line;
    return out.replace(out.find(from), from.size(), to);
  };
  EXPECT_THAT(why(changed("10,20,30", "10,20")), HasSubstr("2 items have 3 ratings"));
  EXPECT_THAT(why(changed("10,20,30", "10,-2,30")), HasSubstr("item -2 is below 0"));
  EXPECT_THAT(why(changed("4.5,1.0", "0.5,1.0")), HasSubstr("ratings are 1 to 5"));
  EXPECT_THAT(why(changed("4.5,1.0", "nan,1.0")), HasSubstr("ratings are 1 to 5"));
  EXPECT_THAT(why(changed("40,50", "40,x")), HasSubstr("'x' is not a number"));
  EXPECT_THAT(why(changed("\"40,50\",\"3.5,3.4\"", ",")), HasSubstr("no candidates"));
}

TEST(DlrmData, figures_that_give_no_data_are_refused) {
  const TempFolder folder;
  const auto why = [&](DlrmRecipe recipe) {
    const auto done = write_dlrm_data(recipe, folder.path() / "x");
    return done ? std::string("none") : done.error().message;
  };
  DlrmRecipe recipe = small_recipe();
  recipe.items = 100;
  EXPECT_THAT(why(recipe), HasSubstr("items"));
  recipe = small_recipe();
  recipe.users = 1;
  EXPECT_THAT(why(recipe), HasSubstr("users"));
  recipe = small_recipe();
  recipe.trained_steps = 10;
  EXPECT_THAT(why(recipe), HasSubstr("none is left to test"));
  recipe = small_recipe();
  recipe.candidates = 40;  // a history has a hundred items
  EXPECT_THAT(why(recipe), HasSubstr("more candidates"));
}

}  // namespace
}  // namespace assay::dataset
