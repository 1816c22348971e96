#include "record/sample_index.h"

#include <string>
#include <string_view>

#include "base/format.h"
#include "base/json.h"
#include "record/stream_file.h"

namespace assay::record {

void SampleIndex::note(const Query& query) {
  if (query.phase < info_.phases.size() && !is_counted(info_.phases[query.phase].kind)) {
    return;
  }
  if (query.phase >= phases_.size()) phases_.resize(std::size_t{query.phase} + 1);
  phases_[query.phase].emplace_back(query.index, query.sample);
}

void SampleIndex::on_sent(const Query& query, Instant, Instant) { note(query); }

void SampleIndex::on_done(const Event& event, std::string_view) {
  if (!event.sent.known()) note(event.query);  // it was issued all the same
}

Result<void> SampleIndex::write(const std::filesystem::path& path) const {
  ASSIGN_OR_RETURN(StreamFile file, StreamFile::create(path));
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
      for (const auto& [index, sample] : phases_[phase]) {
        const QueryUuid uuid = query_uuid(info_.run_key, static_cast<std::uint16_t>(phase), index);
        file.append(format("{}    \"{}\": {}", separator,
                           std::string_view(uuid.data(), uuid.size()), sample));
        separator = ",\n";
      }
    }
    file.append(separator == "\n" ? "}" : "\n  }");
  }
  file.append(phase_separator == "\n" ? "}\n" : "\n}\n");
  return file.commit();
}

}  // namespace assay::record
