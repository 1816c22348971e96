#include "protocol/probe_sound.h"

#include <utility>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::protocol {
namespace {

std::string pieces(std::size_t n) { return counted(n, "piece"); }

void add(ProbeReport& report, Verdict verdict, std::string topic, std::string text) {
  report.findings.push_back({verdict, std::move(topic), std::move(text)});
}

void find_length(const ReplyFacts& sound, Instant sent, ProbeReport& report) {
  const std::string type = printable(header_of(sound, "content-type"));
  if (sound.sound_length.ns < 0) {
    return add(report, Verdict::note, "sound",
               format("{} of {}: only a decoder knows how long it plays",
                      human_bytes(sound.sound_bytes), type));
  }
  const Duration took = sound.end - sent;
  const double speed = took.ns > 0 ? sound.sound_length.seconds() / took.seconds() : 0;
  const std::string text = format("{}: {} of sound in {}", type, human_duration(sound.sound_length),
                                  human_duration(took));
  if (speed >= 1) {
    add(report, Verdict::good, "sound",
        format("{}, {} times as fast as it plays", text, three_digits(speed)));
  } else {
    add(report, Verdict::note, "sound",
        format("{}: slower than it plays, so a listener would have to wait", text));
  }
}

void find_events(const ReplyFacts& events, ProbeReport& report) {
  const bool came =
      events.has_head && events.head.status == 200 && events.streamed && !events.is_sound;
  if (!came) {
    add(report, Verdict::note, "events",
        "stream_format sse brings no events: ask for the bytes alone");
  } else if (!events.error.empty()) {
    add(report, Verdict::bad, "events",
        format("an error inside the stream: \"{}\"", printable(events.error)));
  } else if (!events.done_marker.known()) {
    add(report, Verdict::bad, "events", "the stream has no speech.audio.done");
  } else {
    add(report, Verdict::good, "events",
        format("stream_format sse brings {}{}", pieces(events.sound_pieces),
               events.usage_events > 0 ? ", and counts of tokens" : ""));
  }
}

}  // namespace

void find_sound(const std::string& missing, const ProbeAnswers& answers, ProbeReport& report) {
  const ReplyFacts& sound = report.streamed;
  if (!missing.empty()) return add(report, Verdict::bad, "sound", missing);
  if (sound.sound_bytes == 0) {
    return add(report, Verdict::bad, "sound",
               sound.error.empty()
                   ? format("no sound came: {}", printable(sound.body.substr(0, 100)))
                   : format("HTTP 200 with an error: \"{}\"", printable(sound.error)));
  }
  if (!sound.complete) {
    return add(report, Verdict::bad, "sound", "the connection broke before the sound's end");
  }
  find_length(sound, answers.streamed.sent, report);
  if (sound.streamed) {
    add(report, Verdict::good, "stream",
        format("{}, the first after {}", pieces(sound.sound_pieces),
               human_duration(sound.first_sound - answers.streamed.sent)));
  } else {
    add(report, Verdict::note, "stream",
        "the sound came whole, with its length: no first sound can be measured");
  }
  if (answers.plain_asked) find_events(report.plain, report);
}

}  // namespace assay::protocol
