// What is known of a machine before anything was read.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "host/readiness.h"
#include "host/taken_time.h"

namespace assay::host {
namespace {

TEST(NothingKnown, a_machine_has_no_figure_and_took_no_time) {
  const MachineFacts f;
  EXPECT_EQ(together(f.cores, f.memory_bytes, f.swapped_bytes, f.open_files, f.disk_bytes), 0);
  EXPECT_EQ(f.load, -1);
  EXPECT_EQ(f.ports, -1);
  EXPECT_EQ(TakenTime{}.stolen.ns, -1);
  EXPECT_EQ(TakenTime{}.throttled.ns, -1);
  EXPECT_EQ(TakenTime{}.throttled_periods, 0U);
}

}  // namespace
}  // namespace assay::host
