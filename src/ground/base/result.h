// Result<T>: a value, or an Error that says what failed outside our program.
//
// Three kinds of failure, three tools. The world failed (a file, the network, a user's input):
// Result. A request in a run failed: data (domain/event.h, Outcome). We failed: CHECK. Exceptions
// never leave a room: the file that wraps a throwing library catches them and returns an Error.
//
// An Error is a code for callers and a sentence for people. Each layer puts what it was doing in
// front: load 'a.yaml': line 3: concurrency: must be at least 1.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace assay {

enum class Code {
  invalid,      // the user's input is wrong; exit code 2
  not_found,    // no such file, sample, model
  refused,      // the peer or the system said no
  timed_out,    // nothing came in time
  corrupt,      // bytes that are not what they claim to be
  unsupported,  // well formed, but not something we do
  io,           // the disk or the network failed
  exhausted,    // memory is used up, or a disk takes no more
};

std::string_view to_string(Code code);

struct Error {
  Code code = Code::invalid;
  std::string message{};

  // The same error with "what: " in front.
  Error within(std::string_view what) const;
};

// The code of an errno or std::error_code number; io where no other code fits.
Code code_of_errno(int number);
// An error with `what`, errno's text and errno's code.
Error errno_error(std::string_view what);

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(Error error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}
};

// The commonest Error: invalid("rate: must be above 0").
Error invalid(std::string message);

}  // namespace assay

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

// TRY(expr): returns the error of a Result to the caller; the value, if any, is dropped.
#define TRY(expr)                                           \
  do {                                                      \
    auto&& assay_try_result = (expr);                       \
    if (!assay_try_result) return assay_try_result.error(); \
  } while (false)

// ASSIGN_OR_RETURN(const auto x, expr): x is the value; an error is returned to the caller.
#define ASSIGN_OR_RETURN(declaration, expr) \
  ASSAY_ASSIGN_OR_RETURN(ASSAY_CONCAT(assay_result_, __LINE__), declaration, expr)
#define ASSAY_ASSIGN_OR_RETURN(name, declaration, expr) \
  auto name = (expr);                                   \
  if (!name) return std::move(name.error());            \
  declaration = std::move(*name)
