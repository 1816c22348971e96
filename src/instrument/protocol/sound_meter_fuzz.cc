// The sound of a reply: the same bytes and rate however it is cut, and never more than came.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "protocol/sound_meter.h"

using assay::protocol::SoundMeter;

// The first byte: how the rest is cut, and whether a rate was asked for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::uint32_t asked = (data[0] & 1) != 0 ? 48'000 : 0;
  const std::size_t cut = data[0] / 2 + 1;
  SoundMeter whole;
  whole.begin(asked);
  std::uint64_t sound = whole.feed(bytes);
  sound += whole.finish();
  SoundMeter pieces;
  pieces.begin(asked);
  std::uint64_t again = 0;
  for (std::size_t at = 0; at < bytes.size(); at += cut)
    again += pieces.feed(bytes.substr(at, cut));
  again += pieces.finish();
  CHECK(sound == again && sound <= bytes.size());
  CHECK(whole.rate() == pieces.rate() && whole.missing() == pieces.missing());
  if (whole.rate() > 0) CHECK(whole.length_of(sound).ns >= 0);
  SoundMeter text;
  text.begin(asked);
  CHECK(text.feed_base64(bytes) <= bytes.size());
  return 0;
}
