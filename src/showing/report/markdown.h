// The report as markdown, for a pull request, a ticket or a wiki: the facts of the terminal report
// in the same order. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "report/content.h"

namespace assay::report {

std::string markdown_report(const metrics::Point& point, const RunContext& context);

// Escapes `text` so that markdown shows it literally, in a table too: a server's text can't become
// a link, a heading or HTML.
std::string markdown_escape(std::string_view text);

}  // namespace assay::report
