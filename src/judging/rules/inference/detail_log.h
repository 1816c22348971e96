// DetailLog: LoadGen's mlperf_log_detail.txt, read for the rules: of each key its first value, and
// the errors. A missing, too large or broken file is a state, which a rule judges.
//
// A line is ":::MLLOG {json}"; the first line must be one, and other lines are passed over. Any
// bytes; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "rules/finding.h"

namespace assay::rules::inference {

constexpr std::size_t kDetailLogBytesMax = std::size_t{256} << 20;

class DetailLog {
 public:
  enum class State : std::uint8_t { absent, broken, good };

  DetailLog() = default;
  // `name`: the path below the submission's root.
  static DetailLog read(const std::filesystem::path& root, std::string name);
  static DetailLog parse(std::string name, std::string_view text);

  State state() const { return state_; }
  bool good() const { return state_ == State::good; }
  bool absent() const { return state_ == State::absent; }
  const std::string& name() const { return name_; }
  const std::string& trouble() const { return trouble_; }

  // Null where the log has no such key.
  const Json& operator[](std::string_view key) const;
  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  // The line of the key's first value, or of the trouble.
  Place place(std::string_view key = {}) const;

  struct Error {
    std::string text{};
    int line = 0;
  };
  // The first 100; error_count() counts all.
  const std::vector<Error>& errors() const { return errors_; }
  std::size_t error_count() const { return error_count_; }

 private:
  struct Value {
    Json json{};
    int line = 0;
  };
  void read_line(std::string_view line, int number);

  State state_ = State::absent;
  std::string name_{};
  std::string trouble_{};
  int trouble_line_ = 0;
  std::map<std::string, Value, std::less<>> values_{};
  std::vector<Error> errors_{};
  std::size_t error_count_ = 0;
};

}  // namespace assay::rules::inference
