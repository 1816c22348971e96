#include "base/result.h"

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/format.h"

namespace assay {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::invalid:
      return "invalid";
    case Code::not_found:
      return "not_found";
    case Code::refused:
      return "refused";
    case Code::timed_out:
      return "timed_out";
    case Code::corrupt:
      return "corrupt";
    case Code::unsupported:
      return "unsupported";
    case Code::io:
      return "io";
  }
  CHECK(false && "no such Code");
  return "";
}

Error Error::within(std::string_view what) const {
  return Error{code, format("{}: {}", what, message)};
}

Error errno_error(std::string_view what) {
  const int number = errno;
  Code code = Code::io;
  if (number == ENOENT) code = Code::not_found;
  if (number == EACCES || number == EPERM || number == ECONNREFUSED) code = Code::refused;
  if (number == ETIMEDOUT) code = Code::timed_out;
  return Error{code, format("{}: {}", what, std::strerror(number))};
}

Error invalid(std::string message) { return Error{Code::invalid, std::move(message)}; }

}  // namespace assay
