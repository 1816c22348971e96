#include "campaign/compared_side.h"

#include <utility>

#include "campaign/token_counting.h"
#include "interchange/read/run_view.h"
#include "record/event_log.h"

namespace assay::campaign {

compare::ComparedRun ComparedSide::compared(const std::string& name) const {
  std::optional<audit::ClientLimited> client;
  if (run.innocence) client = run.innocence->client_limited;
  compare::ComparedRun out{.name = name, .point = &run.point, .rows = &rows, .client = client};
  if (run.trajectories) out.sent_digest = run.trajectories->sent_digest;
  return out;
}

Result<std::unique_ptr<ComparedSide>> load_compared(const std::string& folder,
                                                    const std::string& tokenizer) {
  ASSIGN_OR_RETURN(const interchange::RunView view, interchange::RunView::open(folder));
  const std::string read = view.folder();
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(read)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  auto side = std::make_unique<ComparedSide>(info);
  audit::LoadOptions how{.replies = &side->rows};
  if (!tokenizer.empty()) {
    ASSIGN_OR_RETURN(how.counts, recount_tokens(read, tokenizer));
  }
  ASSIGN_OR_RETURN(side->run, load_run(read, std::move(how)));
  side->run.folder = view.given();
  side->rows.sort();
  return side;
}

}  // namespace assay::campaign
