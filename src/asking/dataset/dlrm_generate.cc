// The draws stand in the order of the published program: two generators are used in turns, and one
// draw more or less changes all that follows.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/numpy_random.h"
#include "base/python_random.h"
#include "dataset/dlrm_data.h"

namespace assay::dataset {
namespace {

constexpr std::array kItemShares{0.2, 0.25, 0.25, 0.2, 0.1};  // of items rated 5, 4, 3, 2, 1
constexpr std::array kMiddleShares{0.1, 0.8, 0.1};
constexpr std::array kFirstShares{0.8, 0.2};
constexpr std::uint32_t kAlphaMax = 500;
constexpr std::uint64_t kCandidatesMax = 1 << 20;
constexpr std::uint64_t kUsersMax = 1'000'000'000;

// What a user did in one block: items and their ratings; `picked`: places of the shorter list.
struct Block {
  std::vector<std::uint64_t> items{};
  std::vector<double> ratings{};
  std::vector<std::uint32_t> picked{};
};

// A text as Python writes a float of this size.
void append_float(std::string& out, double value) {
  std::array<char, 32> room{};
  const auto end = std::to_chars(room.data(), room.data() + room.size(), value).ptr;
  const std::string_view text(room.data(), static_cast<std::size_t>(end - room.data()));
  out += text;
  if (text.find('.') == std::string_view::npos) out += ".0";
}

template <typename Numbers, typename Append>
void append_field(std::string& out, const Numbers& numbers, const Append& append) {
  if (!out.empty()) out += ',';
  const bool quoted = numbers.size() > 1;  // it has commas
  if (quoted) out += '"';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    append(numbers[i]);
  }
  if (quoted) out += '"';
}

class Generator {
 public:
  Generator(const DlrmRecipe& recipe, const std::vector<std::uint8_t>& item_ratings,
            std::uint64_t file)
      : recipe_(recipe),
        item_ratings_(item_ratings),
        of_category_(recipe.items / recipe.categories),
        length_(
            static_cast<std::uint64_t>(static_cast<double>(recipe.items) * recipe.samples_of_item /
                                       static_cast<double>(recipe.users) / recipe.steps)),
        python_(recipe.seed + file),
        numpy_(static_cast<std::uint32_t>(recipe.seed + file)) {}

  // A user's line, without its end; adds the user to the steps in which it is active.
  Result<std::string> user(std::uint64_t id, std::map<std::uint32_t, std::string>& active) {
    categories_ = python_.sample(recipe_.categories, recipe_.categories_of_user);
    counts_.assign(categories_.size(), 0);
    std::string out;
    TRY(history(out, -1));
    for (std::uint32_t step = 0; step < recipe_.steps; ++step) {
      if (step == recipe_.trained_steps) {
        TRY(write(out, static_cast<int>(step), recipe_.eval_candidates, false));
      }
      const std::array shares{recipe_.active, 1 - recipe_.active};
      if (numpy_.choice(shares, 1)[0] == 1) {
        out += ",,,,";
        continue;
      }
      TRY(history(out, static_cast<int>(step)));
      active[step] += format("{}\r\n", id);
    }
    if (recipe_.trained_steps == recipe_.steps) {
      TRY(write(out, static_cast<int>(recipe_.steps), recipe_.eval_candidates, false));
    }
    return out;
  }

 private:
  Result<void> history(std::string& out, int step) {
    const auto drawn = static_cast<std::int64_t>(std::nearbyint(
        python_.gauss(static_cast<double>(length_), static_cast<double>(length_ / 4))));
    const auto length = std::max<std::int64_t>(drawn, recipe_.eval_candidates + 1);
    const bool tested = step >= static_cast<int>(recipe_.trained_steps);
    return write(out, step, static_cast<std::uint64_t>(length), tested);
  }

  // Candidates and history of one block: of a tested step the history is a part of the candidates,
  // else the other way round.
  Result<void> write(std::string& out, int step, std::uint64_t length, bool tested) {
    const std::uint64_t longer = tested ? recipe_.candidates : length;
    const std::uint64_t shorter = tested ? length : recipe_.eval_candidates;
    if (shorter > longer) {
      return invalid(format(
          "a user's history of {} items in a tested step is longer than the {} candidates that it "
          "is drawn from: more candidates, or fewer items or more users",
          shorter, longer));
    }
    const Block block =
        draw(step, static_cast<std::uint32_t>(longer), static_cast<std::uint32_t>(shorter));
    const auto all = [&](const auto& values, const auto& append) {
      append_field(out, values, append);
    };
    const auto part = [&](const auto& values, const auto& append) {
      append_field(out, block.picked, [&](std::uint32_t at) { append(values[at]); });
    };
    const auto item = [&out](std::uint64_t value) { out += std::to_string(value); };
    const auto rating = [&out](double value) { append_float(out, value); };
    if (tested) {
      all(block.items, item), all(block.ratings, rating);
      part(block.items, item), part(block.ratings, rating);
    } else {
      part(block.items, item), part(block.ratings, rating);
      all(block.items, item), all(block.ratings, rating);
    }
    return {};
  }

  Block draw(int step, std::uint32_t length, std::uint32_t picked) {
    const auto alpha = static_cast<double>(1 + python_.below(kAlphaMax));
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts_) total += count;
    std::vector<double> shares;
    for (const std::uint64_t count : counts_) {
      shares.push_back(
          (alpha / static_cast<double>(categories_.size()) + static_cast<double>(count)) /
          (alpha + static_cast<double>(total)));
    }
    const std::vector<std::uint8_t> of = numpy_.choice(shares, length);
    for (const std::uint8_t place : of) ++counts_[place];
    const double reached =
        static_cast<double>(of_category_ *
                            std::max<std::uint64_t>(static_cast<std::uint64_t>(step + 1), 1)) /
        recipe_.steps;
    Block out;
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint64_t place = numpy_.below(static_cast<std::uint64_t>(reached));
      out.items.push_back(place + categories_[of[i]] * of_category_);
    }
    const auto by_category = category_ratings(step, length);
    for (std::uint32_t i = 0; i < length; ++i) {
      const double own = 5.0 - item_ratings_[out.items[i]];
      out.ratings.push_back((by_category[of[i]][i] + own) / 2);
    }
    out.picked = python_.sample(length, picked);
    return out;
  }

  // What a category's items are worth in this step, for each place.
  std::vector<std::vector<double>> category_ratings(int step, std::uint32_t length) {
    const double one = std::cos(step * std::numbers::pi / 4);
    const double two = std::cos((step + 2) * std::numbers::pi / 4);
    const double three = std::cos((step + 4) * std::numbers::pi / 4);
    const std::size_t quarter = categories_.size() / 4;
    const std::size_t half = categories_.size() / 2;
    std::vector<std::vector<double>> out;
    for (std::size_t i = 0; i < categories_.size(); ++i) {
      const double lower = i < half ? 0 : i < quarter * 3 ? 1 : 2;
      const std::array values{4.5 - lower + 0.5 * one, 4.0 - lower + 0.5 * two,
                              3.5 - lower + 0.5 * three};
      const auto drawn =
          i < quarter ? numpy_.choice(kFirstShares, length) : numpy_.choice(kMiddleShares, length);
      std::vector<double>& ratings = out.emplace_back();
      for (const std::uint8_t place : drawn) ratings.push_back(values.at(place));
    }
    return out;
  }

  const DlrmRecipe& recipe_;
  const std::vector<std::uint8_t>& item_ratings_;
  const std::uint64_t of_category_;
  const std::uint64_t length_;
  PythonRandom python_;
  NumpyRandom numpy_;
  std::vector<std::uint32_t> categories_{};
  std::vector<std::uint64_t> counts_{};
};

Result<void> check_recipe(const DlrmRecipe& recipe) {
  const auto at_least = [](std::string_view name, std::uint64_t value,
                           std::uint64_t least) -> Result<void> {
    if (value >= least) return {};
    return invalid(format("{}: {} is too few; at least {}", name, value, least));
  };
  TRY(at_least("files", recipe.files, 1));
  TRY(at_least("users", recipe.users, recipe.files));
  TRY(at_least("steps", recipe.steps, 2));
  TRY(at_least("categories", recipe.categories, recipe.categories_of_user));
  TRY(at_least("items", recipe.items, std::uint64_t{recipe.categories} * recipe.steps));
  TRY(at_least("candidates", recipe.candidates, 1));
  if (recipe.trained_steps >= recipe.steps) {
    return invalid(format("steps: {} of {} are trained, and none is left to test",
                          recipe.trained_steps, recipe.steps));
  }
  if (recipe.candidates > kCandidatesMax) {
    return invalid(format("candidates: {} is more than {}", recipe.candidates, kCandidatesMax));
  }
  if (recipe.users > kUsersMax || recipe.items / recipe.categories > std::uint64_t{1} << 32) {
    return invalid("users, items: more than this generator can number");
  }
  return {};
}

// Writes a file piece by piece.
class Out {
 public:
  static Result<Out> open(const std::filesystem::path& path) {
    assay::File file(std::fopen(path.c_str(), "wbx"));
    if (!file) return system_error(path);
    return Out(std::move(file), path);
  }
  Result<void> add(std::string_view text) {
    bytes_ += text.size();
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size()) return {};
    return system_error(path_);
  }
  Result<void> close() {
    if (std::fclose(file_.release()) == 0) return {};
    return system_error(path_);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Out(assay::File file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  static Error system_error(const std::filesystem::path& path) {
    return errno_error(format("'{}'", path.string()));
  }

  assay::File file_;
  std::filesystem::path path_;
  std::uint64_t bytes_ = 0;
};

std::string list_row(const std::vector<std::uint64_t>& numbers) {
  std::string row;
  append_field(row, numbers, [&row](std::uint64_t number) { row += std::to_string(number); });
  return row + "\r\n";
}

struct Written {
  std::vector<std::uint64_t> offsets{};                // of each user
  std::vector<std::vector<std::uint64_t>> users_of{};  // of each step
};

Result<Written> write_file(const DlrmRecipe& recipe, const std::vector<std::uint8_t>& ratings,
                           const std::filesystem::path& folder, std::uint64_t file) {
  Generator generator(recipe, ratings, file);
  Written out;
  out.users_of.resize(recipe.steps);
  ASSIGN_OR_RETURN(Out lines, Out::open(folder / format("{}.csv", file)));
  std::map<std::uint32_t, std::string> active;
  const std::uint64_t each = recipe.users / recipe.files;
  for (std::uint64_t i = 0; i < each; ++i) {
    std::map<std::uint32_t, std::string> now;
    const std::uint64_t id = each * file + i;
    ASSIGN_OR_RETURN(const std::string line, generator.user(id, now));
    out.offsets.push_back(lines.bytes());
    TRY(lines.add(line + "\r\n"));
    for (const auto& [step, text] : now) {
      out.users_of[step].push_back(id);
      active[step] += text;
    }
  }
  TRY(lines.close());
  for (const auto& [step, text] : active) {
    TRY(write_file_atomic(folder / format("ts_{}_{}.csv", file, step), text));
  }
  return out;
}

}  // namespace

Result<void> write_dlrm_data(const DlrmRecipe& recipe, const std::filesystem::path& folder) {
  TRY(check_recipe(recipe));
  TRY(make_folders(folder));
  const std::vector<std::uint8_t> ratings =
      NumpyRandom(1001).choice(kItemShares, static_cast<std::size_t>(recipe.items));
  const std::uint64_t files =
      recipe.first_files == 0 ? recipe.files : std::min(recipe.first_files, recipe.files);
  std::string offsets;
  std::vector<std::vector<std::uint64_t>> users(recipe.steps);
  std::vector<std::vector<std::uint64_t>> sums(recipe.steps);
  for (std::uint64_t file = 0; file < files; ++file) {
    ASSIGN_OR_RETURN(const Written written, write_file(recipe, ratings, folder, file));
    offsets += list_row(written.offsets);
    for (std::uint32_t step = 0; step < recipe.steps; ++step) {
      const auto& active = written.users_of[step];
      users[step].insert(users[step].end(), active.begin(), active.end());
      sums[step].push_back(users[step].size());
    }
  }
  std::string requests;
  std::string cumulated;
  std::vector<std::uint64_t> begins;
  for (std::uint32_t step = 0; step < recipe.steps; ++step) {
    begins.push_back(requests.size());
    requests += list_row(users[step]);
    cumulated += list_row(sums[step]);
  }
  TRY(write_file_atomic(folder / "offset.csv", offsets));
  TRY(write_file_atomic(folder / "requests_per_ts.csv", requests));
  TRY(write_file_atomic(folder / "users_cumsum_per_ts.csv", cumulated));
  TRY(write_file_atomic(folder / "requests_per_ts_offset.csv", list_row(begins)));
  const Json recorded = Json::object()
                            .set("items", recipe.items)
                            .set("categories", recipe.categories)
                            .set("trained_steps", recipe.trained_steps);
  return write_file_atomic(folder / "recipe.json", recorded.dump(2) + "\n");
}

}  // namespace assay::dataset
