// An Instant passed as a Duration.
//
// refused: could not convert|cannot convert|no viable conversion|no matching function
#include "base/time.h"

void wait(assay::Duration duration);

void use(assay::Instant start, assay::Instant end) {
#ifdef MISUSE
  wait(end);
#else
  wait(end - start);
#endif
}
