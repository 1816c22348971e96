// The colours and lines of every chart: Okabe and Ito's palette, which colour-blind readers can
// tell apart, for light, dark and print. Shape and dashes repeat the meaning of colour: solid is
// measured, dashed is simulated, dotted is estimated or a percentile over time.
//
// Source: Okabe and Ito, "Color Universal Design" (2008).
#pragma once

#include <string>
#include <string_view>

namespace assay::report::svg {

// Custom properties for :root, the dark ones behind prefers-color-scheme, and the rules for the
// charts' classes. For a <style>, once a page.
std::string_view stylesheet();

}  // namespace assay::report::svg
