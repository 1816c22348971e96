// For tests: compares text with a file under tests/golden/. ASSAY_UPDATE=1 rewrites the file;
// review that change in the diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace assay {

// The first line in which two texts differ, from both texts.
inline std::string first_difference(std::string_view wanted, std::string_view got) {
  const std::vector<std::string_view> a = split(wanted, '\n');
  const std::vector<std::string_view> b = split(got, '\n');
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto line = [i](const std::vector<std::string_view>& lines) {
    return i < lines.size() ? std::string(lines[i].substr(0, 400)) : std::string("(no more lines)");
  };
  return "line " + std::to_string(i + 1) + "\n  wanted: " + line(a) + "\n  got:    " + line(b);
}

// `name`: "metrics/report.txt".
inline void expect_golden(std::string_view name, std::string_view text) {
  const auto path = std::filesystem::path(ASSAY_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("ASSAY_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file_atomic(path, text)) << path;
    return;
  }
  const Result<std::string> wanted = read_file(path);
  ASSERT_TRUE(wanted) << wanted.error().message << "\nASSAY_UPDATE=1 writes it";
  EXPECT_TRUE(*wanted == text) << path << ": " << first_difference(*wanted, text)
                               << "\nASSAY_UPDATE=1 rewrites it";
}

}  // namespace assay
