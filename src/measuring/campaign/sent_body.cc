#include "campaign/sent_body.h"

#include "base/format.h"
#include "protocol/codec.h"

namespace assay::campaign {

Result<std::string> sent_body(const plan::PlanBundle& bundle, const Query& query) {
  if (query.phase >= bundle.plan.phases.size()) return invalid("a query of no phase of the plan");
  const PlannedDataset& planned = bundle.datasets[bundle.plan.phases[query.phase].dataset];
  if (query.sample >= planned.dataset.rows()) {
    return invalid(format("dataset '{}' has no row {}", planned.dataset.name, query.sample + 1));
  }
  Sample room;
  ASSIGN_OR_RETURN(protocol::RequestBody body,
                   protocol::make_body(bundle.endpoints.spoken(), planned.generation,
                                       planned.dataset.row(query.sample, room), query.salted));
  if (body.salt_offset != protocol::kNoHole) {
    protocol::write_salt(body.bytes.data() + body.salt_offset, body.salt_form, query.salt);
  }
  return std::move(body.bytes);
}

}  // namespace assay::campaign
