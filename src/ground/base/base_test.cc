#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/has_word.h"
#include "base/hash.h"
#include "base/histogram.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/testing_temp_folder.h"
#include "base/text.h"

namespace assay {
namespace {

TEST(Json, writes_doubles_as_python_does) {
  EXPECT_EQ(json_number(1.0), "1.0");
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(1e15), "1000000000000000.0");
  EXPECT_EQ(json_number(1e16), "1e+16");
  EXPECT_EQ(json_number(3.1e18), "3.1e+18");
  EXPECT_EQ(json_number(0.0001), "0.0001");
  EXPECT_EQ(json_number(0.00001), "1e-05");
  EXPECT_EQ(json_number(-0.0), "-0.0");
  EXPECT_EQ(json_number(std::nan("")), "null");
}

TEST(Json, keeps_order_and_64_bit_integers) {
  const auto json =
      Json::parse(R"({"b":18446744073709551615,"a":-9223372036854775808,"c":[1,2.5]})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->dump(), R"({"b":18446744073709551615,"a":-9223372036854775808,"c":[1,2.5]})");
  EXPECT_EQ((*json)["b"].as_uint(), 18446744073709551615U);
  EXPECT_EQ((*json)["missing"]["deeper"][3].as_int(7), 7);
}

// Hugging Face's int(1e30), and the first integers beyond each type.
TEST(Json, an_integer_beyond_64_bits_keeps_its_digits_and_is_counted_as_a_double) {
  for (const auto& [digits, near] :
       {std::pair{std::string("1000000000000000019884624838656"), 1e30},
        std::pair{std::string("18446744073709551616"), 18446744073709551616.0},
        std::pair{std::string("-9223372036854775809"), -9223372036854775808.0},
        std::pair{"7" + std::string(300, '0'), 7e300}}) {
    const auto json =
        Json::parse(R"({"1":[2,")" + digits + R"(\"",)" + digits + R"(,-3.5],"z":4})");
    ASSERT_TRUE(json) << digits << json.error().message;
    EXPECT_EQ(json->dump(), R"({"1":[2,")" + digits + R"(\"",)" + digits + R"(,-3.5],"z":4})");
    EXPECT_EQ(*json, *Json::parse(json->dump()));
    const Json& number = (*json)["1"][2];
    EXPECT_TRUE(number.is_number() && !number.is_integer());
    EXPECT_EQ(number.as_double(), near);
    EXPECT_EQ(number.as_uint(7), 7U);
    EXPECT_EQ((*json)["1"][1].as_string(), digits + "\"") << "a text is left alone";
    EXPECT_EQ((*json)["1"][3].as_double(), -3.5);
    EXPECT_EQ((*json)["z"].as_int(), 4);
    EXPECT_EQ(Json::parse(digits)->as_double(), near);
  }
  EXPECT_TRUE(Json::parse("18446744073709551615")->is_integer());
  EXPECT_TRUE(Json::parse("-9223372036854775808")->is_integer());
}

TEST(Json, a_large_integer_excuses_nothing_else) {
  const std::string big(30, '9');
  for (const std::string& text :
       {"0" + big, "-0" + big, "+" + big, big + "x", big + " 1", "[" + big + ",]", "[" + big,
        "{" + big + ":1}", "{" + big + " :1}", "--" + big, big + "-1", "[" + big + ", 01]",
        "[" + big + ", 1e999]", "[" + big + ", .5]", "\"" + big, std::string(5000, '9')}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
}

// Integers of every length, between others and in texts with quotes, compared with strtod.
TEST(Json, integers_of_any_length_are_read_between_whatever_stands_beside_them) {
  Rng rng(13);
  for (int round = 0; round < 300; ++round) {
    std::string text = "[";
    std::vector<std::string> numbers;
    for (std::uint64_t i = 0, items = 1 + rng.next() % 12; i < items; ++i) {
      std::string digits = rng.next() % 3 == 0 ? "-" : "";
      digits += static_cast<char>('1' + rng.next() % 9);
      for (auto more = rng.next() % 40; more > 0; --more) {
        digits += static_cast<char>('0' + rng.next() % 10);
      }
      text += i > 0 ? "," : "";
      text += "\"" + digits + "\\\"\\\\\",{\"" + digits + "\":true}," + digits;
      numbers.push_back(std::move(digits));
    }
    const auto json = Json::parse(text + "]");
    ASSERT_TRUE(json) << text;
    ASSERT_EQ(json->size(), 3 * numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ((*json)[3 * i].as_string(), numbers[i] + "\"\\") << "round " << round;
      EXPECT_EQ((*json)[3 * i + 1].members().front().first, numbers[i]);
      EXPECT_EQ((*json)[3 * i + 2].as_double(), std::strtod(numbers[i].c_str(), nullptr));
    }
    EXPECT_EQ(*Json::parse(json->dump(2)), *json);
  }
}

TEST(Json, minus_one_is_minus_one) { EXPECT_EQ(Json(-1).dump(), "-1"); }

TEST(Json, the_last_of_repeated_keys_wins) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":3})")->dump(), R"({"a":3,"b":2})");
}

TEST(Json, refuses_what_is_not_json) {
  EXPECT_FALSE(Json::parse({}));
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":}", "1 2", "\"\xff\""}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
}

TEST(Json, quotes_control_characters_and_broken_utf8) {
  EXPECT_EQ(json_quote("a\"\\\n\x01\xff\xc3\xa9"), "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xc3\xa9\"");
}

TEST(Json, a_quoted_text_is_its_pieces_quoted_one_by_one) {
  // The last is no UTF-8, whatever stands beside it.
  const std::vector<std::string> pieces{
      "a", " ", "~", "\"", "\\", "\n", "\x01", "\x7f", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xff"};
  Rng rng(7);
  for (int turn = 0; turn < 2000; ++turn) {
    std::string text;
    std::string quoted = "\"";
    for (auto left = rng.below(12); left > 0; --left) {
      const std::string& piece = pieces[rng.below(pieces.size())];
      text += piece;
      const std::string alone = json_quote(piece);
      quoted += alone.substr(1, alone.size() - 2);
    }
    ASSERT_EQ(json_quote(text), quoted + "\"") << "turn " << turn;
  }
}

TEST(Json, pretty_is_pythons_indent) {
  Json json;
  json.set("a", 1).set("b", Json::array()).set("c", Json().push_back(1).push_back("x"));
  EXPECT_EQ(json.dump(2), "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": [\n    1,\n    \"x\"\n  ]\n}");
}

TEST(Text, durations_read_and_print) {
  EXPECT_EQ(parse_duration("50ms", 1_s)->ns, 50'000'000);
  EXPECT_EQ(parse_duration("1.5m", 1_s)->ns, 90'000'000'000);
  EXPECT_EQ(parse_duration("10", 1_ms)->ns, 10'000'000);
  EXPECT_EQ(parse_duration("0", 1_ms)->ns, 0);
  for (const char* bad : {"", "ms", "-1s", "1x", "1e400s", "nan", "inf"}) {
    EXPECT_FALSE(parse_duration(bad, 1_s)) << bad;
  }
  EXPECT_EQ(human_duration(9'810_us), "9.81 ms");
  EXPECT_EQ(human_duration(412_ms), "412 ms");
  EXPECT_EQ(human_duration(1'210_ms), "1.21 s");
  EXPECT_EQ(human_duration(Duration{31'000}), "31.0 µs");
}

TEST(Text, numbers_for_people) {
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(counted(0, "record"), "0 records");
  EXPECT_EQ(counted(1, "record"), "1 record");
  EXPECT_EQ(counted(1200, "query", "queries"), "1,200 queries");
  EXPECT_EQ(counted(1, "reply was", "replies were"), "1 reply was");
  EXPECT_EQ(p_text(0.0001), "p = 0.0001");
  EXPECT_EQ(p_text(0.00001), "p < 0.0001");
  EXPECT_EQ(three_digits(9932), "9,932");
  EXPECT_EQ(three_digits(46.94), "46.9");
  EXPECT_EQ(three_digits(99.96), "100");
  EXPECT_EQ(three_digits(0.5131), "0.513");
  EXPECT_EQ(three_digits(0.08326), "0.0833");
  EXPECT_EQ(three_digits(0.0061042), "0.00610");
  EXPECT_EQ(three_digits(0.00001234), "1.23e-05");
}

TEST(Text, nearest_finds_the_slip_and_not_the_stranger) {
  const std::vector<std::string_view> words{"concurrency", "poisson", "max_throughput"};
  EXPECT_EQ(nearest("concurency", words), "concurrency");
  EXPECT_EQ(nearest("Poison", words), "poisson");
  EXPECT_EQ(nearest("banana", words), "");
}

TEST(HasWord, a_word_is_not_found_inside_a_longer_one) {
  EXPECT_TRUE(has_word("first 100 prompts", "prompts", ""));
  EXPECT_TRUE(has_word("prompts", "prompts", ""));
  EXPECT_FALSE(has_word("myprompts prompts2", "prompts", ""));
  EXPECT_TRUE(has_word("myprompts, prompts", "prompts", "")) << "the second of two";
  EXPECT_TRUE(has_word("my_prompts", "prompts", ""));
  EXPECT_FALSE(has_word("my_prompts prompts-2 Xprompts", "prompts", "_-"));
  EXPECT_TRUE(has_word("[prompts]`prompts{", "prompts", "_"));
  EXPECT_FALSE(has_word("prompts", "", ""));
}

TEST(Text, any_text_has_a_plain_id_of_its_own) {
  EXPECT_EQ(plain_id_from("Org-2026.1_b"), "Org-2026.1_b");
  std::set<std::string> ids;
  const std::vector<std::string> names{"My submission",
                                       "My-submission.",
                                       "My  submission",
                                       "../../etc",
                                       "..",
                                       "提交",
                                       "a/b",
                                       "a\\b",
                                       ".hidden",
                                       "",
                                       "a..b",
                                       std::string(500, 'x'),
                                       "é",
                                       "\xff\n",
                                       "-"};
  for (const std::string& name : names) {
    const std::string id = plain_id_from(name);
    EXPECT_TRUE(is_plain_id(id)) << name << " -> " << id;
    EXPECT_EQ(id, plain_id_from(name));
    EXPECT_EQ(id, plain_id_from(id));
    EXPECT_TRUE(ids.insert(id).second) << name << " -> " << id;
  }
  EXPECT_TRUE(plain_id_from("My submission").starts_with("My-submission-"));
  EXPECT_TRUE(plain_id_from("提交").starts_with("submission-"));
}

TEST(Text, utf8_follows_the_table) {
  EXPECT_TRUE(valid_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xc3", "\xf0\x9f\x98"}) {
    EXPECT_FALSE(valid_utf8(bad));
  }
}

TEST(Histogram, agrees_with_a_full_sort_to_within_a_bucket) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    std::vector<double> values;
    const auto histogram = std::make_unique<Histogram>();
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<std::uint64_t>(std::exp(rng.uniform() * 30));
      values.push_back(static_cast<double>(value));
      histogram->record(value);
    }
    std::sort(values.begin(), values.end());
    for (const double p : {1.0, 50.0, 90.0, 99.0, 99.9}) {
      const double exact = values[static_cast<std::size_t>(std::ceil(p / 100 * 2000)) - 1];
      EXPECT_NEAR(histogram->percentile(p), exact, exact * 0.008 + 1) << "seed " << seed;
    }
  }
}

TEST(Histogram, holds_the_ends_of_the_range) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{255}, std::uint64_t{256},
                                    std::numeric_limits<std::uint64_t>::max()}) {
    const std::size_t i = Histogram::index(value);
    ASSERT_LT(i, Histogram::kBuckets);
    EXPECT_LE(Histogram::lowest(i), value);
  }
}

TEST(Rng, below_is_even) {
  Rng rng(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[rng.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(Hash, sha256_of_the_empty_string) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Hash, sha1_of_known_texts) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(Hash, sha256_does_not_depend_on_how_the_bytes_are_cut) {
  Sha256 pieces;
  pieces.add("ab");
  pieces.add("");
  pieces.add("c");
  EXPECT_EQ(pieces.finish(), sha256_hex("abc"));
}

TEST(Files, a_missing_file_is_named) {
  const auto result = read_file("no/such/file");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::not_found);
  EXPECT_NE(result.error().message.find("no/such/file"), std::string::npos);
}

// As root, a rename could replace even /dev/null with a plain file.
TEST(Files, a_device_or_a_pipe_is_written_to_and_never_replaced) {
  for (const char* path : {"/dev/null", "/dev/full"}) {
    const auto place = write_place(path);
    ASSERT_TRUE(place);
    EXPECT_TRUE(place->in_place) << path;
  }
  EXPECT_TRUE(write_file_atomic("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const auto full = write_file_atomic("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::exhausted);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(Files, an_open_file_is_written_to_by_its_number_and_a_file_in_shared_memory_is_replaced) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "file", "old"));
  const int fd = ::open((folder.path() / "file").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  for (const char* const below : {"/dev/fd", "/proc/self/fd"}) {
    const auto place = write_place(format("{}/{}", below, fd));
    ASSERT_TRUE(place);
    EXPECT_TRUE(place->in_place) << below;
  }
  ::close(fd);
  std::string name = "/dev/shm/assay-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::filesystem::path file = std::filesystem::path(name) / "file";
  EXPECT_TRUE(write_file_atomic(file, "longer"));
  EXPECT_TRUE(write_file_atomic(file, "new"));
  EXPECT_EQ(*read_file(file), "new");
  std::filesystem::remove_all(name);
}

TEST(Files, of_a_link_what_it_points_at_is_replaced) {
  const TempFolder folder;
  const auto file = folder.path() / "file";
  const auto link = folder.path() / "link";
  ASSERT_TRUE(write_file_atomic(file, "old"));
  std::filesystem::create_symlink(file, link);
  ASSERT_TRUE(write_file_atomic(link, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(*read_file(file), "new");
}

TEST(Files, a_folder_is_no_file_and_a_failure_leaves_nothing_beside) {
  const TempFolder folder;
  const auto inner = folder.path() / "inner";
  std::filesystem::create_directory(inner);
  const auto written = write_file_atomic(inner, "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::invalid);
  EXPECT_FALSE(write_file_atomic("", "x"));
  using Entries = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Entries(folder.path()), Entries()), 1);
}

TEST(Files, a_secret_is_its_owners_from_the_first_byte) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "key", "x", 0600));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder.path() / "key").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST(Instant, arithmetic_saturates_at_for_ever) {
  EXPECT_EQ(Instant{5} + Duration::max(), Instant::max());
  EXPECT_EQ(Instant::max() + 1_s, Instant::max());
}

TEST(SimClock, moves_only_forward) {
  SimClock clock;
  clock.sleep_until(Instant{50});
  clock.sleep_until(Instant{20});
  EXPECT_EQ(clock.now(), Instant{50});
}

}  // namespace
}  // namespace assay
