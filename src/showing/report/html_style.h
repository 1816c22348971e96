// What all pages of reports begin with. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::report {

// The page's own stylesheet, beside that of the charts (svg/style.h).
std::string page_stylesheet();
// A page up to <body>: its title, escaped here, both stylesheets and `more` after them, and a
// policy by which nothing is loaded from anywhere.
std::string page_head(std::string_view title, std::string_view more = "");

}  // namespace assay::report
