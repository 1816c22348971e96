#include "interchange/sample_index.h"

#include <string>
#include <string_view>

#include "base/format.h"
#include "base/json.h"
#include "base/staged.h"

namespace assay::interchange {

SampleIndex::SampleIndex(RunInfo info)
    : info_(std::move(info)), rows_of_pass_(info_.facts["rows_of_pass"].as_uint()) {}

bool SampleIndex::is_tail(std::size_t phase) const {
  return phase < info_.phases.size() && info_.phases[phase].kind == PhaseKind::tail;
}

void SampleIndex::note(const Query& query) {
  std::size_t phase = query.phase;
  while (phase > 0 && is_tail(phase)) --phase;
  if (phase < info_.phases.size() && !is_counted(info_.phases[phase].kind)) return;
  if (phase >= phases_.size()) phases_.resize(phase + 1);
  const auto row = rows_of_pass_ > 0 && info_.phases.size() > phase &&
                           info_.phases[phase].kind == PhaseKind::performance
                       ? static_cast<std::uint32_t>(query.sample % rows_of_pass_)
                       : query.sample;
  phases_[phase].push_back({query.phase, query.index, row});
}

void SampleIndex::on_sent(const Query& query, Instant, Instant) { note(query); }

void SampleIndex::on_done(const Event& event, std::string_view) {
  if (!event.sent.known()) note(event.query);  // the reference client counts it as issued
}

Result<void> SampleIndex::write(const std::filesystem::path& path) const {
  ASSIGN_OR_RETURN(StagedFile file, StagedFile::create(path));
  file.append("{");
  std::string_view phase_separator = "\n";
  for (std::size_t phase = 0; phase < std::max(phases_.size(), info_.phases.size()); ++phase) {
    const bool named = phase < info_.phases.size();
    if (named && !is_counted(info_.phases[phase].kind)) continue;
    const std::string name = named ? info_.phases[phase].name : format("phase {}", phase);
    file.append(format("{}  {}: {{", phase_separator, json_quote(name)));
    phase_separator = ",\n";
    std::string_view separator = "\n";
    if (phase < phases_.size()) {
      for (const Used& one : phases_[phase]) {
        const QueryUuid uuid = query_uuid(info_.run_key, one.phase, one.index);
        file.append(format("{}    \"{}\": {}", separator,
                           std::string_view(uuid.data(), uuid.size()), one.row));
        separator = ",\n";
      }
    }
    file.append(separator == "\n" ? "}" : "\n  }");
  }
  file.append(phase_separator == "\n" ? "}\n" : "\n}\n");
  return file.commit();
}

}  // namespace assay::interchange
