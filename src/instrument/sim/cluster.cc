#include "sim/cluster.h"

#include <algorithm>

#include "base/check.h"

namespace assay::sim {

unsigned ClusterSpec::gpus() const {
  unsigned count = deployment.parallelism.gpus() * workers;
  if (prefill) count += prefill->parallelism.gpus() * prefill_workers;
  return count;
}

Cluster::Cluster(ClusterSpec spec)
    : spec_(std::move(spec)),
      router_(spec_.router, spec_.seed),
      decode_router_(
          spec_.router == RouterPolicy::kv_aware ? RouterPolicy::least_loaded : spec_.router,
          spec_.seed + 1) {
  WorkerOptions options;
  options.every_token = spec_.every_token;
  options.prefix_cache = spec_.prefix_cache;
  options.noise_sigma = spec_.noise_sigma;
  options.stall_chance = spec_.stall_chance;
  options.kv_share = spec_.kv_share;
  const auto add = [&](const Deployment& deployment, unsigned count, WorkerRole role) {
    for (unsigned i = 0; i < count; ++i) {
      options.role = role;
      options.seed = spec_.seed * 1'000'003 + workers_.size();
      workers_.push_back(std::make_unique<Worker>(deployment, options));
    }
  };
  if (disaggregated()) {
    add(*spec_.prefill, spec_.prefill_workers, WorkerRole::prefill);
    const Deployment& from = *spec_.prefill;
    const unsigned both = from.parallelism.gpus() + spec_.deployment.parallelism.gpus();
    const double rate = from.hardware.link(both).bytes_per_s * from.parallelism.gpus();
    links_.assign(spec_.prefill_workers, SharedLink(rate, spec_.transfer_setup_s));
    if (spec_.decode_batch > 0) spec_.deployment.backend.seqs_max = spec_.decode_batch;
    add(spec_.deployment, spec_.workers, WorkerRole::decode);
  } else {
    add(spec_.deployment, spec_.workers, WorkerRole::both);
  }
  alive_.assign(workers_.size(), true);
  noted_.assign(workers_.size() + links_.size(), Instant::max());
}

Instant Cluster::due_of(std::uint32_t who) const {
  return who < workers_.size() ? workers_[who]->next() : links_[who - workers_.size()].next();
}

// Puts the worker's or link's next instant into the queue if it changed.
void Cluster::note(std::uint32_t who) {
  const Instant at = due_of(who);
  if (at == noted_[who]) return;
  noted_[who] = at;
  if (at != Instant::max()) due_.push({at, who});
}

Instant Cluster::next() const {
  while (!due_.empty() && due_.top().at != noted_[due_.top().who]) due_.pop();
  const Instant a = due_.empty() ? Instant::max() : due_.top().at;
  const Instant b = timers_.empty() ? Instant::max() : timers_.top().at;
  return std::min(a, b);
}

void Cluster::admit(const Request& request, Instant now) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Slot& slot = slots_[index];
  slot.stage = Stage::front;
  slot.request = request;
  slot.request.output_tokens = std::max(1U, request.output_tokens);
  slot.arrived = now;
  slot.first = Instant::none();
  slot.told = 0;
  slot.cached = 0;
  ++slot.use;
  if (spec_.every_token) by_id_[request.id] = index;
  const Deployment& entry = disaggregated() ? *spec_.prefill : spec_.deployment;
  timers_.push(
      {now + Duration::from_seconds(entry.constants.request_s), order_++, index, slot.use});
}

void Cluster::cancel(std::uint64_t request, Instant now) {
  std::uint32_t index = 0;
  if (const auto found = by_id_.find(request); found != by_id_.end()) {
    index = found->second;
  } else {
    while (index < slots_.size() &&
           (slots_[index].stage == Stage::none || slots_[index].request.id != request)) {
      ++index;
    }
    if (index == slots_.size()) return;
  }
  const Slot& slot = slots_[index];
  if (slot.stage == Stage::prefill || slot.stage == Stage::serving) {
    workers_[slot.worker]->cancel(index, now);
    note(slot.worker);
  } else if (slot.stage == Stage::moving) {
    links_[slot.source].remove(index, now);
    note(static_cast<std::uint32_t>(workers_.size()) + slot.source);
  }
  leave(index);
}

void Cluster::leave(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (spec_.every_token) by_id_.erase(slot.request.id);
  slot.stage = Stage::none;
  slot.request.prefix_blocks.clear();
  ++slot.use;
  free_.push_back(index);
}

std::size_t Cluster::choose(std::size_t from, std::size_t to, const Request& request,
                            Router& router) {
  if (to - from == 1) return alive_[from] ? from : to;
  const double block = workers_[from]->prefix_block_tokens();
  views_.clear();
  for (std::size_t i = from; i < to; ++i) {
    const Worker& worker = *workers_[i];
    WorkerView view;
    view.alive = alive_[i];
    view.requests = double{1} * worker.running() + worker.waiting();
    view.prompt_blocks = worker.prompt_tokens_waiting() / block;
    view.kv_blocks = worker.kv_tokens_used() / block;
    if (router.wants_cached()) {
      view.cached_blocks = static_cast<double>(worker.cached_prefix(request.prefix_blocks));
    }
    views_.push_back(view);
  }
  return from + router.pick(views_, request.prompt_tokens / block);
}

void Cluster::route(std::uint32_t index, Instant now) {
  const std::size_t to = disaggregated() ? spec_.prefill_workers : workers_.size();
  const std::size_t worker = choose(0, to, slots_[index].request, router_);
  if (worker == to) {  // no worker is alive: ask again in 100 ms
    timers_.push({now + 100_ms, order_++, index, slots_[index].use});
    return;
  }
  slots_[index].stage = disaggregated() ? Stage::prefill : Stage::serving;
  to_worker(index, worker, now);
}

void Cluster::to_worker(std::uint32_t index, std::size_t worker, Instant now) {
  Slot& slot = slots_[index];
  slot.worker = static_cast<std::uint32_t>(worker);
  Sequence sequence;
  sequence.slot = index;
  sequence.id = slot.request.id;
  sequence.prompt = std::max(1U, slot.request.prompt_tokens);
  sequence.output = slot.request.output_tokens;
  sequence.done = slot.told;
  sequence.blocks = slot.request.prefix_blocks;
  workers_[worker]->admit(std::move(sequence), now);
  note(slot.worker);
}

// A prompt's KV is ready: starts its move to the decode side.
void Cluster::move_kv(std::uint32_t index, Instant now, std::vector<Emission>& out) {
  Slot& slot = slots_[index];
  if (spec_.deployment.backend.first_token_at_prefill && slot.told == 0) {
    slot.first = now;
    slot.told = 1;
    const bool last = slot.request.output_tokens == 1;
    out.push_back({slot.request.id, 1, last, now, slot.cached});
    if (last) {
      finish(index, now, false);
      return;
    }
  }
  slot.stage = Stage::moving;
  slot.source = slot.worker;
  const double bytes = spec_.deployment.kv_bytes_moved(slot.request.prompt_tokens);
  links_[slot.source].add(index, bytes, now);
  note(static_cast<std::uint32_t>(workers_.size()) + slot.source);
}

// The KV has arrived; the decode worker's scheduler does not know yet.
void Cluster::moved(std::uint32_t index, Instant now) {
  const double handoff_s = spec_.deployment.backend.handoff_s;
  if (handoff_s <= 0) return to_decode(index, now);
  slots_[index].stage = Stage::handoff;
  timers_.push({now + Duration::from_seconds(handoff_s), order_++, index, slots_[index].use});
}

void Cluster::to_decode(std::uint32_t index, Instant now) {
  const std::size_t worker =
      choose(first_decode(), workers_.size(), slots_[index].request, decode_router_);
  if (worker == workers_.size()) {
    slots_[index].stage = Stage::front;  // no worker is alive: start again later
    timers_.push({now + 100_ms, order_++, index, slots_[index].use});
    return;
  }
  slots_[index].stage = Stage::serving;
  to_worker(index, worker, now);
}

void Cluster::finish(std::uint32_t index, Instant at, bool refused) {
  const Slot& slot = slots_[index];
  served_.push_back({slot.request.id, slot.request.prompt_tokens, slot.request.output_tokens,
                     slot.worker, refused, slot.arrived, slot.first.known() ? slot.first : at, at});
  leave(index);
}

void Cluster::handle(const WorkerEvent& event, std::vector<Emission>& out) {
  Slot& slot = slots_[event.slot];
  slot.cached = std::max(slot.cached, event.cached);
  switch (event.kind) {
    case WorkerEvent::Kind::first:
      if (!slot.first.known()) slot.first = event.at;
      slot.told += event.tokens;
      out.push_back({slot.request.id, event.tokens, false, event.at, slot.cached});
      return;
    case WorkerEvent::Kind::tokens:
      slot.told += event.tokens;
      out.push_back({slot.request.id, event.tokens, false, event.at, slot.cached});
      return;
    case WorkerEvent::Kind::prefilled:
      move_kv(event.slot, event.at, out);
      return;
    case WorkerEvent::Kind::finished:
      if (!slot.first.known()) slot.first = event.at;
      out.push_back(
          {slot.request.id, slot.request.output_tokens - slot.told, true, event.at, slot.cached});
      finish(event.slot, event.at, false);
      return;
    case WorkerEvent::Kind::refused:
      out.push_back({slot.request.id, 0, true, event.at});
      finish(event.slot, event.at, true);
      return;
  }
}

void Cluster::run_due(std::uint32_t who, Instant at, std::vector<Emission>& out) {
  noted_[who] = Instant::max();
  if (who < workers_.size()) {
    events_.clear();
    workers_[who]->advance(at, events_);
    for (const WorkerEvent& event : events_) handle(event, out);
  } else {
    moved_.clear();
    links_[who - workers_.size()].advance(at, moved_);
    for (const std::uint32_t slot : moved_) moved(slot, at);
  }
  note(who);
}

void Cluster::advance(Instant now, std::vector<Emission>& out) {
  for (;;) {
    const Instant at = next();
    if (at > now) return;
    // Handle arrivals before steps of the same instant, so that a burst meets one step.
    if (!timers_.empty() && timers_.top().at == at) {
      const Timer timer = timers_.top();
      timers_.pop();
      const Slot& slot = slots_[timer.slot];
      if (slot.use != timer.use) continue;
      if (slot.stage == Stage::front) {
        route(timer.slot, at);
      } else if (slot.stage == Stage::handoff) {
        to_decode(timer.slot, at);
      }
      continue;
    }
    const Due due = due_.top();
    due_.pop();
    run_due(due.who, at, out);
  }
}

void Cluster::take_served(std::vector<Served>& out) {
  out.clear();
  std::swap(out, served_);
}

EngineStats Cluster::stats() const {
  EngineStats out;
  double usage = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = *workers_[i];
    out.running += worker.running();
    out.waiting += worker.waiting();
    if (i >= first_decode()) usage += worker.kv_usage();
    out.prefix_hit_tokens += worker.prefix_hit_tokens();
    out.prefix_query_tokens += worker.prefix_query_tokens();
    out.preemptions += worker.preemptions();
  }
  // For a client, requests on a link or before the router are waiting.
  for (const SharedLink& link : links_) out.waiting += static_cast<std::uint32_t>(link.active());
  out.kv_usage = usage / static_cast<double>(workers_.size() - first_decode());
  return out;
}

void Cluster::kill_worker(std::size_t worker, Instant now) {
  CHECK(worker < workers_.size());
  alive_[worker] = false;
  std::vector<std::uint32_t> lost;
  workers_[worker]->kill(now, lost);
  note(static_cast<std::uint32_t>(worker));
  for (const std::uint32_t index : lost) {
    Slot& slot = slots_[index];
    slot.stage = Stage::front;
    timers_.push({now, order_++, index, slot.use});
  }
}

void Cluster::revive_worker(std::size_t worker, Instant /*now*/) {
  CHECK(worker < workers_.size());
  alive_[worker] = true;
}

void Cluster::slow_worker(std::size_t worker, double factor, Instant now) {
  CHECK(worker < workers_.size());
  workers_[worker]->set_slow(factor, now);
  note(static_cast<std::uint32_t>(worker));
}

void Cluster::shrink_kv(std::size_t worker, double share, Instant now) {
  CHECK(worker < workers_.size());
  workers_[worker]->set_kv_share(share, now);
  note(static_cast<std::uint32_t>(worker));
}

std::uint64_t Cluster::steps() const {
  std::uint64_t count = 0;
  for (const auto& worker : workers_) count += worker->steps();
  return count;
}

double Cluster::energy_joules(Instant now) const {
  double total = 0;
  for (const auto& worker : workers_) total += worker->energy_joules(now);
  return total;
}

}  // namespace assay::sim
