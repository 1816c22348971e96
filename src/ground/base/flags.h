// Flags: the flags and arguments of one command, and where each value is stored.
//
//     Options options;
//     Flags flags("probe", "is it up, what does it speak, is its stream sane?");
//     flags.add("URL", &options.url, "the endpoint").required();
//     flags.add("--timeout=TIME", &options.timeout, "give up after").bare_unit(1_s);
//     flags.add("--json", &options.json, "print the findings as JSON");
//     flags.example("assay probe http://localhost:8000");
//     PARSE_OR_RETURN(flags, args);
//
// A name that starts with a dash is a flag ("--endpoint,-e": messages use the first); any other
// name is positional. What stands after a "=" names the value in the help: URL, FILE, N. A value
// that the variable already holds is its default and is shown in the help; std::optional stays
// empty unless the flag is given. All mistakes on a command line are reported at once. Spelling:
// --kebab-case, as --flag value or --flag=value; "--" ends the flags. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace assay {

// bool: true when the flag is given. Duration: "50ms", "10s", "1.5m", "2h". vector: the flag may be
// repeated; a positional vector takes all remaining arguments.
using FlagTarget =
    std::variant<bool*, std::string*, std::int64_t*, std::uint64_t*, double*, Duration*,
                 std::optional<std::string>*, std::optional<std::int64_t>*,
                 std::optional<std::uint64_t>*, std::optional<double>*, std::optional<Duration>*,
                 std::vector<std::string>*>;

class Flag {
 public:
  Flag& required();
  Flag& choices(std::vector<std::string> words);
  // The variable's value means "not given": the help does not show it as a default.
  Flag& without_default();
  // The flag is parsed, but --help does not list it.
  Flag& hidden();
  // Only the last of a vector's values counts, so a description shows one text.
  Flag& last_counts();
  // Unit of a Duration that is given without one; seconds by default.
  Flag& bare_unit(Duration unit);

 private:
  friend class Flags;
  std::vector<std::string> names_{};
  FlagTarget target_{};
  std::string help_{};
  std::string value_{};
  std::string group_{};
  std::vector<std::string> choices_{};
  Duration bare_unit_{1'000'000'000};
  bool required_ = false;
  bool hidden_ = false;
  bool last_counts_ = false;
  bool shows_default_ = true;

  bool positional() const { return names_.front().front() != '-'; }
  bool takes_value() const { return !std::holds_alternative<bool*>(target_); }
  bool repeated() const { return std::holds_alternative<std::vector<std::string>*>(target_); }
  std::string heading() const;
  std::string default_text() const;
  std::string_view kind() const;
  Json description() const;
  Result<void> store();

  std::vector<std::string> values_{};  // as given on the command line
};

// While it lives, --help and --help-json of this thread go into `out` instead of standard output.
class HelpCapture {
 public:
  explicit HelpCapture(std::string& out);
  ~HelpCapture();
  HelpCapture(const HelpCapture&) = delete;
  HelpCapture& operator=(const HelpCapture&) = delete;
};

class Flags {
 public:
  Flags(std::string_view command, std::string_view summary);

  // A heading in the help for the flags that are added from now on; those of "" stand under
  // "Flags".
  void group(std::string_view title) { group_ = title; }
  // The variable must outlive parse(). The Flag& stays valid while this object lives.
  Flag& add(std::string_view names, FlagTarget target, std::string_view help);
  void example(std::string_view line);

  // False: the help was asked for (--help, or --help-json for programs) and printed, and the
  // command should end.
  Result<bool> parse(std::span<const std::string> args);

  // After parse(): whether it was on the command line. `name` is any name that add() got.
  bool given(std::string_view name) const;
  std::string help() const;
  // {command, summary, flags: [{names, kind, value, help, default, group, choices, required,
  // hidden}], examples}. Completion, manual pages and agents are served from it.
  Json description() const;

 private:
  Flag* find(std::string_view name);
  // Takes one flag, and its value, from the front of `args`.
  Result<void> take_flag(std::span<const std::string>& args);
  Result<void> take_positional(const std::string& arg);
  std::string unknown_flag(std::string_view flag) const;

  std::string command_;
  std::string summary_;
  std::string group_{};
  std::deque<Flag> flags_{};  // a deque keeps each Flag& valid
  std::vector<std::string> examples_{};
};

}  // namespace assay

// PARSE_OR_RETURN(flags, args): ends the command at a mistake in `args`, and, with the exit code of
// success, where --help was asked for and printed.
#define PARSE_OR_RETURN(flags, args)                    \
  ASSIGN_OR_RETURN(const bool go, (flags).parse(args)); \
  if (!go) return ::assay::exit_code(::assay::ExitCode::done)
