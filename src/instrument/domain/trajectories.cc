#include "domain/trajectories.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kNodesMost = 50'000'000;

// What a row asks, without what the run adds to all requests.
std::uint64_t hash_of(const Sample& sample) {
  const MadePrompt& made = sample.made;
  std::string text = format("{}\n{}\n{}\n{}\n{}\n{}\n{} {} {} {}\n", sample.prompt, sample.system,
                            sample.messages.is_null() ? std::string() : sample.messages.dump(),
                            sample.tools.dump(), sample.overrides.dump(), sample.output_tokens_max,
                            made.tokens, made.block, made.scope, made.rest);
  if (made.ids != nullptr) {
    const auto* const ids = reinterpret_cast<const char*>(made.ids->data());
    text.append(ids, made.ids->size() * sizeof(std::uint64_t));
  }
  return xxh3(text);
}

std::string nodes_text(const Traced& one) {
  std::string out;
  for (const TracedNode& node : one.nodes) {
    if (!out.empty()) out += ';';
    out += format("{}:{}:", node.agent, node.delay.ns);
    for (std::size_t i = 0; i < node.after.size(); ++i) {
      out += format("{}{}", i > 0 ? "," : "", node.after[i]);
    }
  }
  return out;
}

Result<std::uint64_t> number(std::string_view text, std::uint64_t most) {
  const auto read = parse_int(text);
  if (read && *read >= 0 && static_cast<std::uint64_t>(*read) <= most) {
    return static_cast<std::uint64_t>(*read);
  }
  return Error{Code::corrupt,
               format("the run's trajectories: '{}' is not a number of a node", text)};
}

Result<std::vector<TracedNode>> nodes_from(std::string_view text, std::string_view hashes,
                                           std::size_t agents) {
  const Error corrupt{Code::corrupt, "the run's trajectories: a node is not as it is written"};
  std::vector<TracedNode> out;
  const std::vector<std::string_view> nodes = split(text, ';');
  if (hashes.size() != nodes.size() * kHashDigits) return corrupt;
  for (const std::string_view from : nodes) {
    const std::vector<std::string_view> parts = split(from, ':');
    if (parts.size() != 3 || agents == 0) return corrupt;
    TracedNode node;
    ASSIGN_OR_RETURN(const std::uint64_t agent, number(parts[0], agents - 1));
    node.agent = static_cast<std::uint32_t>(agent);
    ASSIGN_OR_RETURN(const std::uint64_t delay, number(parts[1], std::uint64_t{1} << 62));
    node.delay = Duration{static_cast<std::int64_t>(delay)};
    if (!parts[2].empty()) {
      for (const std::string_view one : split(parts[2], ',')) {
        ASSIGN_OR_RETURN(const std::uint64_t before, number(one, nodes.size() - 1));
        node.after.push_back(static_cast<std::uint32_t>(before));
      }
    }
    for (const char c : hashes.substr(out.size() * kHashDigits, kHashDigits)) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (c < 'a' || c > 'f')) return corrupt;
      node.asked = node.asked << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
    }
    out.push_back(std::move(node));
  }
  return out;
}

}  // namespace

std::uint64_t Trajectories::rows() const {
  std::uint64_t out = 0;
  for (const Traced& one : all) out += one.nodes.size();
  return out;
}

Trajectories trajectories_of(const PhasePlan& phase, const Dataset& dataset, bool salted) {
  Trajectories out{.agents = dataset.agents,
                   .planned = phase.conversations.size(),
                   .salted = salted,
                   .dropped = dataset.dropped};
  // The first pass, as it is replayed; less than that where fewer are asked for.
  const std::size_t sources = std::min(dataset.conversations.size(), phase.conversations.size());
  for (std::size_t k = 0; k < sources; ++k) {
    const Conversation& from = phase.conversations[k];
    Traced one{.id = dataset.samples[from.turns.front().sample].session};
    for (std::uint32_t i = 0; i < from.turns.size(); ++i) {
      TracedNode node{.agent = from.turns[i].agent, .delay = from.turns[i].delay};
      if (!from.after.empty()) {
        node.after = from.after[i];
      } else if (i > 0) {
        node.after = {i - 1};
      } else {
        node.delay = {};  // a conversation's first turn follows no reply
      }
      node.asked = hash_of(dataset.samples[from.turns[i].sample]);
      one.nodes.push_back(std::move(node));
    }
    out.all.push_back(std::move(one));
  }
  return out;
}

Json to_json(const Trajectories& from) {
  Json all = Json::array();
  for (const Traced& one : from.all) {
    std::string hashes;
    for (const TracedNode& node : one.nodes) hashes += format("{:016x}", node.asked);
    Json row = Json::array();
    row.push_back(one.id);
    row.push_back(nodes_text(one));
    row.push_back(std::move(hashes));
    all.push_back(std::move(row));
  }
  Json dropped = Json::object();
  for (const auto& [reason, count] : from.dropped) dropped.set(reason, count);
  return Json()
      .set("agents", json_list(from.agents))
      .set("all", std::move(all))
      .set("planned", from.planned)
      .set("salted", from.salted)
      .set("dropped", std::move(dropped));
}

Result<Trajectories> trajectories_from(const Json& facts) {
  Trajectories out;
  const Json& from = facts[kTrajectoriesFact];
  if (from.is_null()) return out;
  for (const Json& name : from["agents"].items()) out.agents.emplace_back(name.as_string());
  std::size_t nodes = 0;
  for (const Json& row : from["all"].items()) {
    Traced one{.id = std::string(row[0].as_string())};
    ASSIGN_OR_RETURN(one.nodes,
                     nodes_from(row[1].as_string(), row[2].as_string(), out.agents.size()));
    nodes += one.nodes.size();
    if (nodes > kNodesMost) return Error{Code::corrupt, "the run's trajectories: too many nodes"};
    out.all.push_back(std::move(one));
  }
  out.planned = from["planned"].as_uint();
  out.salted = from["salted"].as_bool();
  for (const auto& [reason, count] : from["dropped"].members()) {
    out.dropped.emplace_back(reason, count.as_uint());
  }
  if (out.all.empty()) return Error{Code::corrupt, "the run's trajectories: there is none"};
  return out;
}

}  // namespace assay
