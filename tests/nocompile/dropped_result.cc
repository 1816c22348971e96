// A Result that is not used: the failure would be lost.
//
// refused: nodiscard|unused-result
#include "base/result.h"

assay::Result<int> answer();

int main() {
#ifdef MISUSE
  answer();
#else
  return answer().value_or(0);
#endif
}
