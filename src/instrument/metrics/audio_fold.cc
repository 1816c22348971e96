#include "metrics/audio_fold.h"

#include <algorithm>
#include <utility>

namespace assay::metrics {

void AudioFold::add(const Event& event) {
  const Sound& sound = event.sound;
  if (sound.bytes == 0) return;
  ++sums_.replies;
  sums_.bytes += sound.bytes;
  if (sound.first.known() && event.sent.known()) {
    const auto least = [](Duration span, Duration less) {
      return std::max(span - less, Duration{});
    };
    const Duration from_sent = sound.first - event.sent;
    const Duration from_due = sound.first - event.due;
    first_.add(from_sent, least(from_sent, sound.first_uncertainty + event.sent_uncertainty),
               from_sent);
    first_due_.add(from_due, least(from_due, sound.first_uncertainty), from_due);
    first_read_.add(from_sent + sound.first_read_delay);
  }
  if (sound.length.ns < 0) {
    ++sums_.of_unknown_length;
    return;
  }
  length_ns_ += sound.length.ns;
  if (event.sent.known() && event.done > event.sent) {
    speed_.add(static_cast<double>(sound.length.ns) /
               static_cast<double>((event.done - event.sent).ns));
  }
  if (!sound.first.known()) return;
  ++sums_.played;
  sums_.underruns += sound.underruns;
  if (sound.underruns == 0) return;
  ++sums_.waited;
  waits_.add(sound.waited);
}

Audio AudioFold::finish(Duration duration, bool estimates, bool limits) {
  Audio out = std::exchange(sums_, Audio{});
  out.seconds = static_cast<double>(length_ns_) * 1e-9;
  const bool known = out.replies > out.of_unknown_length;
  if (known && duration.ns > 0) out.per_second = out.seconds / duration.seconds();
  out.first = first_.finish(estimates, limits);
  out.first_due = first_due_.finish(estimates, limits);
  out.first_read = first_read_.finish(estimates);
  out.speed = speed_.finish(false);
  out.waits = waits_.finish(false);
  length_ns_ = 0;
  return out;
}

}  // namespace assay::metrics
