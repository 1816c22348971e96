#include "dataset/dlrm_data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

constexpr std::size_t kListBytesMax = std::size_t{1} << 32;
constexpr std::size_t kLineBytesMax = std::size_t{1} << 26;
// The model's longest sequence, less the candidates and the user.
constexpr std::size_t kHistoryMax = 16384 - 2048 - 1;
constexpr std::array<std::int64_t, 5> kActionWeights{1, 2, 4, 8, 16};  // of ratings 1 to 5
constexpr double kLiked = 3.5;

using Integers = std::vector<std::int64_t>;

// The fields of one line of CSV; none of them holds a quote.
Result<std::vector<std::string_view>> fields_of(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> out;
  for (;;) {
    if (line.starts_with('"')) {
      const std::size_t end = line.find('"', 1);
      if (end == std::string_view::npos) return invalid("a quote is not closed");
      out.push_back(line.substr(1, end - 1));
      line.remove_prefix(end + 1);
      if (!line.empty() && line[0] != ',') return invalid("text behind a quoted list");
    } else {
      out.push_back(line.substr(0, line.find(',')));
      line.remove_prefix(out.back().size());
    }
    if (line.empty()) return out;
    line.remove_prefix(1);
  }
}

template <typename Number>
Result<std::vector<Number>> numbers_of(std::string_view text) {
  std::vector<Number> out;
  if (text.empty()) return out;
  for (const std::string_view one : split(text, ',')) {
    Number value{};
    const char* const end = one.data() + one.size();
    const auto [at, fault] = std::from_chars(one.data(), end, value);
    if (fault != std::errc{} || at != end) return invalid(format("'{}' is not a number", one));
    out.push_back(value);
  }
  return out;
}

// A file of one list a row.
Result<std::vector<Integers>> lists_of(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kListBytesMax));
  std::vector<Integers> out;
  for (std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const auto at = [&](const Error& error) {
      return error.within(format("{}:{}", path.string(), out.size() + 1));
    };
    const auto fields = fields_of(line);
    if (!fields) return at(fields.error());
    if (fields->size() != 1) return at(invalid("expected one list in quotes"));
    auto list = numbers_of<std::int64_t>((*fields)[0]);
    if (!list) return at(list.error());
    if (std::ranges::any_of(*list, [](std::int64_t one) { return one < 0; })) {
      return at(invalid("a number below 0"));
    }
    out.push_back(*std::move(list));
  }
  return out;
}

// Items with their ratings, as a block has them.
struct Rated {
  Integers items{};
  std::vector<double> ratings{};
};

Result<void> append(std::string_view items, std::string_view ratings, Rated& to) {
  ASSIGN_OR_RETURN(const auto more, numbers_of<std::int64_t>(items));
  ASSIGN_OR_RETURN(const auto rated, numbers_of<double>(ratings));
  if (more.size() != rated.size()) {
    return invalid(format("{} items have {} ratings", more.size(), rated.size()));
  }
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (more[i] < 0) return invalid(format("item {} is below 0", more[i]));
    if (!(rated[i] >= 1 && rated[i] <= 5)) {
      return invalid(format("a rating of {}; ratings are 1 to 5", rated[i]));
    }
  }
  to.items.insert(to.items.end(), more.begin(), more.end());
  to.ratings.insert(to.ratings.end(), rated.begin(), rated.end());
  return {};
}

void add_tensor(Sample& sample, const char* name, const Integers& values) {
  Attachment& tensor = sample.attachments.emplace_back();
  tensor.name = name;
  tensor.type = "INT64";
  tensor.shape = {1, static_cast<std::int64_t>(values.size())};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * 8);
}

// The four features of rated items: `value` is what stands for the rating's use.
void add_features(Sample& sample, const Rated& rated, std::uint64_t of_category,
                  std::span<const char* const, 4> names,
                  const std::function<std::int64_t(double)>& value) {
  Integers whole;
  Integers used;
  Integers categories;
  for (std::size_t i = 0; i < rated.items.size(); ++i) {
    whole.push_back(static_cast<std::int64_t>(rated.ratings[i]));
    used.push_back(value(rated.ratings[i]));
    categories.push_back(rated.items[i] / static_cast<std::int64_t>(of_category));
  }
  add_tensor(sample, names[0], rated.items);
  add_tensor(sample, names[1], whole);
  add_tensor(sample, names[2], used);
  add_tensor(sample, names[3], categories);
}

// The folder's lists.
struct Folder {
  std::filesystem::path path{};
  DlrmShape shape{};
  std::vector<Integers> offsets{};  // of each file's users
  std::vector<Integers> sums{};     // of each step's users, up to each file
  std::vector<Integers> users{};    // of each step
  std::size_t files = 0;            // that are there
};

Result<DlrmShape> shape_of(const std::filesystem::path& folder, std::size_t steps) {
  DlrmShape out;
  std::error_code ignored;
  const auto path = folder / "recipe.json";
  out.steps = static_cast<std::uint32_t>(steps);
  if (!std::filesystem::exists(path, ignored)) {
    if (out.steps == DlrmRecipe{}.steps) return out;
    return invalid(
        format("{}: {} steps, where the published data have {}; recipe.json beside it "
               "says how many of them are trained",
               (folder / "users_cumsum_per_ts.csv").string(), steps, DlrmRecipe{}.steps));
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto json = Json::parse(text);
  if (!json) return json.error().within(path.string());
  const std::uint64_t categories = (*json)["categories"].as_uint();
  const std::uint64_t trained = (*json)["trained_steps"].as_uint();
  if (categories == 0 || (*json)["items"].as_uint() < categories || trained >= steps) {
    return invalid(
        format("{}: items, categories and trained_steps must be numbers above 0, and "
               "fewer steps trained than there are",
               path.string()));
  }
  out.items_of_category = (*json)["items"].as_uint() / categories;
  out.trained_steps = static_cast<std::uint32_t>(trained);
  return out;
}

Result<Folder> read_folder(const std::filesystem::path& path) {
  Folder out{.path = path};
  ASSIGN_OR_RETURN(out.sums, lists_of(path / "users_cumsum_per_ts.csv"));
  ASSIGN_OR_RETURN(out.shape, shape_of(path, out.sums.size()));
  ASSIGN_OR_RETURN(out.offsets, lists_of(path / "offset.csv"));
  ASSIGN_OR_RETURN(out.users, lists_of(path / "requests_per_ts.csv"));
  if (out.users.size() != out.sums.size()) {
    return invalid(format("{}: {} steps, where users_cumsum_per_ts.csv has {}",
                          (path / "requests_per_ts.csv").string(), out.users.size(),
                          out.sums.size()));
  }
  std::error_code ignored;
  while (out.files < out.offsets.size() &&
         std::filesystem::exists(path / format("{}.csv", out.files), ignored)) {
    ++out.files;
  }
  if (out.files == 0) {
    return Error{Code::not_found, format("'{}': no such file", (path / "0.csv").string())};
  }
  for (std::size_t step = 0; step < out.sums.size(); ++step) {
    const Integers& sums = out.sums[step];
    const bool fits = sums.size() >= out.files && std::ranges::is_sorted(sums) &&
                      static_cast<std::size_t>(sums.back()) == out.users[step].size();
    if (!fits) {
      return invalid(format("{}:{}: its sums do not fit the files and the users of the step",
                            (path / "users_cumsum_per_ts.csv").string(), step + 1));
    }
  }
  return out;
}

// The line that begins at `offset`.
Result<std::string> line_at(std::FILE* file, const std::string& name, std::int64_t offset) {
  if (::fseeko(file, offset, SEEK_SET) != 0) return errno_error(format("'{}'", name));
  std::string out;
  std::array<char, 1 << 16> room{};
  while (std::fgets(room.data(), room.size(), file) != nullptr) {
    out += room.data();
    if (out.ends_with('\n')) return out;
    if (out.size() > kLineBytesMax) break;
  }
  if (out.empty()) return invalid(format("{}: no user at byte {}", name, offset));
  return out;
}

// One tested step's first `count` requests.
Result<void> add_step(const Folder& folder, std::uint32_t test_step, std::size_t count,
                      std::vector<assay::File>& files, Dataset& out) {
  const std::size_t step = folder.shape.trained_steps + test_step;
  const Integers& sums = folder.sums[step];
  std::size_t at_file = 0;
  for (std::size_t i = 0; i < count; ++i) {
    while (static_cast<std::size_t>(sums[at_file]) <= i) ++at_file;
    const std::string name = (folder.path / format("{}.csv", at_file)).string();
    const auto user = static_cast<std::size_t>(folder.users[step][i]);
    const Integers& offsets = folder.offsets[at_file];
    if (offsets.empty()) return invalid(format("{}: offset.csv has no users of it", name));
    ASSIGN_OR_RETURN(const std::string line,
                     line_at(files[at_file].get(), name, offsets[user % offsets.size()]));
    auto sample = dlrm_request(line, folder.shape, test_step, user, i);
    if (!sample) return sample.error().within(format("{}: user {}", name, user));
    out.samples.push_back(*std::move(sample));
  }
  out.groups.push_back(static_cast<std::uint32_t>(count));
  return {};
}

// "FOLDER#0.01".
Result<std::pair<std::string, double>> share_of(const std::string& path) {
  const std::size_t mark = path.rfind('#');
  if (mark == std::string::npos) return std::pair(path, 0.0);
  const auto share = parse_double(path.substr(mark + 1));
  if (!share || !(*share > 0 && *share <= 1)) {
    return invalid(
        format("'{}': behind # stands the share of the users, above 0 and at most 1", path));
  }
  return std::pair(path.substr(0, mark), *share);
}

}  // namespace

Result<Sample> dlrm_request(std::string_view line, const DlrmShape& shape, std::uint32_t test_step,
                            std::uint64_t user, std::uint64_t query) {
  ASSIGN_OR_RETURN(const auto fields, fields_of(line));
  const std::size_t blocks = std::size_t{shape.steps} + 2;
  if (fields.size() != 4 * blocks) {
    return invalid(
        format("{} lists, where {} steps have {}", fields.size(), shape.steps, 4 * blocks));
  }
  // Behind the base block and the training steps stands the evaluation, which is no history.
  const std::size_t evaluation = std::size_t{shape.trained_steps} + 1;
  const std::size_t own = evaluation + 1 + test_step;
  Rated history;
  for (std::size_t block = 0; block < own; ++block) {
    if (block == evaluation) continue;
    TRY(append(fields[4 * block + 2], fields[4 * block + 3], history));
  }
  Rated candidates;
  TRY(append(fields[4 * own], fields[4 * own + 1], candidates));
  if (candidates.items.empty()) return invalid("the user has no candidates in this step");
  history.items.resize(std::min(history.items.size(), kHistoryMax));
  history.ratings.resize(history.items.size());
  Sample out;
  add_tensor(out, "ts_idx", {test_step});
  add_tensor(out, "query_idx", {static_cast<std::int64_t>(query)});
  add_tensor(out, "user_id", {static_cast<std::int64_t>(user)});
  constexpr std::array kHistory{"item_id", "item_rating", "item_weights", "item_category_id"};
  constexpr std::array kCandidates{"item_candidate_id", "item_candidate_rating",
                                   "item_action_weights", "item_candidate_category_id"};
  add_features(out, history, shape.items_of_category, kHistory, [](double rating) {
    return kActionWeights.at(static_cast<std::size_t>(rating) - 1);
  });
  add_features(out, candidates, shape.items_of_category, kCandidates,
               [](double rating) { return std::int64_t{rating >= kLiked ? 1 : 0}; });
  return out;
}

Result<Dataset> load_dlrm_data(const Spec& spec) {
  if (spec.rows_max > 0) {
    return invalid(format(
        "'{}': name the share of each step's users that dlrm_v3 asks: FOLDER#0.01", spec.path));
  }
  ASSIGN_OR_RETURN(const auto source, share_of(spec.path));
  const std::filesystem::path path = source.first;
  ASSIGN_OR_RETURN(const Folder folder, read_folder(path));
  std::vector<assay::File> files;
  for (std::size_t i = 0; i < folder.files; ++i) {
    const auto name = path / format("{}.csv", i);
    files.emplace_back(std::fopen(name.c_str(), "rb"));
    if (!files.back()) return errno_error(format("'{}'", name.string()));
  }
  Dataset out{.name = spec.name, .path = spec.path};
  if (out.name.empty()) out.name = path.filename().string();
  std::string hashed;
  for (std::uint32_t t = 0; t + folder.shape.trained_steps < folder.shape.steps; ++t) {
    const Integers& sums = folder.sums[folder.shape.trained_steps + t];
    const auto there = static_cast<std::size_t>(sums[folder.files - 1]);
    std::size_t count = there;
    if (source.second > 0) {
      count = static_cast<std::size_t>(static_cast<double>(sums.back()) * source.second);
    }
    if (count > there) {
      return invalid(
          format("'{}': {} users of step {} are asked for, and the files that are there "
                 "have {}",
                 spec.path, count, t, there));
    }
    if (count == 0) {
      return invalid(format("'{}': step {} has no users in that share", spec.path, t));
    }
    TRY(add_step(folder, t, count, files, out));
  }
  for (const Sample& sample : out.samples) {
    for (const Attachment& tensor : sample.attachments) hashed += sha256_hex(tensor.bytes);
  }
  out.sha256 = sha256_hex(hashed);
  return out;
}

}  // namespace assay::dataset
