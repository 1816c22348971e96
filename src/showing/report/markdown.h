// The report as markdown, for a pull request, a ticket or a wiki: the same facts in the same order
// as the terminal's. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "report/content.h"

namespace assay::report {

std::string markdown_report(const metrics::Point& point, const RunContext& context);

// `text` so that markdown shows it as it stands, in a table too: what a server said can't become a
// link, a heading or HTML.
std::string markdown_escape(std::string_view text);

}  // namespace assay::report
