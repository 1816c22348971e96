// The page's own stylesheet, beside that of the charts (svg/style.h). For html.h.
#pragma once

#include <string>

namespace assay::report {

std::string page_stylesheet();

}  // namespace assay::report
