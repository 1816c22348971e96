#include "protocol/prepared_requests.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "net/url.h"
#include "protocol/body_feed.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

// Copied behind the head instead of being sent as a separate piece: cheaper in the kernel.
constexpr std::size_t kCopiedBytes = 2048;
// Least length of a shared beginning, and its least share of the body: one half.
constexpr std::size_t kSharedBytesMin = 256;

// Bodies of computed rows are prepared too if that takes at most a tenth of a second.
constexpr std::size_t kMadeBytesMax = std::size_t{16} << 20;
constexpr std::size_t kSlowBytesMax = std::size_t{256} << 10;
constexpr std::size_t kFirstRows = 8;  // they show how long the others are

constexpr std::string_view kNoLength = "0\r\n\r\n";
constexpr std::size_t kLengthBytes = 24;  // any length and the blank line

std::size_t salt_bytes(SaltForm form) { return form == SaltForm::hex ? kSaltDigits : kSaltIdBytes; }

// Frees the fields that a request needs; the fields for scorers stay.
void give_up_text(Sample& sample) {
  // Assigning an empty string would keep the memory.
  std::string().swap(sample.prompt);
  std::string().swap(sample.system);
  sample.messages = {};
  std::vector<std::int32_t>().swap(sample.input_tokens);
  sample.content_parts = {};
  std::vector<Attachment>().swap(sample.attachments);
  sample.made = {};
  sample.tools = {};
  sample.body = {};
}

// Appends the first `bytes` of the pieces, and returns the rest of them.
Pieces take_front(const Pieces& pieces, std::size_t bytes, std::string& to) {
  Pieces rest;
  for (const std::string_view part : pieces.all()) {
    const std::size_t taken = std::min(bytes, part.size());
    to.append(part.substr(0, taken));
    bytes -= taken;
    rest.add(part.substr(taken));
  }
  return rest;
}

std::size_t size_of(const Pieces& pieces) {
  std::size_t out = 0;
  for (const std::string_view part : pieces.all()) out += part.size();
  return out;
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
  const std::size_t n = std::min(a.size(), b.size());
  const auto [at, ignored] =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
  return static_cast<std::size_t>(at - a.begin());
}

}  // namespace

// Makes one variant, sample by sample.
class PreparedBodies::Maker {
 public:
  Maker(const Endpoints& endpoints, const PlannedDataset& planned, Variant& out)
      : endpoints_(endpoints),
        generation_(planned.generation),
        out_(out),
        http2_(endpoints.http_version() != HttpVersion::http1) {}

  Result<void> add(const Sample& sample) {
    ASSIGN_OR_RETURN(RequestBody made, make_body(endpoints_.spoken(), generation_, sample,
                                                 out_.salted && !out_.plain));
    ASSIGN_OR_RETURN(const std::uint32_t session, session_of(sample.session, made.headers));
    Body body{.session = session, .base = static_cast<std::uint32_t>(out_.bodies.size())};
    body.salt_offset = made.salt_offset;
    body.salt_form = made.salt_form;
    body.choices = made.asked.choices;
    body.tokens_max = made.asked.tokens_max;
    body.sound_rate = made.asked.sound_rate;
    body.goes_on_at = made.goes_on_at;
    if (out_.salted && out_.plain) {
      ASSIGN_OR_RETURN(const RequestBody salted,
                       make_body(endpoints_.spoken(), generation_, sample, true));
      put_in(body, made.bytes, salted);
    }
    if (!sample.session.empty() && sample.session == session_before_) shorten_before(made.bytes);
    session_before_ = sample.session;
    body.own.assign(made.bytes);  // without spare memory
    out_.bodies.push_back(std::move(body));
    return {};
  }

 private:
  static void put_in(Body& body, std::string_view plain, const RequestBody& salted) {
    const std::string_view whole = salted.bytes;
    const std::size_t at = common_beginning(plain, whole);
    const std::size_t least = std::min(plain.size(), whole.size()) - at;
    std::size_t end = 0;
    while (end < least && plain[plain.size() - 1 - end] == whole[whole.size() - 1 - end]) ++end;
    body.insert_at = at;
    body.skipped = plain.size() - at - end;
    body.inserted.assign(whole.substr(at, whole.size() - at - end));
    body.salt_offset = salted.salt_offset;
    body.salt_form = salted.salt_form;
  }

  // Until now the previous body was kept whole, with the lengths that other bodies share with it:
  // from now on they share with this one.
  void shorten_before(std::string_view now) {
    Body& before = out_.bodies.back();
    const std::size_t shared = common_beginning(before.own, now);
    if (shared < kSharedBytesMin || shared < before.own.size() / 2) return;
    const std::uint32_t row = before.base;
    before.base = row + 1;
    before.shared = shared;
    before.own = std::string(before.own.substr(shared));
    for (std::uint32_t i = row; i-- > 0 && out_.bodies[i].base == row;) {
      Body& earlier = out_.bodies[i];
      if (earlier.shared > shared) {
        // The bytes it shared with the previous row beyond those it shares with this one.
        earlier.own.insert(0, before.own.substr(0, earlier.shared - shared));
        earlier.shared = shared;
      }
      earlier.base = row + 1;
    }
  }

  // The heads of a session's requests, of bodies with the same headers of their own.
  Result<std::uint32_t> session_of(const std::string& session, const std::vector<Header>& of_body) {
    const std::string& name = endpoints_.session_headers.empty() ? nobody_ : session;
    std::string key = name;
    for (const auto& [header, value] : of_body) key += '\n' + header + ": " + value;
    const auto [found, is_new] =
        sessions_.try_emplace(key, static_cast<std::uint32_t>(sessions_.size()));
    for (std::size_t e = 0; is_new && e < endpoints_.urls.size(); ++e) {
      ASSIGN_OR_RETURN(Head head, head_of(e, name, of_body));
      out_.heads.push_back(std::move(head));
    }
    return found->second;
  }

  Result<Head> head_of(std::size_t endpoint, const std::string& session,
                       const std::vector<Header>& of_body) const {
    ASSIGN_OR_RETURN(const net::Url url, net::parse_url(endpoints_.urls[endpoint]));
    ASSIGN_OR_RETURN(const std::vector<Header> headers,
                     request_headers(endpoints_, generation_.stream, session, of_body));
    const std::string target = request_target(url, endpoints_.spoken(), generation_.model);
    Head out;
    if (kind_of(endpoints_.spoken()).socket) {
      out.before_length = socket_head(url, target, headers);
      return out;
    }
    out.before_length = request_head(url, target, headers, 0);
    CHECK(out.before_length.ends_with(kNoLength));
    out.before_length.resize(out.before_length.size() - kNoLength.size());
    out.id_offset = request_id_offset(endpoints_, out.before_length);
    if (!http2_) return out;
    out.fields = {{":method", "POST"},
                  {":scheme", url.tls ? "https" : "http"},
                  {":authority", net::host_header(url)},
                  {":path", target}};
    for (const auto& [name, value] : headers) out.fields.emplace_back(lower(name), value);
    return out;
  }

  const Endpoints& endpoints_;
  const Generation& generation_;
  Variant& out_;
  bool http2_;
  std::string nobody_{};
  std::string session_before_{};
  std::map<std::string, std::uint32_t> sessions_{};
};

PreparedBodies::PreparedBodies(const Plan& plan, std::size_t endpoints) : endpoints_(endpoints) {
  for (const PhasePlan& phase : plan.phases) {
    const auto same = std::ranges::find(variants_, phase.dataset, &Variant::dataset);
    phases_.push_back(static_cast<std::size_t>(same - variants_.begin()));
    salted_.push_back(phase.salted);
    Variant& variant = same != variants_.end() ? *same : variants_.emplace_back();
    variant.dataset = phase.dataset;
    (phase.salted ? variant.salted : variant.plain) = true;
  }
}

Result<void> PreparedBodies::add(Variant& variant, const PlannedDataset& planned,
                                 std::vector<Sample>* spent, const Endpoints& endpoints) {
  variant.streamed = planned.generation.stream || kind_of(endpoints.spoken()).socket;
  variant.api = endpoints.spoken();
  described_ = endpoints.described;
  Maker maker(endpoints, planned, variant);
  const Dataset& dataset = planned.dataset;
  Sample room;
  for (std::size_t row = 0; row < dataset.rows(); ++row) {
    const auto made = maker.add(dataset.row(row, room));
    if (!made) {
      return made.error().within(format("dataset '{}': sample {}", planned.dataset.name, row));
    }
    if (spent != nullptr && !dataset.make_row) give_up_text((*spent)[row]);
    if (row + 1 != kFirstRows) continue;
    if (dataset.make_row && make_in_run(variant, planned)) return {};
    variant.bodies.reserve(dataset.rows());
  }
  return {};
}

bool PreparedBodies::make_in_run(Variant& variant, const PlannedDataset& planned) {
  const Dataset& dataset = planned.dataset;
  std::size_t bytes = 0;
  for (const Body& body : variant.bodies) bytes += body.own.size();
  bytes /= variant.bodies.size();
  if (bytes <= (dataset.slow_rows ? kSlowBytesMax : kMadeBytesMax) / dataset.rows()) return false;
  // The heads are made, and the first rows showed that rows can be asked.
  variant.bodies.clear();
  variant.make_row = dataset.make_row;
  variant.generation = planned.generation;
  variant.body_bytes = bytes;
  return true;
}

void PreparedBodies::make_body_of(const Variant& variant, const Query& query, bool salted,
                                  Body& out) {
  auto made = make_body(variant.api, variant.generation, variant.make_row(query.sample), salted);
  CHECK(made);                   // computed rows are all of one kind, and the first ones succeeded
  CHECK(made->headers.empty());  // computed rows have no attachments: one head fits them all
  out = Body{.own = std::move(made->bytes),
             .salt_offset = made->salt_offset,
             .salt_form = made->salt_form,
             .choices = made->asked.choices,
             .tokens_max = made->asked.tokens_max,
             .sound_rate = made->asked.sound_rate,
             .goes_on_at = made->goes_on_at};
}

// Each session goes on as its phase's conversations have it.
void PreparedBodies::connect_turns(const Plan& plan) {
  for (std::size_t p = 0; p < plan.phases.size(); ++p) {
    Variant& variant = variants_[phases_[p]];
    const bool any =
        std::ranges::any_of(variant.bodies, [](const Body& b) { return b.goes_on_at > 0; });
    if (!any) continue;
    variant.next_turns.resize(variant.bodies.size(), PreparedRequests::kNoTurn);
    for (const Conversation& one : plan.phases[p].conversations) {
      for (std::size_t i = 1; i < one.turns.size(); ++i) {
        variant.next_turns[one.turns[i - 1].sample] = one.turns[i].sample;
      }
    }
  }
}

Result<PreparedBodies> PreparedBodies::make(const Plan& plan,
                                            const std::vector<PlannedDataset>& datasets,
                                            const Endpoints& endpoints) {
  PreparedBodies out(plan, endpoints.urls.size());
  for (Variant& variant : out.variants_) {
    CHECK(variant.dataset < datasets.size());
    TRY(out.add(variant, datasets[variant.dataset], nullptr, endpoints));
  }
  out.connect_turns(plan);
  return out;
}

Result<PreparedBodies> PreparedBodies::take(const Plan& plan, std::vector<PlannedDataset>& datasets,
                                            const Endpoints& endpoints) {
  PreparedBodies out(plan, endpoints.urls.size());
  for (Variant& variant : out.variants_) {
    CHECK(variant.dataset < datasets.size());
    PlannedDataset& planned = datasets[variant.dataset];
    TRY(out.add(variant, planned, &planned.dataset.samples, endpoints));
  }
  out.connect_turns(plan);
  return out;
}

std::size_t PreparedBodies::bytes() const {
  std::size_t out = 0;
  for (const Variant& variant : variants_) {
    for (const Body& body : variant.bodies) out += body.own.size() + body.inserted.size();
  }
  return out;
}

Pieces PreparedBodies::pieces(const Variant& variant, const Body& body, bool salted) const {
  std::string_view begin;
  if (body.shared > 0) {
    begin = std::string_view(variant.bodies[body.base].own).substr(0, body.shared);
  }
  const std::string_view end = body.own;
  Pieces out;
  if (!salted) {
    out.add(begin);
    out.add(end);
    return out;
  }
  const std::size_t split = begin.size();
  const std::size_t at = body.insert_at;
  const std::size_t on = at + body.skipped;
  out.add(begin.substr(0, std::min(at, split)));
  out.add(end.substr(0, at > split ? at - split : 0));
  out.add(body.inserted);
  out.add(begin.substr(std::min(on, split)));
  out.add(end.substr(on > split ? on - split : 0));
  return out;
}

PreparedRequests::PreparedRequests() = default;
PreparedRequests::~PreparedRequests() = default;
PreparedRequests::PreparedRequests(PreparedRequests&&) noexcept = default;
PreparedRequests& PreparedRequests::operator=(PreparedRequests&&) noexcept = default;

PreparedRequests::PreparedRequests(std::shared_ptr<const PreparedBodies> bodies, const Plan& plan)
    : bodies_(std::move(bodies)) {
  // The longest possible piece, so that sending allocates nothing.
  std::size_t longest = 0;
  std::size_t fields = 0;
  for (const PreparedBodies::Variant& variant : bodies_->variants_) {
    std::size_t head = 0;
    for (const PreparedBodies::Head& one : variant.heads) {
      head = std::max(head, one.before_length.size());
      fields = std::max(fields, one.fields.size());
    }
    for (const PreparedBodies::Body& one : variant.bodies) {
      longest = std::max(longest, head + one.shared + one.own.size() + one.inserted.size());
    }
    if (variant.make_row) {
      longest = std::max(longest, head + variant.body_bytes);
      if (!feed_) feed_ = std::make_unique<BodyFeed>(bodies_, plan);
    }
  }
  own_.reserve(longest + kLengthBytes);
  field_views_.reserve(fields);
}

const PreparedBodies::Body& PreparedRequests::fed_body(const Query& query) {
  return feed_->body(query);
}

void PreparedRequests::get_ahead(Clock& clock, Instant limit) {
  if (feed_) feed_->get_ahead(clock, limit);
}

std::uint64_t PreparedRequests::made_here() const { return feed_ ? feed_->made_here() : 0; }

void PreparedRequests::put_head(const PreparedBodies::Head& head, const Query& query,
                                std::uint64_t run_key, std::size_t body_bytes) {
  own_ = head.before_length;
  std::array<char, 20> digits{};
  const auto printed = std::to_chars(digits.data(), digits.data() + digits.size(), body_bytes);
  own_.append(digits.data(), printed.ptr).append("\r\n\r\n");
  if (head.id_offset == kNoHole) return;
  const QueryUuid id = query_uuid(run_key, query.phase, query.index);
  std::ranges::copy(id, own_.begin() + static_cast<std::ptrdiff_t>(head.id_offset));
}

Pieces PreparedRequests::fill(const Query& query, std::size_t endpoint, std::uint64_t run_key,
                              bool whole) {
  const PreparedBodies::Variant& variant = bodies_->variant(query);
  const PreparedBodies::Body& body = body_of(query);
  const PreparedBodies::Head& head = variant.heads[body.session * bodies_->endpoints_ + endpoint];
  const bool salted = bodies_->salted_[query.phase];
  // The common case, separate because it saves 30 ns of each query.
  if (!salted && body.shared == 0 && body.own.size() <= kCopiedBytes) {
    put_head(head, query, run_key, body.own.size());
    own_ += body.own;
    Pieces out;
    out.add(own_);
    return out;
  }
  const Pieces pieces = bodies_->pieces(variant, body, salted);
  const std::size_t bytes = size_of(pieces);
  put_head(head, query, run_key, bytes);
  const std::size_t body_at = own_.size();
  const std::size_t least = salted ? body.salt_offset + salt_bytes(body.salt_form) : 0;
  const bool small = whole || bytes <= kCopiedBytes;
  const Pieces rest = take_front(pieces, small ? bytes : least, own_);
  if (salted) write_salt(own_.data() + body_at + body.salt_offset, body.salt_form, query.salt);
  Pieces out;
  out.add(own_);
  for (const std::string_view part : rest.all()) out.add(part);
  return out;
}

std::string_view PreparedRequests::handshake(std::size_t endpoint) const {
  const PreparedBodies::Variant& variant = bodies_->variants_.front();
  return variant.heads[endpoint].before_length;
}

const Kind& PreparedRequests::kind() const { return kind_of(bodies_->variants_.front().api); }

PreparedRequests::SessionTurn PreparedRequests::session_turn(const Query& query) const {
  const PreparedBodies::Variant& variant = bodies_->variant(query);
  if (variant.next_turns.empty()) return {};
  const PreparedBodies::Body& body = variant.bodies[query.sample];
  SessionTurn out{.goes_on_at = body.goes_on_at, .next = variant.next_turns[query.sample]};
  // A salt is added to the first words, which stand before what a later turn adds.
  const bool grown = bodies_->salted_[query.phase] && body.insert_at < body.goes_on_at;
  if (grown) out.goes_on_at += body.inserted.size();
  return out;
}

PreparedRequests::Http2Request PreparedRequests::fill_http2(const Query& query,
                                                            std::size_t endpoint,
                                                            std::uint64_t run_key) {
  const PreparedBodies::Variant& variant = bodies_->variant(query);
  const PreparedBodies::Body& body = body_of(query);
  const PreparedBodies::Head& head = variant.heads[body.session * bodies_->endpoints_ + endpoint];
  const bool salted = bodies_->salted_[query.phase];
  field_views_.clear();
  for (const auto& [name, value] : head.fields) field_views_.emplace_back(name, value);
  if (head.id_offset != kNoHole) {
    id_ = query_uuid(run_key, query.phase, query.index);
    field_views_.back().second = std::string_view(id_.data(), id_.size());
  }
  own_.clear();
  const Pieces pieces = bodies_->pieces(variant, body, salted);
  take_front(pieces, size_of(pieces), own_);
  if (salted) write_salt(own_.data() + body.salt_offset, body.salt_form, query.salt);
  return {field_views_, own_};
}

}  // namespace assay::protocol
