// Acts of a federation of one benchmark, one dataset and one model, for tests. One thread.
#pragma once

#include "base/format.h"
#include "base/signature.h"
#include "sites/federation.h"
#include "sites/release.h"

namespace assay::sites {

inline const std::string kDigest(64, 'a');

inline const KeyPair& site_key() {
  static const KeyPair pair = *make_key_pair();
  return pair;
}

inline const Actor kBenchmarkOwner{Role::benchmark_owner, "Committee"};
inline const Actor kDataOwner{Role::data_owner, "Hospital"};
inline const Actor kModelOwner{Role::model_owner, "Vendor"};

inline std::string release_text(const std::string& run) {
  return to_text({.run = run,
                  .benchmark = "b",
                  .dataset_sha256 = kDigest,
                  .model = "m",
                  .levels = {{.concurrency = 1, .figures = {{"accuracy", 0.5}}}}});
}

inline Act add_benchmark() {
  return {.kind = ActKind::add_benchmark,
          .id = "b",
          .measurement = {
              .concurrency = {1}, .samples = 10, .max_output_tokens = 5, .fields = {"accuracy"}}};
}
inline Act add_dataset() {
  return {.kind = ActKind::add_dataset,
          .id = "d",
          .sha256 = kDigest,
          .rows = 10,
          .public_key = site_key().public_pem};
}
inline Act prepare(std::int64_t done) {
  return {.kind = ActKind::prepare, .id = "d", .steps = {{.total = 10, .done = done}}};
}
inline Act add_model() { return {.kind = ActKind::add_model, .id = "m"}; }
inline Act of_dataset(ActKind kind) { return {.kind = kind, .benchmark = "b", .dataset = "d"}; }
inline Act of_model(ActKind kind) { return {.kind = kind, .benchmark = "b", .model = "m"}; }
inline Act of_run(ActKind kind) { return {.kind = kind, .id = "r"}; }
inline Act order_run() {
  return {.kind = ActKind::order, .id = "r", .benchmark = "b", .dataset = "d", .model = "m"};
}
inline Act release_run() {
  Act act = of_run(ActKind::release);
  act.document = release_text("r");
  // Ed25519 is deterministic.
  static const std::string signature = *sign_ed25519(act.document, site_key().private_pem);
  act.signature = signature;
  return act;
}
inline Act with_reason(ActKind kind) {
  Act act = of_run(kind);
  act.reason = "policy";
  return act;
}

// Every act, of each role.
struct Try {
  std::string name{};
  Actor actor{};
  Act act{};
};

inline std::vector<Try> all_tries() {
  std::vector<std::pair<std::string, Act>> acts{{"add b", add_benchmark()},
                                                {"add d", add_dataset()},
                                                {"add m", add_model()},
                                                {"prepare 1", prepare(1)},
                                                {"prepare 9", prepare(9)},
                                                {"order", order_run()},
                                                {"release", release_run()},
                                                {"refuse", with_reason(ActKind::refuse)},
                                                {"fail", with_reason(ActKind::fail)}};
  for (const ActKind kind : {ActKind::associate, ActKind::approve, ActKind::reject}) {
    acts.emplace_back(format("{} d", to_string(kind)), of_dataset(kind));
    acts.emplace_back(format("{} m", to_string(kind)), of_model(kind));
  }
  for (const ActKind kind : {ActKind::take, ActKind::hold, ActKind::review, ActKind::withhold}) {
    acts.emplace_back(to_string(kind), of_run(kind));
  }
  std::vector<Try> tries;
  for (const auto& [name, act] : acts) {
    for (const Actor& actor : {kBenchmarkOwner, kDataOwner, kModelOwner}) {
      tries.push_back({name, actor, act});
    }
  }
  return tries;
}

}  // namespace assay::sites
