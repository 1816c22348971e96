// Jobs behind the seam (OpenAI's videos): a query begins a job, looks at it until it has ended, and
// fetches what it made, on one HTTP/1.1 connection, a job at a time.
//
// The looks are `poll_interval` after the answer before, so an end is seen late by up to that: the
// latency's uncertainty holds it, from the look that found the job running to the answer that has
// it completed. A connection may end between two looks, or end itself after an answer, as servers
// do with idle ones: the job then goes on on another one, and is not begun twice.
#include <cstring>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "net/http1_response.h"
#include "protocol/kind/kind.h"
#include "protocol/transport.h"

namespace assay::protocol {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;

bool succeeded(const net::ResponseHead& head) { return head.status >= 200 && head.status < 300; }

class JobTransport final : public Transport {
 public:
  JobTransport(Lane& lane, TransportShared& shared)
      : lane_(lane), shared_(shared), parser_(shared.memory) {}

  bool begin(Slot& slot, Instant now, bool whole, Pieces* request_out) override {
    slot.out = true;
    lane_.going_out.push_back(&slot);
    if (slot.job != nullptr) {
      wait(slot);
      return true;
    }
    slot.job = std::make_unique<Job>();
    slot.job->running_at = now;
    *request_out =
        shared_.requests.fill(slot.exchange.query(), lane_.endpoint, shared_.run_key, whole);
    note_head(*request_out, *slot.job);
    expect(Step::asking);
    return true;
  }

  void go_on(Slot& slot, Instant now) override {
    Job& job = *slot.job;
    expect(job.completed ? Step::fetching : Step::looking);
    job.asked_at = now;
    out_ += format("GET {}/{}{}{} HTTP/1.1\r\n{}\r\n", job.path, job.id,
                   job.completed ? "/content" : "", job.query, job.fields);
  }

  Fed feed(std::string_view bytes, std::size_t rest, const Stamp& at) override {
    // Bytes without a request: with them in the stream, the next reply would be read wrongly.
    if (!lane_.busy()) return {.sound = false, .changed = true};
    Slot& slot = *lane_.active[0];
    fed_ = {};
    if (step_ == Step::waiting) {
      move_on(slot);
      return fed_;
    }
    slot.exchange.on_bytes(bytes.size(), at);
    step_ == Step::fetching ? fetch(slot, bytes, rest, at) : listen(slot, bytes, rest, at);
    return fed_;
  }

  std::string_view output() override {
    sending_.clear();
    sending_.swap(out_);
    return sending_;
  }

  bool goes_on(Slot& slot, const Stamp& at) override {
    fed_ = {};
    const bool answer = step_ == Step::asking || step_ == Step::looking;
    if (answer && parser_.started()) {
      if (parser_.end_of_input() != ParserState::complete) return false;
      take_answer(slot, false, at);
      return true;
    }
    // It closed between two answers, or crossed with the request, which may be repeated.
    const bool between = !parser_.started() && step_ != Step::asking;
    if (step_ != Step::waiting && (!between || ++slot.job->lost > kUnprocessedMax)) return false;
    move_on(slot);
    return true;
  }

  bool cancel(Slot&) override { return false; }
  void unprocessed(Slot&) override {}

  std::uint32_t capacity() const override { return leaving_ || lane_.busy() ? 0 : 1; }
  std::uint32_t limit() const override { return 1; }
  Standing standing() const override { return leaving_ ? Standing::leaving : Standing::open; }
  bool announces_end() const override { return false; }

  Ending ending(Side, int error) override {
    if (error != 0) return {.outcome = outcome_of(error), .why = std::strerror(error)};
    if (step_ == Step::fetching && parser_.end_of_input() == ParserState::complete) {
      return {.complete = true};
    }
    return {.outcome = parser_.malformed() ? Outcome::bad_reply : Outcome::truncated,
            .why = std::string(parser_.error())};
  }
  std::string refusal(std::string_view within) const override {
    return format("no connection within {}", within);
  }

 private:
  using ParserState = net::ResponseParser::State;
  enum class Step : std::uint8_t {
    asking,   // the POST is out
    waiting,  // nothing is: the next look is not due yet
    looking,
    fetching
  };

  void expect(Step step) {
    step_ = step;
    parser_.reset();
    answer_.clear();
  }

  // What the GETs of a job have of its POST's head: the target, and the fields that say nothing of
  // the body.
  static void note_head(const Pieces& request, Job& job) {
    const std::string_view first = request.parts[0];
    const std::size_t head_end = first.find("\r\n\r\n");
    CHECK(head_end != std::string_view::npos);
    std::string_view rest = first.substr(0, head_end + 2);
    const auto line = [&] {
      const std::size_t end = rest.find("\r\n");
      const std::string_view out = rest.substr(0, end);
      rest.remove_prefix(end + 2);
      return out;
    };
    const std::string_view opening = line();
    const std::size_t begin = opening.find(' ') + 1;
    const std::string_view target = opening.substr(begin, opening.rfind(' ') - begin);
    job.path = target.substr(0, target.find('?'));
    job.query = target.substr(job.path.size());
    while (!rest.empty()) {
      const std::string_view field = line();
      if (field.starts_with("Content-") || field.starts_with("Accept:")) continue;
      job.fields.append(field).append("\r\n");
    }
    job.fields += "Accept: */*\r\n";
  }

  // An answer that says how the job stands.
  void listen(Slot& slot, std::string_view bytes, std::size_t rest, const Stamp& at) {
    bool fits = true;
    const ParserState state = parser_.feed(
        bytes, [](const net::ResponseHead&) {},
        [&](std::string_view piece) {
          fits = fits && answer_.size() + piece.size() <= kAnswerBytesMax;
          if (fits) answer_ += piece;
        });
    if (!fits || state == ParserState::failed) {
      return cut(slot, at, fits ? parser_.error() : "a job's state is longer than 1 MiB");
    }
    if (state != ParserState::complete) return;
    take_answer(slot, parser_.head().keep_alive && bytes.empty() && rest == 0 && !lane_.blocked,
                at);
  }

  void take_answer(Slot& slot, bool keep, const Stamp& at) {
    Job& job = *slot.job;
    job.lost = 0;
    const JobAnswer said = succeeded(parser_.head()) ? read_job(answer_) : JobAnswer{};
    const bool goes_on = said.standing == JobStanding::running ||
                         (said.standing == JobStanding::completed && shared_.fetch_artefacts);
    if (!goes_on) {
      if (said.standing == JobStanding::completed) note_grain(slot, at);
      return end_with_answer(slot, keep, at);
    }
    if (step_ == Step::asking && !name(job, said.id)) {
      return cut(slot, at, "the job's id cannot stand in a path");
    }
    job.completed = said.standing == JobStanding::completed;
    if (job.completed) {
      note_grain(slot, at);
      job.next_at = at.read;
    } else {
      if (step_ == Step::looking) job.running_at = job.asked_at;
      job.next_at = at.read + shared_.poll_interval;
    }
    keep ? wait(slot) : move_on(slot);
  }

  // An id that is a segment of a path as it stands.
  static bool name(Job& job, std::string_view id) {
    for (const char c : id) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == '~' ||
                         c == ':' || c == '=' || c == '@';
      if (!plain) return false;
    }
    job.id = id;
    return id != "." && id != "..";
  }

  // The job was running when the server took the look before, which was no earlier than we sent it.
  static void note_grain(Slot& slot, const Stamp& at) {
    slot.exchange.set_grain(std::max(at.arrival - slot.job->running_at, Duration{}));
  }

  void wait(Slot& slot) {
    step_ = Step::waiting;
    parser_.reset();
    add_in_order(shared_.paced, {slot.job->next_at, &slot, slot.serial});
  }

  // The job goes on on another connection.
  void move_on(Slot& slot) {
    slot.again = true;
    end(slot, false);
  }

  // The state is the reply: the job has failed, no video is fetched, or it is no job's state.
  void end_with_answer(Slot& slot, bool keep, const Stamp& at) {
    net::ResponseHead head = parser_.head();
    if (succeeded(head)) {
      head.status = 200;
      const std::string_view words = trim(answer_);
      if (!words.empty() && words.front() != '{') {
        return cut(slot, at, format("no state of a job: {}", error_text(answer_)));
      }
    }
    bool sound = slot.exchange.on_head(head);
    const std::size_t size = answer_.size();
    answer_.append(kDecodePadding, '\0');
    const std::string_view body(answer_.data(), size);
    if (sound && size > 0) {
      sound = slot.exchange.on_body(body, 0, at, shared_.decoder, *shared_.sink);
    }
    if (sound) {
      slot.exchange.complete(at, shared_.decoder, *shared_.sink);
    } else {
      slot.exchange.cut_short(Outcome::bad_reply, at, {}, shared_.decoder, *shared_.sink);
    }
    end(slot, keep);
  }

  void fetch(Slot& slot, std::string_view bytes, std::size_t rest, const Stamp& at) {
    Exchange& exchange = slot.exchange;
    bool sound = true;
    const ParserState state = parser_.feed(
        bytes, [&](const net::ResponseHead& head) { sound = exchange.on_head(head); },
        [&](std::string_view piece) {
          if (!sound) return;
          sound = exchange.on_body(piece, bytes.size() + rest, at, shared_.decoder, *shared_.sink);
        });
    if (!sound || state == ParserState::failed) return cut(slot, at, parser_.error());
    if (state != ParserState::complete) return;
    const bool keep = parser_.head().keep_alive && bytes.empty() && rest == 0 && !lane_.blocked;
    exchange.complete(at, shared_.decoder, *shared_.sink);
    end(slot, keep);
  }

  void cut(Slot& slot, const Stamp& at, std::string_view why) {
    const Outcome outcome = parser_.no_room() ? Outcome::over_memory : Outcome::bad_reply;
    slot.exchange.cut_short(outcome, at, why, shared_.decoder, *shared_.sink);
    end(slot, false);
  }

  void end(Slot& slot, bool keep) {
    leaving_ = !keep;
    shared_.ended.push_back(&slot);
    fed_.changed = true;
  }

  Lane& lane_;
  TransportShared& shared_;
  net::ResponseParser parser_;
  Step step_ = Step::asking;
  std::string answer_{};   // that comes now
  std::string out_{};      // bytes to send
  std::string sending_{};  // those that output() gave out
  Fed fed_{};
  bool leaving_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_job_transport(Lane& lane, TransportShared& shared) {
  return std::make_unique<JobTransport>(lane, shared);
}

}  // namespace assay::protocol
