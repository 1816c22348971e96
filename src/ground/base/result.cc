#include "base/result.h"

#include <cerrno>
#include <cstring>

#include "base/enum_name.h"
#include "base/format.h"

namespace assay {

std::string_view to_string(Code code) { return enum_name(code); }

Error Error::within(std::string_view what) const {
  return Error{code, format("{}: {}", what, message)};
}

Code code_of_errno(int number) {
  switch (number) {
    case ENOENT:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case ECONNREFUSED:
      return Code::refused;
    case ETIMEDOUT:
      return Code::timed_out;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:  // a limit on file sizes acts like a full disk
    case ENOMEM:
      return Code::exhausted;
    default:
      return Code::io;
  }
}

Error errno_error(std::string_view what) {
  const int number = errno;
  return Error{code_of_errno(number), format("{}: {}", what, std::strerror(number))};
}

Error invalid(std::string message) { return Error{Code::invalid, std::move(message)}; }

}  // namespace assay
