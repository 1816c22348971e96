// Flags that several commands share, a row each: of this client, of gates, of safety runs, of a dry
// run's forecast, of the ranks of a run. What they fill must outlive flags.parse().
#pragma once

#include <string_view>

#include "base/flags.h"
#include "campaign/dry_run.h"
#include "campaign/gate.h"
#include "campaign/recorded_run.h"
#include "campaign/safety/asked_gate.h"
#include "campaign/safety/safety_inputs.h"
#include "ranks/place.h"

namespace assay::cli {

// How this client works and what decides its exit code.
void add_client_flags(Flags& flags, campaign::ClientOptions& client);
// --require and --junit.
void add_gate_flags(Flags& flags, campaign::Gate& gate);
// --safety-min and --attack-gap-max. `with_key`: of a command that has no --seal-key itself.
void add_safety_gate_flags(Flags& flags, campaign::SafetyGate& gate, bool with_key = true);
void add_forecast_flags(Flags& flags, campaign::ForecastAsked& forecast);
void add_rank_flags(Flags& flags, ranks::RankFlags& wish);
// `of`: what the key opens.
Flag& add_seal_key(Flags& flags, campaign::SafetyInputs& inputs,
                   std::string_view of = "the key of a sealed set, and of runs over it");
void add_people(Flags& flags, campaign::SafetyInputs& inputs, std::string_view command);
Flag& add_json(Flags& flags, campaign::SafetyInputs& inputs);

}  // namespace assay::cli
