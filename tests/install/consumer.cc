// A program by a user of libassay: only find_package(assay) and our headers.
#include <cstdio>

#include "base/json.h"
#include "base/version.h"
#include "domain/plan.h"

int main() {
  assay::PhasePlan phase;
  phase.order = assay::SampleOrder::shuffled(100, 42);
  assay::QueryStream queries(phase, 0, 0, 1);
  assay::Json line;
  line.set("libassay", assay::version()).set("first_sample", queries.next().sample);
  std::printf("%s\n", line.dump().c_str());
  return assay::version().empty() ? 1 : 0;
}
