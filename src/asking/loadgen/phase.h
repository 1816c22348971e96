// set_phase: a performance test as a phase of a Plan, for a target that takes samples one by one,
// such as an HTTP endpoint. The run's loop is what it is for every plan:
//
//   SingleStream, MultiStream   a closed loop of groups in turn (run/in_turn.h): a query of n
//   samples
//                               is n queries of the plan
//   Server                      an open loop, due at LoadGen's instants to the nanosecond
//   Offline                     every sample due at the start; a cap holds some of them back
//
// A dataset whose rows must be answered group by group (DLRMv3's steps of time) is asked as its
// reference does, which leaves LoadGen the number and the instants and chooses the samples itself:
// each group's rows in a shuffled order of its own, as often as whole passes go into the number,
// the rest from the last group; and no query of a group before all of the one before are answered.
//
// The phase ends as LoadGen ends: Server and Offline when all are issued, the others after the
// least number and the least time, at the first query that is issued later than that. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "domain/plan.h"
#include "loadgen/settings.h"

namespace assay::loadgen {

struct PhaseCounts {
  std::uint64_t queries = 0;  // that LoadGen generates
  std::uint64_t samples = 0;
  std::uint32_t group = 0;  // SingleStream, MultiStream: samples that go together; else 0
};

// `in_flight_max`: Offline's cap; 0: none. `groups`: Dataset::groups. Sets order, arrivals, limits,
// barriers and stop rule of `phase`,
// and leaves the rest of it. Fails where the settings give no test, more samples than a plan can
// have, or something that LoadGen does in its own process only (max_async_queries).
Result<PhaseCounts> set_phase(const EffectiveSettings& settings, std::uint32_t in_flight_max,
                              std::span<const std::uint32_t> groups, PhasePlan& phase);

}  // namespace assay::loadgen
