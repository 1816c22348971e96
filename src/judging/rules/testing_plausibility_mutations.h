// For tests: mutations that break the plausibility rules, and no official one.
#pragma once

#include <string>
#include <vector>

#include "rules/testing_mutation.h"

namespace assay::rules {

// A tree on disk, with one more file in it.
inline Mutation with_file(std::string what, std::string name, std::string text) {
  return {.rule = "plausible-secrets",
          .what = std::move(what),
          .change = [name = std::move(name), text = std::move(text)](GoldenTree& t) {
            t.texts[name] = text;
          }};
}

// A point with a power.json in which one figure is wrong.
inline Mutation with_power(std::string what, std::string key, Json value) {
  return {.rule = "plausible-power",
          .what = std::move(what),
          .change =
              [key = std::move(key), value = std::move(value)](GoldenTree& t) {
                Json totals = Json().set("energy_j", 1e6).set("mean_power_w", 1000.0);
                totals.set("output_tokens", t.summary("r96")["output_sequence_lengths"]["total"]);
                totals.set("energy_per_output_token_j", 1e6 / totals["output_tokens"].as_double());
                totals.set(key, value);
                t.documents[t.curve + "/r96/power.json"] =
                    Json()
                        .set("schema_version", "1.0")
                        .set("status", "ok")
                        .set("window", Json()
                                           .set("start_epoch_s", 5.0)
                                           .set("end_epoch_s", 1005.0)
                                           .set("duration_s", 1000.0))
                        .set("totals", std::move(totals));
              },
          .severity = Severity::warning};
}

inline std::vector<Mutation> plausibility_mutations_1() {
  const auto latency = [](std::string_view key, Json value) {
    return [key, value](GoldenTree& t) { inner(t.summary("r96"), {"latency"}).set(key, value); };
  };
  return {
      {.rule = "plausible-runs",
       .what = "one run's figures at two points",
       .change =
           [](GoldenTree& t) {
             Json& mine = t.summary("r64");
             for (const char* const key :
                  {"ttft", "latency", "duration_ns", "output_sequence_lengths"}) {
               mine.set(key, t.summary("r96")[key]);
             }
             // As its own throughput says, so that no other rule has anything to say.
             const double tps = t.summary("r96")["system_tps"].as_double();
             mine.set("system_tps", tps).set("system_tps_per_kw", tps / 13.05);
             t.description("r64").set("tps_utilization", t.description("r96")["tps_utilization"]);
           },
       .also = {"review-curve-shape"}},
      {.rule = "plausible-names",
       .what = "a point's folder with a capital letter",
       .change =
           [](GoldenTree& t) {
             t.documents[t.curve + "/R8/result_summary.json"] = t.summary("r96");
           }},
      {.rule = "plausible-series",
       .what = "a P90 below the P50",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"latency", "percentiles"}).set("90.0", 1.0);
           },
       .also = {"plausible-latency"}},
      {.rule = "plausible-series",
       .what = "a least value below zero",
       .change = latency("min", -1)},
      {.rule = "plausible-series",
       .what = "a largest value below a percentile",
       .change = latency("max", 1)},
      {.rule = "plausible-series",
       .what = "a mean above the largest value",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"latency"})
                 .set("min", 1)
                 .set("max", 4'000'000'000)
                 .set("avg", 5e9);
           }},
      {.rule = "plausible-latency",
       .what = "TTFT in another unit than latency",
       .change =
           [](GoldenTree& t) {
             Json& ttft = inner(t.summary("r96"), {"ttft", "percentiles"});
             ttft.set("50.0", 1e12).set("90.0", 2e12);
           }},
      {.rule = "plausible-latency",
       .what = "a longest TTFT above the longest latency",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"ttft"}).set("max", 9e9);
             inner(t.summary("r96"), {"latency"}).set("max", 8e9);
           }},
  };
}

inline std::vector<Mutation> plausibility_mutations_2() {
  return {
      {.rule = "plausible-load",
       .what = "a query longer than its run",
       .change = [](GoldenTree& t) { inner(t.summary("r96"), {"latency"}).set("max", 1.6e12); }},
      {.rule = "plausible-load",
       .what = "more time in flight than there is",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r96"), {"latency"}).set("total", 1500e9 * 96 * 1.02);
           }},
      {.rule = "plausible-load",
       .what = "a rate above its own count",
       .change = [](GoldenTree& t) { t.summary("r96").set("qps", 40.0); }},
      {.rule = "plausible-load",
       .what = "more ends than queries",
       .change =
           [](GoldenTree& t) {
             t.summary("r96").set("finish_reason_counts", Json().set("stop", 31'981));
           }},
      with_file("a Hugging Face token in a launch script", "src/sglang/run.sh",
                "export X=hf_" + std::string("aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3h") + "\n"),
      with_file("a private key", "docs/id",
                "-----BEGIN OPENSSH "
                "PRIVATE KEY-----\n"),
      with_file("a file of the environment", "src/sglang/.env", "# keys\nAPI_TOKEN=abcdefgh12\n"),
      {.rule = "plausible-documents",
       .what = "a README without words",
       .change = [](GoldenTree& t) { t.texts["src/sglang/README.md"] = " \n"; },
       .severity = Severity::warning},
      {.rule = "plausible-documents",
       .what = "docs/ with nothing in it",
       .change = [](GoldenTree& t) { t.texts["docs/software_disclosure.txt"] = ""; },
       .severity = Severity::warning},
      with_power("joules that are not watts times seconds", "energy_j", 2e6),
      with_power("joules a token that are not", "energy_per_output_token_j", 1.0),
      with_power("a mean that is not a number", "mean_power_w", "700"),
  };
}

}  // namespace assay::rules
