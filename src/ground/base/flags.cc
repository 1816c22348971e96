#include "base/flags.h"

#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t kHelpColumn = 26;
constexpr std::size_t kHelpWidth = 80;

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

Result<void> read(std::string_view text, Duration, std::string& out) {
  out = text;
  return {};
}
Result<void> read(std::string_view text, Duration, std::int64_t& out) {
  ASSIGN_OR_RETURN(out, parse_int(text));
  return {};
}
Result<void> read(std::string_view text, Duration, std::uint64_t& out) {
  ASSIGN_OR_RETURN(out, parse_uint(text));
  return {};
}
Result<void> read(std::string_view text, Duration, double& out) {
  ASSIGN_OR_RETURN(out, parse_double(text));
  return {};
}
Result<void> read(std::string_view text, Duration bare_unit, Duration& out) {
  ASSIGN_OR_RETURN(out, parse_duration(text, bare_unit));
  return {};
}

std::string shown(const std::string& value) { return value; }
std::string shown(std::int64_t value) { return format("{}", value); }
std::string shown(std::uint64_t value) { return format("{}", value); }
std::string shown(double value) { return format("{}", value); }
std::string shown(Duration value) {
  return value == Duration::max() ? "none" : human_duration(value);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) out += format("{}{}", out.empty() ? "" : separator, word);
  return out;
}

// A name in other tools for a flag that has another name here.
struct OtherName {
  std::string_view theirs{};
  std::string_view ours{};
};
constexpr OtherName kOtherNames[] = {
    {"--num-prompts", "--samples"},
    {"--num-requests", "--samples"},
    {"--request-count", "--samples"},
    {"--max-requests", "--samples"},
    {"--max-concurrency", "--concurrency"},
    {"--request-rate", "--rate"},
    {"--max-seconds", "--duration"},
    {"--benchmark-duration", "--duration"},
    {"--base-url", "--endpoint"},
    {"--target", "--endpoint"},
    {"--served-model-name", "--model"},
    {"--dataset-path", "--dataset"},
    {"--random-input-len", "--isl"},
    {"--random-output-len", "--osl"},
    {"--synthetic-input-tokens-mean", "--isl"},
    {"--output-tokens-mean", "--osl"},
};

std::string_view our_name(std::string_view flag, std::span<const std::string_view> known) {
  for (const OtherName& name : kOtherNames) {
    if (name.theirs == flag && std::ranges::find(known, name.ours) != known.end()) return name.ours;
  }
  return {};
}

// `text` broken at spaces into lines of at most `width`; every line but the first is indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += format("\n{}", std::string(indent, ' '));
      column = 0;
    }
    out += format("{}{}", column > 0 ? " " : "", word);
    column += word.size() + (column > 0 ? 1 : 0);
  }
  return out;
}

// A command that a shell takes as it stands: a line that would be too wide goes on after a
// backslash, at a flag.
std::string continued(std::string_view command) {
  constexpr std::size_t kRoom = kHelpWidth - 4;  // of the indent and the backslash
  std::string out;
  std::size_t column = 0;
  std::size_t part = 0;  // where the part that is not yet placed begins
  while (part < command.size()) {
    const std::size_t next = command.find(" -", part + 1);
    const std::string_view piece = command.substr(part, next - part);
    if (column > 0 && column + piece.size() > kRoom) {
      out += " \\\n     ";
      column = 3;
    }
    out += piece;
    column += piece.size();
    part = std::min(next, command.size());
  }
  return out;
}

thread_local std::string* captured_help = nullptr;

void print_help(const std::string& text) {
  if (captured_help != nullptr) {
    *captured_help += text;
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

}  // namespace

HelpCapture::HelpCapture(std::string& out) { captured_help = &out; }
HelpCapture::~HelpCapture() { captured_help = nullptr; }

Flag& Flag::required() {
  required_ = true;
  return *this;
}

Flag& Flag::choices(std::vector<std::string> words) {
  choices_ = std::move(words);
  return *this;
}

Flag& Flag::hidden() {
  hidden_ = true;
  return *this;
}

Flag& Flag::last_counts() {
  last_counts_ = true;
  return *this;
}

Flag& Flag::without_default() {
  shows_default_ = false;
  return *this;
}

Flag& Flag::bare_unit(Duration unit) {
  bare_unit_ = unit;
  return *this;
}

std::string Flag::heading() const {
  std::string out = joined(names_, ", ");
  if (takes_value() && !positional()) out += format(" {}", value_.empty() ? "VALUE" : value_);
  if (positional() && repeated()) out += "...";
  return out;
}

std::string Flag::default_text() const {
  if (required_ || !shows_default_) return "";
  return std::visit(
      [](auto* target) -> std::string {
        using Value = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Value, bool> || IsOptional<Value>::value) {
          return "";
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          return joined(*target, ",");
        } else {
          return shown(*target);
        }
      },
      target_);
}

Result<void> Flag::store() {
  if (values_.empty()) {
    if (required_) return invalid(format("{}: is required: {}", names_.front(), help_));
    return {};
  }
  if (values_.size() > 1 && !repeated() && takes_value()) {
    return invalid(format("{}: given {} times", names_.front(), values_.size()));
  }
  for (const std::string& value : values_) {
    if (choices_.empty() || std::ranges::find(choices_, value) != choices_.end()) continue;
    const std::vector<std::string_view> words(choices_.begin(), choices_.end());
    const std::string_view near = nearest(value, words);
    return invalid(format("{}: unknown value \"{}\"{}\n  one of: {}", names_.front(), value,
                          near.empty() ? "" : format("\n  did you mean \"{}\"?", near),
                          joined(choices_, ", ")));
  }
  return std::visit(
      [this](auto* target) -> Result<void> {
        using Value = std::remove_pointer_t<decltype(target)>;
        Result<void> done{};
        if constexpr (std::is_same_v<Value, bool>) {
          *target = true;
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          *target = values_;
        } else if constexpr (IsOptional<Value>::value) {
          done = read(values_.front(), bare_unit_, target->emplace());
        } else {
          done = read(values_.front(), bare_unit_, *target);
        }
        if (!done) return done.error().within(names_.front());
        return {};
      },
      target_);
}

Flags::Flags(std::string_view command, std::string_view summary)
    : command_(command), summary_(summary) {}

Flag& Flags::add(std::string_view names, FlagTarget target, std::string_view help) {
  Flag& flag = flags_.emplace_back();
  const std::size_t equals = std::min(names.find('='), names.size());
  flag.value_ = names.substr(std::min(equals + 1, names.size()));
  for (const std::string_view name : split(names.substr(0, equals), ',')) {
    CHECK(!name.empty() && find(name) == nullptr);
    flag.names_.emplace_back(name);
  }
  flag.target_ = target;
  flag.help_ = help;
  flag.group_ = group_;
  return flag;
}

void Flags::example(std::string_view line) { examples_.emplace_back(line); }

Flag* Flags::find(std::string_view name) {
  for (Flag& flag : flags_) {
    if (std::ranges::find(flag.names_, name) != flag.names_.end()) return &flag;
  }
  return nullptr;
}

std::string Flags::unknown_flag(std::string_view flag) const {
  std::vector<std::string_view> names{"--help"};
  for (const Flag& known : flags_) {
    if (!known.positional()) names.insert(names.end(), known.names_.begin(), known.names_.end());
  }
  const std::string_view ours = our_name(flag, names);
  const std::string_view near = ours.empty() ? nearest(flag, names) : ours;
  return format("unknown flag {}{}\n  assay {} --help lists them", flag,
                near.empty() ? "" : format("\n  did you mean {}?", near), command_);
}

Result<void> Flags::take_flag(std::span<const std::string>& args) {
  const std::string_view arg = args.front();
  args = args.subspan(1);
  const std::size_t equals = arg.starts_with("--") ? arg.find('=') : std::string_view::npos;
  const std::string_view name = arg.substr(0, equals);
  Flag* flag = find(name);
  if (flag == nullptr) {
    // The argument after an unknown flag is most likely its value: it is no second error.
    if (equals == std::string_view::npos && !args.empty() && !args.front().starts_with('-')) {
      args = args.subspan(1);
    }
    return invalid(unknown_flag(name));
  }
  if (!flag->takes_value()) {
    if (equals != std::string_view::npos) return invalid(format("{}: takes no value", name));
    flag->values_.emplace_back();
    return {};
  }
  if (equals != std::string_view::npos) {
    flag->values_.emplace_back(arg.substr(equals + 1));
    return {};
  }
  // "-5" and "-" are values; "--json" and "-e" show that the flag before them has no value.
  const bool missing =
      args.empty() || find(args.front()) != nullptr || args.front().starts_with("--");
  if (missing) return invalid(format("{}: needs a value", name));
  flag->values_.push_back(args.front());
  args = args.subspan(1);
  return {};
}

Result<void> Flags::take_positional(const std::string& arg) {
  for (Flag& flag : flags_) {
    if (!flag.positional() || (!flag.repeated() && !flag.values_.empty())) continue;
    flag.values_.push_back(arg);
    return {};
  }
  return invalid(
      format("unexpected argument \"{}\"\n  assay {} --help says what it takes", arg, command_));
}

Result<bool> Flags::parse(std::span<const std::string> args) {
  std::string errors;
  const auto note = [&errors](const Result<void>& result) {
    if (!result) errors += format("{}{}", errors.empty() ? "" : "\n", result.error().message);
  };
  bool flags_ended = false;
  while (!args.empty()) {
    const std::string& arg = args.front();
    if (!flags_ended && (arg == "--help" || arg == "-h")) {
      print_help(help());
      return false;
    }
    if (!flags_ended && arg == "--help-json") {
      print_help(description().dump() + "\n");
      return false;
    }
    const bool number = parse_double(arg).has_value();  // "-8" is a value, though a wrong one
    if (!flags_ended && arg.size() > 1 && arg.front() == '-' && !number) {
      if (arg != "--") {
        note(take_flag(args));
        continue;
      }
      flags_ended = true;
    } else {
      note(take_positional(arg));
    }
    args = args.subspan(1);
  }
  for (Flag& flag : flags_) note(flag.store());
  if (!errors.empty()) return invalid(errors);
  return true;
}

bool Flags::given(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (std::ranges::find(flag.names_, name) != flag.names_.end()) return !flag.values_.empty();
  }
  CHECK(false && "given() was asked of a flag that was not added");
  return false;
}

std::string Flags::help() const {
  std::string out = format("assay {}", command_);
  for (const Flag& flag : flags_) {
    if (!flag.positional()) continue;
    out += flag.required_ ? format(" {}", flag.heading()) : format(" [{}]", flag.heading());
  }
  out += format(" [flags]\n\n  {}\n", wrapped(summary_, kHelpWidth - 2, 2));

  std::vector<std::string> groups;
  const auto title_of = [](const Flag& flag) -> std::string {
    if (!flag.group_.empty()) return flag.group_;
    return flag.positional() ? "Arguments" : "Flags";
  };
  for (const Flag& flag : flags_) {
    if (flag.hidden_) continue;
    if (std::ranges::find(groups, title_of(flag)) == groups.end()) groups.push_back(title_of(flag));
  }
  for (const std::string& group : groups) {
    out += format("\n{}\n", group);
    for (const Flag& flag : flags_) {
      if (flag.hidden_ || title_of(flag) != group) continue;
      std::string text = flag.help_;
      if (!flag.choices_.empty()) text += format(": {}", joined(flag.choices_, ", "));
      if (!flag.default_text().empty()) text += format(" (default {})", flag.default_text());
      if (flag.required_ && !flag.positional()) text += " (required)";
      const std::string heading = format("  {}", flag.heading());
      out += heading;
      out += heading.size() + 2 > kHelpColumn ? format("\n{}", std::string(kHelpColumn, ' '))
                                              : std::string(kHelpColumn - heading.size(), ' ');
      out += format("{}\n", wrapped(text, kHelpWidth - kHelpColumn, kHelpColumn));
    }
  }
  if (!examples_.empty()) out += "\nExamples\n";
  for (const std::string& line : examples_) out += format("  {}\n", continued(line));
  return out;
}

}  // namespace assay
