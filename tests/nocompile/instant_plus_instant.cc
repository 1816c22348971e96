// The sum of two Instants has no meaning.
//
// refused: no match for 'operator\+'|invalid operands to binary expression
#include "base/time.h"

assay::Instant use(assay::Instant a, assay::Instant b) {
#ifdef MISUSE
  return a + b;
#else
  return a + (b - assay::Instant{});
#endif
}
