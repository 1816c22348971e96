// PreparedBodies: the bodies of a run's requests, made before it starts and shared by its measuring
// threads, which only read them. PreparedRequests: one thread's use of them.
//
// Where a dataset makes its rows on request, and has many, a thread beside each measuring thread
// makes the bodies a little ahead of it (body_feed.h).
//
// A body is kept once: a salted request is the unsalted one with the salt inserted, and a turn of a
// conversation shares the beginning of the next turn, with the history, and has its own end. Each
// endpoint and session has one head. The sending path writes a head, a salt and an id into a few
// hundred bytes of the thread's own, and passes views of the rest to the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/plan.h"
#include "domain/request_spec.h"
#include "protocol/codec.h"

namespace assay::protocol {

struct Kind;

// Text in pieces, first to last.
struct Pieces {
  std::array<std::string_view, 5> parts{};
  std::size_t count = 0;

  void add(std::string_view part) {
    if (!part.empty()) parts[count++] = part;
  }
  std::span<const std::string_view> all() const { return {parts.data(), count}; }
};

class PreparedBodies {
 public:
  static Result<PreparedBodies> make(const Plan& plan, const std::vector<PlannedDataset>& datasets,
                                     const Endpoints& endpoints);
  // As make(), but frees a sample's text as soon as its body is made: the samples keep only what
  // scorers read.
  static Result<PreparedBodies> take(const Plan& plan, std::vector<PlannedDataset>& datasets,
                                     const Endpoints& endpoints);

  std::size_t bytes() const;  // of all bodies together

 private:
  friend class BodyFeed;
  friend class PreparedRequests;

  struct Head {
    std::string before_length{};      // up to the digits of Content-Length
    std::size_t id_offset = kNoHole;  // in before_length
    std::vector<Header> fields{};     // where HTTP/2 is possible; the id is the last
  };
  struct Body {
    std::uint32_t session = 0;  // index into heads, times the number of endpoints
    std::uint32_t base = 0;     // the row whose body this one begins with
    std::size_t shared = 0;     // how many of its bytes
    std::string own{};          // the bytes after them
    // A salted request: the first `insert_at` bytes, `inserted`, and the rest without `skipped`
    // bytes. `salt_offset` is the salt's place in the result.
    std::size_t insert_at = 0;
    std::size_t skipped = 0;
    std::string inserted{};
    std::size_t salt_offset = kNoHole;
    SaltForm salt_form = SaltForm::hex;
    std::uint16_t choices = 1;
    std::int32_t tokens_max = -1;
    std::uint32_t sound_rate = 0;
    std::size_t goes_on_at = 0;  // as in RequestBody, in the request as it is sent
  };
  // The samples of one dataset.
  struct Variant {
    std::uint32_t dataset = 0;
    bool plain = false;
    bool salted = false;
    bool streamed = true;
    std::vector<Head> heads{};
    std::vector<Body> bodies{};  // of each sample; none where they are made in the run
    std::function<Sample(std::uint32_t)> make_row{};  // makes the rows of those
    Generation generation{};
    Spoken api{};
    std::size_t body_bytes = 0;               // the mean of the first ones
    std::vector<std::uint32_t> next_turns{};  // of each sample; empty where no session goes on
  };
  class Maker;

  void connect_turns(const Plan& plan);
  PreparedBodies(const Plan& plan, std::size_t endpoints);
  Result<void> add(Variant& variant, const PlannedDataset& planned, std::vector<Sample>* spent,
                   const Endpoints& endpoints);
  // Whether there are too many bodies to prepare, judged by the first ones, which it then frees.
  static bool make_in_run(Variant& variant, const PlannedDataset& planned);
  // The body as the query sends it, without its salt. REQUIRES: bodies are made in the run.
  static void make_body_of(const Variant& variant, const Query& query, bool salted, Body& out);
  const Variant& variant(const Query& query) const { return variants_[phases_[query.phase]]; }
  Pieces pieces(const Variant& variant, const Body& body, bool salted) const;

  std::vector<Variant> variants_{};
  std::vector<std::size_t> phases_{};  // phase -> variant
  std::vector<bool> salted_{};         // phase -> whether it is salted
  std::size_t endpoints_ = 1;
  // The variants' `api` refers to it; shared with the endpoints that it came from.
  std::shared_ptr<const DescribedKind> described_{};
};

class BodyFeed;

// One thread.
class PreparedRequests {
 public:
  PreparedRequests();
  // `plan`: this thread's. The run's threads share the bodies; the last owner frees them.
  PreparedRequests(std::shared_ptr<const PreparedBodies> bodies, const Plan& plan);
  ~PreparedRequests();
  PreparedRequests(PreparedRequests&&) noexcept;
  PreparedRequests& operator=(PreparedRequests&&) noexcept;

  // Waits, at most until `limit`, for the bodies made in the run to be as far ahead as allowed.
  void get_ahead(Clock& clock, Instant limit);
  // Bodies that this thread made itself, because a query came before its body.
  std::uint64_t made_here() const;

  // The request's bytes, head and body, with the query's salt and id in them; valid until the next
  // call. `whole`: in one piece.
  Pieces fill(const Query& query, std::size_t endpoint, std::uint64_t run_key, bool whole = false);
  // As fill(), for HTTP/2: pseudo-headers and fields, and the body in one piece.
  struct Http2Request {
    std::span<const std::pair<std::string_view, std::string_view>> fields{};
    std::string_view body{};
  };
  Http2Request fill_http2(const Query& query, std::size_t endpoint, std::uint64_t run_key);
  // The body alone, in one piece; valid until the next call of any fill.
  std::string_view fill_body(const Query& query, std::size_t endpoint, std::uint64_t run_key) {
    return fill_http2(query, endpoint, run_key).body;
  }
  // The head of the GET that opens a WebSocket, for any query (socket_head() in codec.h).
  std::string_view handshake(std::size_t endpoint) const;
  const Kind& kind() const;  // which all of its queries have

  static constexpr std::uint32_t kNoTurn = ~std::uint32_t{0};
  // A turn of a session that goes on from turn to turn.
  struct SessionTurn {
    std::size_t goes_on_at = 0;    // as in RequestBody
    std::uint32_t next = kNoTurn;  // the sample that goes on in this session
  };
  SessionTurn session_turn(const Query& query) const;
  Asked asked(const Query& query) {
    const PreparedBodies::Body& body = body_of(query);
    const PreparedBodies::Variant& variant = bodies_->variant(query);
    return {variant.api, variant.streamed, body.tokens_max, body.choices, body.sound_rate};
  }

 private:
  const PreparedBodies::Body& body_of(const Query& query) {
    const PreparedBodies::Variant& variant = bodies_->variant(query);
    return variant.bodies.empty() ? fed_body(query) : variant.bodies[query.sample];
  }
  const PreparedBodies::Body& fed_body(const Query& query);
  void put_head(const PreparedBodies::Head& head, const Query& query, std::uint64_t run_key,
                std::size_t body_bytes);

  std::shared_ptr<const PreparedBodies> bodies_{};
  std::unique_ptr<BodyFeed> feed_{};  // where bodies are made in the run
  std::string own_{};                 // the beginning of the next send
  QueryUuid id_{};
  std::vector<std::pair<std::string_view, std::string_view>> field_views_{};
};

}  // namespace assay::protocol
