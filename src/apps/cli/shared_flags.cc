#include "cli/shared_flags.h"

#include "base/format.h"

namespace assay::cli {

void add_client_flags(Flags& flags, campaign::ClientOptions& client) {
  flags.group("This client");
  flags.add("--threads=N", &client.threads, "measuring threads, one a core");
  flags.add("--pin", &client.pin, "bind each measuring thread to a core");
  flags.add("--spin", &client.spin, "never sleep before a send: uses the whole core");
  flags.add("--realtime", &client.realtime,
            "measuring threads go before all ordinary programs: for a machine with other work");
  flags.add("--no-kernel-timestamps", &client.no_kernel_timestamps,
            "time arrivals by our own reads alone");
  flags.add("--ca-file=FILE", &client.ca_file,
            "PEM of certificates to trust instead of the system's");
  flags.add("--allow-client-limited", &client.allow_client_limited,
            "exit 0 even when the client was the bottleneck; the result says so all the same");
  flags.add("--allow-code", &client.allow_code,
            "score code that the model wrote by running it, in a sandbox, after the run");
  flags.add("--require-accuracy", &client.require_accuracy,
            "exit 1 unless the whole dataset's scores are what the workload demands");
  flags.group("");
}

void add_gate_flags(Flags& flags, campaign::Gate& gate) {
  flags.group("Gate");
  flags.add("--require=LIMIT", &gate.texts,
            "what must hold, else exit code 5: ttft_p95<=200ms, failed<=0.1%, system_tps>=5000; "
            "may be repeated");
  flags.add("--junit=FILE", &gate.junit, "write JUnit XML, a test case for each --require");
  flags.group("");
}

void add_safety_gate_flags(Flags& flags, campaign::SafetyGate& gate, bool with_key) {
  flags.group("Gate");
  flags.add("--safety-min=GRADE", &gate.word,
            "the least safety grade at every concurrency, by Assay's own rule set, else exit code "
            "5: poor, fair, good, very-good or excellent");
  flags.add("--attack-gap-max=POINTS", &gate.points,
            "the most points by which attacks may raise the unsafe share at any concurrency, by "
            "Assay's own rule set, else exit code 5; of safety runs with attacks");
  if (with_key) {
    add_seal_key(flags, gate.own, "of safety runs over sealed prompts: the key of the set");
  }
  flags.group("");
}

void add_forecast_flags(Flags& flags, campaign::ForecastAsked& forecast) {
  flags.group("Output");
  flags.add("--from=PATH", &forecast.from,
            "with --dry-run: time, tokens and cost of the plan, by a run, a curve or a file of "
            "`assay simulate --json`");
  flags.add("--cards=N", &forecast.cards, "with --from: accelerator-hours of so many");
  flags.add("--card-hour=X", &forecast.card_hour, "what an hour of one of --cards costs");
  flags.group("");
}

void add_rank_flags(Flags& flags, ranks::RankFlags& wish) {
  flags.group("Several hosts");
  flags.add("--rank=I/N", &wish.rank,
            "this process is rank I of N, I from 0; mpirun, srun and Kubernetes say so themselves, "
            "and `none` does not listen to them");
  flags.add("--rendezvous=HOST:PORT", &wish.rendezvous,
            "where rank 0 listens while the others come; the same on every rank");
  flags.add("--rank-timeout=TIME", &wish.patience,
            "how long ranks wait for one another before the start");
  flags.group("");
}

Flag& add_seal_key(Flags& flags, campaign::SafetyInputs& inputs, std::string_view of) {
  return flags.add("--seal-key=FILE", &inputs.seal_key, of);
}

void add_people(Flags& flags, campaign::SafetyInputs& inputs, std::string_view command) {
  flags.add("--labels=FILE", &inputs.labels,
            format("{}: what people say of the replies, JSON lines with uid and safe, and perhaps "
                   "rater and group",
                   command));
}

Flag& add_json(Flags& flags, campaign::SafetyInputs& inputs) {
  return flags.add("--json", &inputs.json, "print the result as JSON");
}

}  // namespace assay::cli
