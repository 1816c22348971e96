#include "score/code/code_judge.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "score/answer/python_text.h"
#include "score/code/code_harness.h"
#include "score/code/sandbox.h"

namespace assay::score {
namespace {

std::vector<std::string_view> stripped_lines(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view line : split(python_strip(text), '\n')) {
    out.push_back(python_strip(line));
  }
  return out;
}

// Python's Decimal of a word, in one form for each value: "-15e-1"; nullopt for words that are none
// and for NaN, which equals nothing.
std::optional<std::string> decimal_word(CharactersView word) {
  std::string plain;
  for (const char32_t c : word) {
    if (c == U'_') continue;
    if (c >= 0x80 && !python_digit(c)) return std::nullopt;
    plain += static_cast<char>(c < 0x80 ? c : U'0' + *python_int(utf8({&c, 1})));
  }
  plain = lower(plain);
  std::string_view left = plain;
  const bool minus = left.starts_with('-');
  if (minus || left.starts_with('+')) left.remove_prefix(1);
  const std::string sign = minus ? "-" : "";
  if (left == "inf" || left == "infinity") return sign + "inf";
  std::int64_t exponent = 0;
  if (const std::size_t at = left.find('e'); at != std::string_view::npos) {
    std::string_view power = left.substr(at + 1);
    left = left.substr(0, at);
    if (power.starts_with('+') && !power.starts_with("+-")) power.remove_prefix(1);
    const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    constexpr std::int64_t kPowerMax = 1'000'000'000'000'000'000;
    if (error != std::errc() || end != power.data() + power.size()) return std::nullopt;
    if (exponent >= kPowerMax || exponent <= -kPowerMax) return std::nullopt;
  }
  std::string digits;
  bool point = false;
  bool any = false;
  for (const char c : left) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      exponent -= point ? 1 : 0;
      if (c != '0' || !digits.empty()) digits += c;
    } else {
      return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  if (digits.empty()) return "0";
  while (digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  return format("{}{}e{}", sign, digits, exponent);
}

bool same_numbers(std::string_view a, std::string_view b) {
  const auto words = [](std::string_view line) {
    std::vector<std::optional<std::string>> out;
    const Characters all = characters(line);
    for (std::size_t at = 0; at < all.size();) {
      std::size_t end = at;
      while (end < all.size() && !python_space(all[end])) ++end;
      if (end > at) out.push_back(decimal_word(CharactersView(all).substr(at, end - at)));
      at = end + 1;
    }
    return out;
  };
  const auto left = words(a);
  return left == words(b) && std::ranges::all_of(left, [](const auto& one) { return !!one; });
}

}  // namespace

Error code_refused() {
  return invalid(
      "the tests run what the model wrote, in a jail (no network, no files of yours, limits)\n"
      "  allow it: --allow-code, or extras.allow_code: true in accuracy_config");
}

bool same_output(std::string_view got, std::string_view wanted) {
  const auto left = stripped_lines(got);
  const auto right = stripped_lines(wanted);
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] != right[i] && !same_numbers(left[i], right[i])) return false;
  }
  return true;
}

bool same_value(const Json& got, const Json& wanted) {
  const auto numeric = [](const Json& json) { return json.is_number() || json.is_bool(); };
  const auto value = [](const Json& json) {
    return json.is_bool() ? (json.as_bool() ? 1.0 : 0.0) : json.as_double();
  };
  if (numeric(got) && numeric(wanted)) {
    return (got.is_integer() && wanted.is_integer()) ? got == wanted : value(got) == value(wanted);
  }
  if (got.is_array() && wanted.is_array()) {
    return std::equal(got.items().begin(), got.items().end(), wanted.items().begin(),
                      wanted.items().end(), same_value);
  }
  if (got.is_object() && wanted.is_object()) {
    if (got.size() != wanted.size()) return false;
    for (const auto& [key, one] : got.members()) {
      const Json* const other = wanted.find(key);
      if (other == nullptr || !same_value(one, *other)) return false;
    }
    return true;
  }
  return got == wanted;
}

Result<std::unique_ptr<CodeJudge>> CodeJudge::make(const Json& extras) {
  std::unique_ptr<CodeJudge> out(new CodeJudge);
  out->python_ = extras["python"].as_string("python3");
  out->seconds_ = extras["timeout_s"].as_double(6);
  if (!(out->seconds_ > 0 && out->seconds_ <= 3600)) {
    return invalid("extras.timeout_s: must be above 0 and at most 3600");
  }
  const std::int64_t megabytes = extras["memory_mb"].as_int(4096);
  if (megabytes < 64) return invalid("extras.memory_mb: must be at least 64");
  out->memory_bytes_ = static_cast<std::uint64_t>(megabytes) << 20;
  out->tests_max_ = extras["tests_max"].as_uint(0);
  TRY(out->prove());
  return out;
}

std::string CodeJudge::note() const {
  return format("{} run: {}", counted(ran_, "reply was", "replies were"),
                layers_.empty() ? "none" : layers_);
}

// Unpacks LiveCodeBench's private tests: base64 of zlib of a pickled text. A pickle may run any
// code when it is unpacked, so that happens in the jail too.
Result<std::string> CodeJudge::unpack(std::string_view packed) {
  ASSIGN_OR_RETURN(ProgramEnd end, run_program({.commands = {{python_, "-I", "-S", "-c", kUnpack}},
                                                .input = std::string(packed),
                                                .time_max = 60_s,
                                                .output_bytes_max = std::size_t{1} << 30,
                                                .jail = Jail{.memory_bytes_max = memory_bytes_}}));
  if (end.exit_code != 0) return invalid("neither JSON nor packed as LiveCodeBench packs them");
  return std::move(end.out);
}

Result<CodeJudge::Tests> CodeJudge::read_tests(const Row& row) {
  Tests out;
  const Json& columns = *row.columns;
  const auto parsed = [](const Json& value) -> Result<Json> {
    if (!value.is_string()) return value;
    return Json::parse(value.as_string());
  };
  const auto add = [&out](const Json& list) {
    for (const Json& one : list.items()) {
      out.tests.push_back(
          {std::string(one["input"].as_string()), std::string(one["output"].as_string())});
    }
  };
  for (const char* column : {"tests", "public_test_cases", "private_test_cases"}) {
    const Json& value = columns[column];
    if (value.is_null()) continue;
    auto list = parsed(value);
    if (!list && value.is_string()) {
      const auto unpacked = unpack(value.as_string());
      if (!unpacked) return unpacked.error().within(format("column '{}'", column));
      list = Json::parse(*unpacked);
    }
    if (!list) return list.error().within(format("column '{}'", column));
    add(*list);
  }
  if (const Json& value = columns["input_output"]; !value.is_null()) {
    auto both = parsed(value);
    if (!both) return both.error().within("column 'input_output'");
    out.function = (*both)["fn_name"].as_string();
    const Json& inputs = (*both)["inputs"];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Json& output = (*both)["outputs"][i];
      out.tests.push_back({std::string(inputs[i].as_string()),
                           output.is_string() ? std::string(output.as_string()) : output.dump()});
    }
  }
  if (columns["fn_name"].is_string()) out.function = columns["fn_name"].as_string();
  if (const auto metadata = parsed(columns["metadata"]); metadata && out.function.empty()) {
    out.function = (*metadata)["func_name"].as_string();
  }
  if (out.tests.empty()) {
    return invalid("no column tests, public_test_cases or input_output to score against");
  }
  if (tests_max_ > 0 && out.tests.size() > tests_max_) out.tests.resize(tests_max_);
  return out;
}

Result<const CodeJudge::Tests*> CodeJudge::tests_of(const Row& row) {
  const auto [at, fresh] = tests_.try_emplace(row.sample);
  if (fresh) {
    auto tests = read_tests(row);
    if (!tests) return tests.error().within(format("sample {}", row.sample));
    at->second = *std::move(tests);
  }
  return &at->second;
}

Result<ProgramEnd> CodeJudge::run(const std::string& code, const Tests& tests) const {
  Json job;
  job.set("code", code)
      .set("name", tests.function.empty() ? Json() : Json(tests.function))
      .set("seconds", seconds_)
      .set("inputs", json_list(tests.tests, &Test::input));
  const double all = (seconds_ + 1) * static_cast<double>(tests.tests.size()) + 10;
  return run_program({.commands = {{python_, "-I", "-S", "-c", kHarness}},
                      .input = job.dump(),
                      .time_max = Duration::from_seconds(all),
                      .output_bytes_max = std::size_t{256} << 20,
                      .jail = Jail{.memory_bytes_max = memory_bytes_}});
}

// Without a jail, or if Python does not run in it, every reply would be wrong.
Result<void> CodeJudge::prove() const {
  ASSIGN_OR_RETURN(const ProgramEnd end,
                   run("print(input())", {.tests = {{.input = "1", .output = "1"}}}));
  const auto results = Json::parse(end.out);
  if (results && (*results)[0]["ok"].as_bool()) return {};
  return Error{Code::unsupported,
               format("extras.python: '{}' does not run in a jail{}: {}", python_,
                      end.out_of_time ? " in time" : "", trim(end.err))};
}

Result<bool> CodeJudge::passes(const std::string& code, const Row& row) {
  ASSIGN_OR_RETURN(const Tests* tests, tests_of(row));
  if (trim(code).empty()) return false;
  ASSIGN_OR_RETURN(const ProgramEnd end, run(code, *tests));
  layers_ = end.layers;
  ++ran_;
  // Without a list of results the code ended its harness: it passes no test.
  const Json results = Json::parse(end.out).value_or(Json::array());
  if (results.size() != tests->tests.size()) return false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]["ok"].as_bool()) return false;
    const std::string_view got = results[i]["out"].as_string();
    const std::string& wanted = tests->tests[i].output;
    if (tests->function.empty()) {
      if (!same_output(got, wanted)) return false;
      continue;
    }
    const auto value = Json::parse(got);
    const auto truth = Json::parse(wanted);
    if (!value || !truth || !same_value(*value, *truth)) return false;
  }
  return true;
}

}  // namespace assay::score
