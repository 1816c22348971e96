// A switch without every outcome: a new kind of failure must stop the build where it is not
// handled.
//
// refused: enumeration value.*not handled
#include "domain/event.h"

bool counts_as_timeout(assay::Outcome outcome) {
  switch (outcome) {
    case assay::Outcome::timed_out:
      return true;
    case assay::Outcome::ok:
    case assay::Outcome::connect_failed:
    case assay::Outcome::tls_failed:
    case assay::Outcome::reset:
    case assay::Outcome::truncated:
    case assay::Outcome::http_error:
    case assay::Outcome::stream_error:
    case assay::Outcome::bad_reply:
#ifndef MISUSE
    case assay::Outcome::cancelled:
    case assay::Outcome::over_memory:
#endif
      return false;
  }
  return false;
}
