#include "score/accuracy_log.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "score/picture/nifti.h"
#include "score/score_log.h"

namespace assay::score {
namespace {

template <typename T>
std::string packed(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// As LoadGen writes it: an entry a line, upper-case hex.
std::string log_of(const std::vector<std::pair<int, std::string>>& replies) {
  std::string out = "[";
  int number = 0;
  for (const auto& [sample, bytes] : replies) {
    out += format("{}\n{{ \"seq_id\" : {}, \"qsl_idx\" : {}, \"data\" : \"", number > 0 ? "," : "",
                  number, sample);
    for (const char c : bytes) out += format("{:02X}", static_cast<unsigned char>(c));
    out += "\" }";
    ++number;
  }
  return out + "\n]\n";
}

// Whole words, one id each: "w0" to "w9".
std::unique_ptr<const text::Tokenizer> words() {
  std::string vocabulary;
  for (int i = 0; i < 10; ++i) vocabulary += format("{}\"w{}\": {}", i > 0 ? ", " : "", i, i);
  auto made = text::parse_tokenizer_json(
      "{\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"model\": {\"type\": \"WordLevel\", "
      "\"unk_token\": \"w0\", \"vocab\": {" +
          vocabulary + "}}}",
      "test");
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

Json scored(const char* workload, const std::string& log, const std::vector<Json>& truths,
            const text::Tokenizer* tokenizer = nullptr) {
  const LogScoring how{.workload = find_logged_workload(workload),
                       .truths = truths.empty() ? nullptr : &truths,
                       .tokenizer = tokenizer};
  const auto out = score_log(log, how);
  EXPECT_TRUE(out) << out.error().message;
  return out ? *out : Json();
}

Json truth_of(const char* json) { return *Json::parse(json); }

TEST(AccuracyLog, entries_are_read_as_loadgen_writes_them) {
  const std::string text =
      "[\n{ \"seq_id\" : 0, \"qsl_idx\" : 7, \"data\" : \"00FFa1\" },\n"
      "{ \"seq_id\" : 1, \"qsl_idx\" : 3, \"data\" : \"\", \"token_data\" : \"01\", "
      "\"token_count\" : 4 }\n]\n";
  const auto log = read_accuracy_log(text);
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ(log->size(), 2U);
  EXPECT_EQ((*log)[0].sample, 7U);
  EXPECT_EQ((*log)[0].bytes, std::string("\x00\xff\xa1", 3));
  EXPECT_EQ((*log)[1].sample, 3U);
  EXPECT_TRUE((*log)[1].bytes.empty());
  // Another program's layout of the same list.
  const auto flat = read_accuracy_log(R"([{"qsl_idx":7,"data":"00ffA1"},{"qsl_idx":3,"data":""}])");
  ASSERT_TRUE(flat);
  EXPECT_EQ((*flat)[0].bytes, (*log)[0].bytes);
  EXPECT_EQ(flat->size(), 2U);
  EXPECT_TRUE(read_accuracy_log("[\n]\n")->empty());
}

TEST(AccuracyLog, what_is_no_whole_log_is_refused) {
  const std::string whole = log_of({{0, "ab"}, {1, "cd"}});
  const auto refused = [](const std::string& text) {
    const auto read = read_accuracy_log(text);
    return read ? std::string() : read.error().message;
  };
  EXPECT_NE(refused(whole.substr(0, whole.size() - 3)).find("ends early"), std::string::npos);
  EXPECT_NE(refused("{}").find("begins with '['"), std::string::npos);
  EXPECT_NE(refused("[{\"qsl_idx\": 0, \"data\": \"0\"}]").find("entry 0"), std::string::npos);
  EXPECT_NE(refused("[{\"qsl_idx\": 0, \"data\": \"0g\"}]").find("hex"), std::string::npos);
  EXPECT_NE(refused("[{\"qsl_idx\": -1, \"data\": \"\"}]").find("qsl_idx"), std::string::npos);
  EXPECT_NE(refused("[{\"data\": \"\"}]").find("qsl_idx"), std::string::npos);
  EXPECT_NE(refused("[{\"qsl_idx\": 0}]").find("data"), std::string::npos);
}

TEST(AccuracyLog, token_ids_of_either_width_are_the_same_text) {
  const auto tokenizer = words();
  const std::vector<Json> truths = {truth_of(R"({"output": "w1 w2 w3"})"),
                                    truth_of(R"({"output": "w4 w5"})")};
  const std::string narrow =
      log_of({{1, packed<std::int32_t>({4, 5})}, {0, packed<std::int32_t>({1, 2, 9, 3})}});
  const std::string wide =
      log_of({{1, packed<std::int64_t>({4, 5})}, {0, packed<std::int64_t>({1, 2, 9, 3})}});
  const Json a = scored("llama2-70b", narrow, truths, tokenizer.get());
  const Json b = scored("llama2-70b", wide, truths, tokenizer.get());
  EXPECT_EQ(a["payload"].as_string(), "tokens, 4 bytes each");
  EXPECT_EQ(b["payload"].as_string(), "tokens, 8 bytes each");
  EXPECT_EQ(a["score"], b["score"]);
  // ROUGE-1: 3 of 3 words recalled, 3 of 4 precise: 6 / 7; and 1. The mean, x 100.
  EXPECT_EQ(a["score"]["rouge1"].as_string(), "92.8571");
  EXPECT_EQ(a["score"]["gen_tok_len"].as_int(), 6);
  EXPECT_EQ(a["uncertainty"]["rouge1"]["samples"].as_int(), 2);
}

// A NIfTI-1 file of bytes, x the fastest.
std::string nifti(std::array<std::int16_t, 3> size, const std::string& classes) {
  std::string out(352, '\0');
  const auto put = [&out](std::size_t at, auto value) {
    std::memcpy(out.data() + at, &value, sizeof value);
  };
  put(0, std::int32_t{348});
  put(40, std::int16_t{3});
  for (std::size_t i = 0; i < 3; ++i) put(42 + 2 * i, size[i]);
  put(70, std::int16_t{2});
  put(72, std::int16_t{8});
  put(108, 352.0F);
  put(112, 1.0F);
  std::memcpy(out.data() + 344, "n+1", 3);
  return out + classes;
}

TEST(AccuracyLog, a_volume_is_judged_by_dice_whatever_its_width) {
  const TempFolder folder;
  // Two voxels along x, two along y, one along z: the file's order is x first, a payload's z first.
  ASSERT_TRUE(write_file_atomic(folder.path() / "a.nii", nifti({2, 2, 1}, {1, 2, 1, 0})));
  std::vector<Json> truths = {Json().set("segmentation", (folder.path() / "a.nii").string())};
  const auto judged_as = [&truths](const std::string& bytes) {
    return scored("3d-unet", log_of({{0, bytes}}), truths)["score"];
  };
  // (x, y): (0,0) 1, (0,1) 1, (1,0) 2, (1,1) 0.
  EXPECT_NEAR(judged_as({1, 1, 2, 0})["mean_dice"].as_double(), 1, 1e-9);
  EXPECT_NEAR(judged_as(packed<float>({1, 1, 2, 0}))["mean_dice"].as_double(), 1, 1e-9);
  EXPECT_NEAR(judged_as(packed<std::int64_t>({1, 1, 2, 0}))["tumor"].as_double(), 1, 1e-9);
  const Json half = judged_as({1, 0, 2, 2});
  EXPECT_NEAR(half["kidney"].as_double(), 2.0 / 3, 1e-6);  // one of two, none too many
  EXPECT_NEAR(half["tumor"].as_double(), 2.0 / 3, 1e-6);   // one of one, one too many
  const LogScoring how{.workload = find_logged_workload("3d-unet"), .truths = &truths};
  const auto refused = [&how](const std::string& bytes) {
    const auto out = score_log(log_of({{0, bytes}}), how);
    return out ? std::string() : out.error().message;
  };
  EXPECT_NE(refused({1, 1, 2}).find("2 × 2 × 1 voxels"), std::string::npos);
  EXPECT_NE(refused({1, 1, 2, 7}).find("voxel 3 is not a class"), std::string::npos);
  truths[0].set("segmentation", (folder.path() / "none.nii").string());
  EXPECT_NE(refused({1, 1, 2, 0}).find("none.nii"), std::string::npos);
}

TEST(AccuracyLog, a_file_that_is_no_nifti_is_refused) {
  const std::string whole = nifti({2, 2, 1}, {1, 2, 1, 0});
  EXPECT_TRUE(parse_nifti(whole));
  EXPECT_FALSE(parse_nifti(whole.substr(0, whole.size() - 1)));
  EXPECT_FALSE(parse_nifti(whole.substr(0, 300)));
  EXPECT_FALSE(parse_nifti(nifti({-1, 2, 1}, "")));
  EXPECT_FALSE(parse_nifti(nifti({32000, 32000, 32000}, "")));
  std::string other = whole;
  other[70] = 32;  // complex numbers
  EXPECT_FALSE(parse_nifti(other));
}

TEST(AccuracyLog, an_id_that_the_tokenizer_does_not_have_is_an_error) {
  const auto tokenizer = words();
  const std::vector<Json> truths = {truth_of(R"({"output": "w1"})")};
  const LogScoring how{.workload = find_logged_workload("llama3.1-8b"),
                       .truths = &truths,
                       .tokenizer = tokenizer.get()};
  const auto beyond = score_log(log_of({{0, packed<std::int32_t>({1, 10})}}), how);
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("token id 10 is not the tokenizer's"), std::string::npos);
  const auto odd = score_log(log_of({{0, "abc"}}), how);
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("not a whole number"), std::string::npos);
  const auto row = score_log(log_of({{1, packed<std::int32_t>({1})}}), how);
  ASSERT_FALSE(row);
  EXPECT_NE(row.error().message.find("sample 1: the dataset has 1 rows"), std::string::npos);
}

TEST(AccuracyLog, labels_of_every_type_are_the_same_label) {
  const std::vector<Json> truths(6, truth_of(R"({"label": 65})"));
  const Json all = scored("resnet50",
                          log_of({{0, packed<float>({65})},
                                  {1, packed<std::int32_t>({65})},
                                  {2, packed<std::int64_t>({65})},
                                  {3, packed<float>({65, 3, 1})},
                                  {4, packed<std::int64_t>({66})},
                                  {0, packed<std::int64_t>({1})}}),
                          truths);
  EXPECT_EQ(all["score"].as_double(), 80);
  EXPECT_EQ(all["duplicates"].as_int(), 1) << "the first entry of a sample counts";
  EXPECT_EQ(all["entries"].as_int(), 6);
  EXPECT_NE(all["note"].as_string().find("1 of the dataset's 6 rows"), std::string_view::npos);
}

TEST(AccuracyLog, letters_of_every_width_are_the_same_words) {
  const std::vector<Json> truths = {truth_of(R"({"transcript": "a cab"})")};
  const auto word_accuracy = [&](const std::string& bytes) {
    return scored("whisper", log_of({{0, bytes}}), truths)["score"]["word_accuracy"].as_double();
  };
  EXPECT_EQ(word_accuracy(packed<std::int8_t>({1, 0, 3, 1, 2})), 100);
  EXPECT_EQ(word_accuracy(packed<std::int16_t>({1, 0, 3, 1, 2})), 100);
  EXPECT_EQ(word_accuracy(packed<std::int32_t>({1, 0, 3, 1, 2})), 100);
  EXPECT_EQ(word_accuracy(packed<std::int64_t>({1, 0, 3, 1, 2})), 100);
  EXPECT_EQ(word_accuracy(packed<std::int64_t>({1, 0, 3, 1, 1})), 50);
  const LogScoring how{.workload = find_logged_workload("whisper"), .truths = &truths};
  EXPECT_FALSE(score_log(log_of({{0, "\x7f"}}), how)) << "no letter";
}

TEST(AccuracyLog, a_recommendation_and_a_text_are_read) {
  const std::vector<float> request = {0, 0, 0.9F, 0.2F, 1, 0, 1, 1, 2};
  const Json dlrm = scored("dlrm-v3", log_of({{0, packed(request)}}), {});
  EXPECT_EQ(dlrm["score"]["accuracy"].as_double(), 1);
  const std::vector<Json> truths = {truth_of(R"({"ground_truth_category": "A > B"})")};
  const Json text = scored(
      "qwen3-vl-235b-a22b",
      log_of({{0, R"({"category": "A > B", "brand": "x", "is_secondhand": false})"}}), truths);
  EXPECT_EQ(text["score"].as_double(), 1);
}

TEST(AccuracyLog, a_nodes_label_may_be_of_any_width) {
  const std::vector<Json> truths = {truth_of(R"({"label": 7})"), truth_of(R"({"label": 200})")};
  const auto right = [&](const std::string& first, const std::string& second) {
    return scored("rgat", log_of({{0, first}, {1, second}, {0, second}}), truths)["score"]
        .as_double();
  };
  EXPECT_EQ(right(packed<std::uint8_t>({7}), packed<std::uint8_t>({200})), 100);
  EXPECT_EQ(right(packed<std::int32_t>({7}), packed<std::int32_t>({200})), 100);
  EXPECT_EQ(right(packed<std::int64_t>({7}), packed<std::int64_t>({200})), 100);
  EXPECT_EQ(right(packed<float>({7}), packed<float>({200})), 100);
  EXPECT_EQ(right(packed<std::uint8_t>({8}), packed<std::uint8_t>({200})), 50);
}

TEST(AccuracyLog, clicks_are_read_with_their_labels_or_beside_them) {
  const Json pairs = scored("dlrm-v2",
                            log_of({{0, packed<float>({0.9F, 1, 0.2F, 0})},
                                    {1, packed<float>({0.2F, 1, 0.6F, 0})},
                                    {1, packed<float>({1, 1, 0, 0})}}),
                            {});
  // Two of the four pairs of a click and another are in order, and one is a tie.
  EXPECT_NEAR(pairs["score"]["auc_percent"].as_double(), 62.5, 1e-9);
  EXPECT_EQ(pairs["score"]["accuracy"].as_double(), 50);
  EXPECT_EQ(pairs["duplicates"].as_int(), 1);
  const std::vector<Json> truths = {truth_of(R"({"label": [1, 0]})"),
                                    truth_of(R"({"label": [1, 0]})")};
  const Json alone =
      scored("dlrm-v2",
             log_of({{1, packed<float>({0.2F, 0.6F})}, {0, packed<float>({0.9F, 0.2F})}}), truths);
  EXPECT_EQ(alone["score"], pairs["score"]);
  const LogScoring how{.workload = find_logged_workload("dlrm-v2")};
  EXPECT_FALSE(score_log(log_of({{0, packed<float>({0.5F, 1, 1})}}), how)) << "no pairs";
  EXPECT_FALSE(score_log(log_of({{0, packed<float>({0.5F, 2})}}), how)) << "no label";
  EXPECT_FALSE(score_log(log_of({{0, packed<float>({0.5F, 1})}}), how)) << "one class";
}

TEST(AccuracyLog, boxes_in_space_are_read_by_the_frame_that_they_name) {
  const std::vector<Json> truths = {
      truth_of(R"({"image": {"image_idx": 70}, "annos": {"name": ["Car"], "location": [[1, 2, 3]],
                   "dimensions": [[4, 1, 2]], "rotation_y": [0.3], "difficulty": [0]}})"),
      truth_of(R"({"image": {"image_idx": 71}, "annos": {"name": [], "location": [],
                   "dimensions": [], "rotation_y": [], "difficulty": []}})")};
  std::vector<float> car = {4, 1, 2, 1, 2, 3, 0.3F, 0, 0, 9, 9, 2, 0.5F, 70};
  std::vector<float> none(14, -1);
  none[13] = 71;
  const auto log = [&] { return log_of({{0, packed(car)}, {1, packed(none)}}); };
  const Json score = scored("pointpainting", log(), truths)["score"];
  EXPECT_NEAR(score["Car"].as_double(), 100.0 / 11, 1e-9);
  EXPECT_NEAR(score["waymo_map"].as_double(), 1.0 / 33, 1e-9);
  const auto refused = [&] {
    const LogScoring how{.workload = find_logged_workload("pointpainting"), .truths = &truths};
    const auto out = score_log(log(), how);
    return out ? std::string() : out.error().message;
  };
  none[13] = 70;
  EXPECT_NE(refused().find("no reply names frame 71"), std::string::npos);
  none[13] = 71;
  car[11] = 3;
  EXPECT_NE(refused().find("class 3"), std::string::npos);
  car.pop_back();
  EXPECT_NE(refused().find("14"), std::string::npos);
}

TEST(AccuracyLog, logits_are_judged_by_question) {
  const auto made = text::parse_word_pieces("[UNK]\n[CLS]\n[SEP]\nis\nred\nit\n", "vocab.txt");
  ASSERT_TRUE(made);
  const std::vector<Json> truths = {truth_of(
      R"({"data": [{"paragraphs": [{"context": "It is Red", "qas": [
          {"id": "a", "question": "is it", "answers": [{"text": "the red"}]},
          {"id": "b", "question": "it", "answers": [{"text": "blue"}]}]}]}]})")};
  // [CLS] is it [SEP] It is Red [SEP]: the answer is the seventh token.
  std::vector<float> red(16, -5);
  red[12] = red[13] = 5;
  const Json out = scored("bert-99", log_of({{0, packed(red)}}), truths, made->get());
  EXPECT_EQ(out["score"]["exact_match"].as_double(), 50);
  EXPECT_EQ(out["score"]["f1"].as_double(), 50);
  EXPECT_NE(out["note"].as_string().find("1 of the dataset's 2 features"), std::string_view::npos);
}

TEST(AccuracyLog, a_database_is_proven_by_its_md5) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "db", "abc"));
  const std::string md5 = "900150983cd24fb0d6963f7d28e17f72";
  LogScoring how{.workload = find_logged_workload("e2e-rag-db")};
  how.score.extra.set("database", (folder.path() / "db").string());
  const auto accuracy = [&how](const std::string& last) {
    const auto out = score_log(
        log_of({{0, "\1"}, {1, std::string(1, '\0')}, {2, "\1"}, {1, "\1"}, {3, last}}), how);
    EXPECT_TRUE(out) << out.error().message;
    return out ? (*out)["score"]["rag_accuracy"].as_double(-1) : -2;
  };
  EXPECT_EQ(accuracy(md5), 100) << "the last reply to a document counts";
  std::string other = md5;
  other[0] = '8';
  EXPECT_EQ(accuracy(other), 0);
  EXPECT_EQ(accuracy("\1"), -1) << "no database was saved";
  how.score.extra.set("database", (folder.path() / "none").string());
  EXPECT_FALSE(score_log(log_of({{0, md5}}), how));
}

TEST(AccuracyLog, every_workload_of_the_table_has_its_scorer) {
  for (const LoggedWorkload& one : kLoggedWorkloads) {
    EXPECT_FALSE(scorer_about(one.scorer).empty()) << one.workload;
    EXPECT_EQ(find_logged_workload(one.workload), &one);
  }
  EXPECT_EQ(find_logged_workload("stable-diffusion-xl"), nullptr);
}

}  // namespace
}  // namespace assay::score
