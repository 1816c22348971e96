#include "rules/event_summary.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::rules {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;
constexpr std::size_t kKeptMax = 1'000'000;  // hashes of each kind, queries in flight
constexpr std::size_t kPassesMax = 100'000;

bool white_space(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

// True if the second half repeats one piece of at most 64 bytes.
bool repeats_itself(std::string_view text) {
  constexpr std::size_t kShortest = 256;
  constexpr std::size_t kPeriodMax = 64;
  if (text.size() < kShortest) return false;
  const std::size_t half = text.size() / 2;
  for (std::size_t period = 1; period <= kPeriodMax; ++period) {
    std::size_t i = half;
    while (i < text.size() && text[i] == text[i - period]) ++i;
    if (i == text.size()) return true;
  }
  return false;
}

// One line with the reference client's order of keys, split without a full parse.
struct Line {
  std::string_view type{};
  std::string_view uuid{};
  std::string_view data{};  // to the end of the line
};

std::string_view take_after(std::string_view& rest, std::string_view key, char end) {
  const std::size_t at = rest.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view value = rest.substr(at + key.size());
  const std::size_t stop = value.find(end);
  if (stop == std::string_view::npos) return {};
  rest = value.substr(stop + 1);
  return value.substr(0, stop);
}

bool cut(std::string_view text, Line& out) {
  if (!text.starts_with("{\"event_type\":\"") || !text.ends_with("}")) return false;
  std::string_view rest = text;
  out.type = take_after(rest, "\"event_type\":\"", '"');
  out.uuid = take_after(rest, "\"sample_uuid\":\"", '"');
  const std::size_t data = rest.find("\"data\":");
  if (out.type.empty() || data == std::string_view::npos) return false;
  out.data = rest.substr(data + 7);
  return true;
}

class Summary {
 public:
  explicit Summary(std::int64_t pass) : pass_(pass) {}

  EventSummary read(const std::filesystem::path& file) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"),
                                                             &std::fclose);
    if (!in) return stop("can't be opened");
    std::string buffer;
    std::vector<char> block(std::size_t{1} << 20);
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), in.get())) {
      out_.bytes += n;
      buffer.append(block.data(), n);
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = buffer.find('\n', begin)) != std::string::npos;
           begin = end + 1) {
        if (!take(std::string_view(buffer).substr(begin, end - begin))) return std::move(out_);
      }
      buffer.erase(0, begin);
      if (buffer.size() > kLineBytesMax) return stop("a line of more than 16 MiB");
    }
    if (!buffer.empty()) return stop("the last line has no end: the log was cut off");
    return std::move(out_);
  }

 private:
  struct InFlight {
    std::uint64_t prompt = 0;
    std::uint32_t pass = 0;
    bool measured = false;
  };

  EventSummary stop(std::string why) {
    stop_here(std::move(why));
    return std::move(out_);
  }

  bool take(std::string_view text) {
    ++out_.lines;
    if (trim(text).empty()) return true;
    Line line;
    if (!cut(trim(text), line)) {
      stop_here("not a line of an event log");
      return false;
    }
    if (line.type == "sample.recv_non_first" || line.type == "sample.recv_first") return true;
    if (line.type == "session.start_performance_tracking") {
      // Queries issued before belong to warm-up.
      out_.warmup_issued = out_.issued;
      out_.issued = 0;
      tracking_ = true;
      warmup_ = std::move(prompts_);
      prompts_.clear();
      return true;
    }
    if (line.type == "session.stop_performance_tracking") tracking_ = false;
    if (line.type == "sample.issued") issued(line);
    if (line.type == "error.generic") ++out_.failed;
    if (line.type == "sample.complete") return completed(text, line);
    return true;
  }

  void stop_here(std::string why) {
    out_.trouble = std::move(why);
    out_.trouble_line = static_cast<int>(out_.lines);
  }

  int line() const { return static_cast<int>(out_.lines); }

  void issued(const Line& line) {
    const std::uint64_t prompt = xxh3(line.data);
    if (prompts_.size() < kKeptMax) prompts_.insert(prompt);
    if (tracking_ && warmup_.contains(prompt)) {
      out_.warmup_prompts.see(this->line(), line.uuid);
    }
    InFlight query{.prompt = prompt, .measured = tracking_};
    if (tracking_ && pass_ > 0) {
      const auto pass = out_.issued / static_cast<std::uint64_t>(pass_);
      if (pass < kPassesMax) {
        query.pass = static_cast<std::uint32_t>(pass);
        if (open_.size() <= query.pass) open_.resize(query.pass + 1U);
        ++open_[query.pass];
      }
    }
    ++out_.issued;
    if (in_flight_.size() < kKeptMax) in_flight_[xxh3(line.uuid)] = query;
  }

  bool completed(std::string_view text, const Line& line) {
    const auto found = in_flight_.find(xxh3(line.uuid));
    const InFlight query = found == in_flight_.end() ? InFlight{} : found->second;
    if (found != in_flight_.end()) in_flight_.erase(found);
    if (query.measured && pass_ > 0 && query.pass < open_.size()) {
      --open_[query.pass];
      while (oldest_ < open_.size() && open_[oldest_] == 0 && oldest_ < query.pass) ++oldest_;
      if (query.pass > oldest_) out_.early.see(this->line(), line.uuid);
    }
    if (line.data.starts_with("null")) return true;
    const auto json = Json::parse(text);
    if (!json) {
      stop_here(json.error().message);
      return false;
    }
    ++out_.completed;
    output((*json)["data"], query, line.uuid);
    return true;
  }

  // ["TextModelOutput", output, reasoning, tool_calls]; a stream's text is [first, rest].
  void output(const Json& data, const InFlight& query, std::string_view uuid) {
    std::string whole;
    std::string first;
    bool streamed = false;
    for (const std::size_t part : {std::size_t{2}, std::size_t{1}}) {
      const Json& value = data[part];
      if (value.is_string()) whole += value.as_string();
      for (const Json& piece : value.items()) whole += piece.as_string();
      if (!streamed && value.size() > 0 && value.is_array()) {
        streamed = true;
        first = value[0].as_string();
      }
    }
    const int at = line();
    if (streamed && white_space(first) && !white_space(whole)) {
      out_.filler_first.see(at, json_quote(first));
    }
    if (repeats_itself(whole)) out_.padded.see(at, uuid);
    // Short answers to short questions may be equal by chance.
    constexpr std::size_t kTelling = 200;
    if (whole.size() < kTelling) return;
    const std::uint64_t hash = xxh3(whole);
    const auto known = outputs_.find(hash);
    if (known == outputs_.end()) {
      if (outputs_.size() < kKeptMax) outputs_.emplace(hash, query.prompt);
    } else if (known->second != query.prompt) {
      out_.same_output.see(at, uuid);
    }
  }

  std::int64_t pass_;
  bool tracking_ = false;
  EventSummary out_{};
  std::unordered_map<std::uint64_t, InFlight> in_flight_{};  // key: hash of the uuid
  std::unordered_set<std::uint64_t> prompts_{};
  std::unordered_set<std::uint64_t> warmup_{};
  std::unordered_map<std::uint64_t, std::uint64_t> outputs_{};  // to the prompt that had it first
  std::vector<std::uint64_t> open_{};                           // queries in flight, by pass
  std::size_t oldest_ = 0;
};

}  // namespace

void Sighting::see(int at, std::string_view what) {
  if (count++ > 0) return;
  line = at;
  example = what;
}

EventSummary summarise_events(const std::filesystem::path& file, std::int64_t pass) {
  return Summary(pass).read(file);
}

}  // namespace assay::rules
