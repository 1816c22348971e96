// For tests of pages.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

// Tags open and close in order; void elements have no end tag.
inline void expect_balanced(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    ASSERT_NE(end, std::string_view::npos);
    std::string_view tag = html.substr(at + 1, end - at - 1);
    if (tag.starts_with('!')) continue;
    const bool closing = tag.starts_with('/');
    if (closing) tag.remove_prefix(1);
    const bool empty = tag.ends_with('/');
    const std::string name(tag.substr(0, tag.find_first_of(" /\n")));
    if (empty || name == "meta") continue;
    if (!closing) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

}  // namespace assay::report
