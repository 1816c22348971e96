// The colours and lines of every chart: Okabe and Ito's palette, which stays apart for colour-blind
// eyes, in a light, a dark and a printed dress. Shape and dashes repeat what colour says: solid is
// measured, dashed is simulated, dotted is estimated or a percentile's course.
//
// Source: Okabe and Ito, "Color Universal Design" (2008).
#pragma once

#include <string>
#include <string_view>

namespace assay::report::svg {

// Custom properties for :root, with the dark ones behind prefers-color-scheme, and the rules for
// the classes that charts use. Goes into a <style>, once a page.
std::string_view stylesheet();

// A picture that stands alone in a file: the chart with the stylesheet inside.
std::string standalone(std::string_view chart);

}  // namespace assay::report::svg
