// SoundMeter: how many bytes of a reply are sound, and how long they play. Samples without a head
// (pcm) play as fast as the request asked for them; a WAV file says in its head how fast, and is
// known by its first bytes, whatever was asked for: some servers send one in place of another. Of
// other formats (mp3, opus, aac, flac) only a decoder knows the length, so their bytes are counted
// and their length is not known.
//
// Nothing of the sound is decoded or kept; a head is kept until it is whole. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace assay::protocol {

class SoundMeter {
 public:
  // A longer head is no head: its length is not known.
  static constexpr std::size_t kHeadMax = 64 * 1024;

  // For a new reply. `rate`: the bytes of one second of a sound without a head; 0: not known.
  void begin(std::uint32_t rate);
  // Takes the next bytes, and returns how many more are known to be sound.
  std::uint64_t feed(std::string_view bytes);
  // The same for base64. Only a head is decoded; of what follows only the length counts.
  std::uint64_t feed_base64(std::string_view text);
  // The reply is over: the bytes that could have been the beginning of a head are sound.
  std::uint64_t finish();

  // False after base64 that could not be read.
  bool sound() const { return state_ != State::broken; }
  // Bytes that play in a second; 0: not known, or not yet.
  std::uint32_t rate() const { return state_ == State::samples ? rate_ : 0; }
  // How long they play. REQUIRES: rate() > 0.
  Duration length_of(std::uint64_t bytes) const;
  // Bytes of sound that the head promised and that did not come.
  std::uint64_t missing() const { return promised_ > taken_ ? promised_ - taken_ : 0; }

 private:
  enum class State : std::uint8_t { head, samples, broken };

  std::uint64_t take(std::uint64_t bytes);
  // Samples from head_[at] on.
  std::uint64_t begin_samples(std::size_t at);
  std::uint64_t read_head();

  State state_ = State::head;
  std::uint32_t rate_ = 0;
  std::uint64_t promised_ = 0;  // 0: nothing was, as in a head that was sent before its sound
  std::uint64_t taken_ = 0;
  std::string head_{};
};

}  // namespace assay::protocol
