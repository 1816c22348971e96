// A guarded variable read without its lock. Only clang checks this.
//
// clang only
// refused: reading variable 'count' requires holding mutex 'mutex'
#include "base/mutex.h"

struct Counter {
  int read() {
#ifndef MISUSE
    const assay::Lock lock(mutex);
#endif
    return count;
  }
  assay::Mutex mutex{};
  int count GUARDED_BY(mutex) = 0;
};
