// What the tests of importing share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "store/store.h"

namespace assay::explorer {

inline void write(const std::filesystem::path& path, std::string_view text) {
  ASSERT_TRUE(write_file_atomic(path, text));
}

inline Json point_of(const store::CurveRecord& curve, std::size_t i) {
  return *Json::parse(curve.points[i].document);
}

}  // namespace assay::explorer
