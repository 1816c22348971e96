#include "base/time.h"

#include <ctime>

#include "base/format.h"

namespace assay {
namespace {

std::tm utc(WallTime time) {
  const std::time_t seconds = static_cast<std::time_t>(time.ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

std::string rfc3339(WallTime time) {
  const std::tm t = utc(time);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", t.tm_year + 1900, t.tm_mon + 1,
                t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, time.ns % 1'000'000'000);
}

std::string compact_stamp(WallTime time) {
  const std::tm t = utc(time);
  return format("{:04}{:02}{:02}_{:02}{:02}{:02}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
                t.tm_hour, t.tm_min, t.tm_sec);
}

}  // namespace assay
