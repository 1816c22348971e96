#include "sim/twin.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace assay::sim {
namespace {

using Factors = std::array<double, Twin::kFactors>;  // as logarithms while fitting

constexpr double kSigmaTpot = 0.03;
constexpr double kSigmaTtft = 0.15;
constexpr double kSigmaFactor = 0.7;
constexpr int kRounds = 12;
constexpr int kFewRounds = 4;  // for a fit that starts near its end
constexpr std::size_t kFolds = 6;
constexpr std::size_t kHeldOutLeast = 4;

void scale(Deployment& deployment, const Factors& logs) {
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (const ConstantName& constant : constant_names()) {
      if (constant.name == twin_constants()[i]) {
        deployment.constants.*constant.member *= std::exp(logs[i]);
      }
    }
  }
}

ClusterSpec scaled(ClusterSpec spec, const Factors& logs) {
  scale(spec.deployment, logs);
  if (spec.prefill) scale(*spec.prefill, logs);
  return spec;
}

std::vector<SimPoint> run(const ClusterSpec& spec, const Workload& workload,
                          const std::vector<MeasuredPoint>& measured, const Factors& logs) {
  return simulate_as_measured(scaled(spec, logs), workload, measured);
}

std::vector<double> residuals(const std::vector<SimPoint>& points,
                              const std::vector<MeasuredPoint>& measured, const Factors& logs) {
  std::vector<double> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    out.push_back(std::log(points[i].tpot_ms.mean / measured[i].tpot_ms_mean) / kSigmaTpot);
    if (measured[i].ttft_ms_mean > 0) {
      out.push_back(std::log(points[i].ttft_ms.mean / measured[i].ttft_ms_mean) / kSigmaTtft);
    }
  }
  for (const double value : logs) out.push_back(value / kSigmaFactor);
  return out;
}

double square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

// Solves A x = b for a small positive definite A, by elimination.
Factors solve(std::array<Factors, Twin::kFactors> a, Factors b) {
  constexpr std::size_t kCount = Twin::kFactors;
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = i + 1; k < kCount; ++k) {
      const double f = a[k][i] / a[i][i];
      for (std::size_t j = i; j < kCount; ++j) a[k][j] -= f * a[i][j];
      b[k] -= f * b[i];
    }
  }
  for (std::size_t i = kCount; i-- > 0;) {
    for (std::size_t j = i + 1; j < kCount; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

// Absolute errors, ascending; empty where nothing was measured.
std::vector<double> errors_of(const std::vector<SimPoint>& points,
                              const std::vector<MeasuredPoint>& measured, bool ttft) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double truth = ttft ? measured[i].ttft_ms_mean : measured[i].tpot_ms_mean;
    const double said = ttft ? points[i].ttft_ms.mean : points[i].tpot_ms.mean;
    if (truth > 0) errors.push_back(std::fabs(said / truth - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

double median(const std::vector<double>& errors) {
  return errors.empty() ? 0 : errors[errors.size() / 2];
}

Factors logs_of(const Twin& twin) {
  Factors out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::log(twin.factors[i]);
  return out;
}

struct Fit {
  Factors logs{};
  std::vector<SimPoint> points{};
  std::vector<double> residual{};
};

Fit start_fit(const ClusterSpec& spec, const Workload& workload,
              const std::vector<MeasuredPoint>& measured, const Factors& logs) {
  Fit out{.logs = logs, .points = run(spec, workload, measured, logs)};
  out.residual = residuals(out.points, measured, logs);
  return out;
}

// The change of the factors' logarithms that a step of Gauss and Newton asks for.
Factors newton_step(const Fit& fit, const ClusterSpec& spec, const Workload& workload,
                    const std::vector<MeasuredPoint>& measured, double damping) {
  constexpr std::size_t kCount = Twin::kFactors;
  constexpr double kMove = 0.01;
  const std::vector<double>& r = fit.residual;
  std::array<std::vector<double>, kCount> slope;
  for (std::size_t i = 0; i < kCount; ++i) {
    Factors moved = fit.logs;
    moved[i] += kMove;
    slope[i] = residuals(run(spec, workload, measured, moved), measured, moved);
    for (std::size_t k = 0; k < r.size(); ++k) slope[i][k] = (slope[i][k] - r[k]) / kMove;
  }
  std::array<Factors, kCount> a{};
  Factors b{};
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < r.size(); ++k) b[i] -= slope[i][k] * r[k];
    for (std::size_t j = 0; j < kCount; ++j) {
      for (std::size_t k = 0; k < r.size(); ++k) a[i][j] += slope[i][k] * slope[j][k];
    }
    a[i][i] *= 1 + damping;
  }
  return solve(a, b);
}

Fit improve(Fit fit, const ClusterSpec& spec, const Workload& workload,
            const std::vector<MeasuredPoint>& measured, int rounds) {
  double damping = 0.01;
  for (int round = 0; round < rounds; ++round) {
    const Factors step = newton_step(fit, spec, workload, measured, damping);
    Factors moved = fit.logs;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += std::clamp(step[i], -1.0, 1.0);
    Fit next = start_fit(spec, workload, measured, moved);
    const double was = square(fit.residual);
    const double is = square(next.residual);
    if (is >= was) {
      damping *= 10;
      if (damping > 1e4) break;
      continue;
    }
    fit = std::move(next);
    damping = std::max(1e-4, damping / 10);
    if (was - is < 1e-4 * was) break;
  }
  return fit;
}

Twin twin_of(const Fit& before, const Fit& fit, const std::vector<MeasuredPoint>& measured) {
  Twin out;
  for (std::size_t i = 0; i < out.factors.size(); ++i) out.factors[i] = std::exp(fit.logs[i]);
  out.tpot_error_before = median(errors_of(before.points, measured, false));
  out.ttft_error_before = median(errors_of(before.points, measured, true));
  const std::vector<double> tpot = errors_of(fit.points, measured, false);
  const std::vector<double> ttft = errors_of(fit.points, measured, true);
  out.tpot_error_after = median(tpot);
  out.ttft_error_after = median(ttft);
  if (!tpot.empty()) out.tpot_error_max = tpot.back();
  if (!ttft.empty()) out.ttft_error_max = ttft.back();
  out.points = fit.points;
  return out;
}

}  // namespace

const std::array<std::string_view, Twin::kFactors>& twin_constants() {
  static const std::array<std::string_view, Twin::kFactors> names = {
      "layer_s", "step_s", "sequence_s", "weight_bandwidth", "request_s"};
  return names;
}

Result<std::vector<MeasuredPoint>> read_measured(const Json& curve) {
  std::vector<MeasuredPoint> out;
  std::size_t index = 0;
  for (const Json& item : curve["points"].items()) {
    ++index;
    if (!item["measured"].as_bool(true) || item["offline"].as_string() == "dedicated") continue;
    const auto either = [&](const char* a, const char* b) {
      return item[a].is_number() ? item[a].as_double() : item[b].as_double();
    };
    MeasuredPoint point;
    point.concurrency = static_cast<std::uint32_t>(std::lround(item["concurrency"].as_double()));
    point.tpot_ms_mean = either("tpot_ms_mean", "tpot_ms");
    point.ttft_ms_mean = either("ttft_ms_mean", "ttft_ms");
    point.system_tps = item["system_tps"].is_number() ? item["system_tps"].as_double()
                                                      : item["official"]["system_tps"].as_double();
    if (point.concurrency == 0 || point.concurrency > 1'000'000 || !(point.tpot_ms_mean > 0)) {
      return invalid(
          format("points[{}]: needs concurrency from 1 and tpot_ms_mean above 0", index - 1));
    }
    out.push_back(point);
  }
  if (out.empty()) return invalid("'points' is missing or empty");
  return out;
}

std::vector<SimPoint> simulate_as_measured(const ClusterSpec& spec, const Workload& workload,
                                           const std::vector<MeasuredPoint>& measured) {
  std::vector<SimPoint> out;
  for (const MeasuredPoint& point : measured) {
    SimulateOptions options;
    if (point.queries_per_slot > 0) options.queries_per_slot = point.queries_per_slot;
    out.push_back(simulate_closed(spec, workload, point.concurrency, options));
  }
  return out;
}

Twin fit_twin(const ClusterSpec& spec, const Workload& workload,
              const std::vector<MeasuredPoint>& measured) {
  const Fit before = start_fit(spec, workload, measured, {});
  return twin_of(before, improve(before, spec, workload, measured, kRounds), measured);
}

Twin refit_twin(const ClusterSpec& spec, const Workload& workload,
                const std::vector<MeasuredPoint>& measured, const Twin& start) {
  const Fit before = start_fit(spec, workload, measured, logs_of(start));
  return twin_of(before, improve(before, spec, workload, measured, kFewRounds), measured);
}

double misfit(const Twin& twin, const std::vector<MeasuredPoint>& measured) {
  return square(residuals(twin.points, measured, logs_of(twin)));
}

void judge_held_out(const ClusterSpec& spec, const Workload& workload,
                    const std::vector<MeasuredPoint>& measured, Twin& twin) {
  twin.held_out.clear();
  if (measured.size() < kHeldOutLeast) return;
  twin.held_out.resize(measured.size());
  const std::size_t folds = std::min(measured.size(), kFolds);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<MeasuredPoint> kept;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      if (i % folds != fold) kept.push_back(measured[i]);
    }
    const ClusterSpec fitted = with_factors(spec, refit_twin(spec, workload, kept, twin));
    for (std::size_t i = fold; i < measured.size(); i += folds) {
      const SimPoint said = simulate_as_measured(fitted, workload, {measured[i]}).front();
      twin.held_out[i] = {.tpot = measured[i].tpot_ms_mean / said.tpot_ms.mean,
                          .ttft = measured[i].ttft_ms_mean / said.ttft_ms.mean,
                          .throughput = measured[i].system_tps / said.system_tps};
    }
  }
}

double held_out_error(const Twin& twin, double HeldOut::*figure) {
  std::vector<double> errors;
  for (const HeldOut& one : twin.held_out) {
    if (one.*figure > 0) errors.push_back(std::fabs(one.*figure - 1));
  }
  std::ranges::sort(errors);
  return median(errors);
}

ClusterSpec with_factors(ClusterSpec spec, const Twin& twin) {
  return scaled(std::move(spec), logs_of(twin));
}

ComparedFamily twin_family(const ClusterSpec& spec, const Twin& twin) {
  ComparedFamily out;
  out.what = spec.deployment.subject();
  out.points = static_cast<unsigned>(twin.points.size());
  out.tpot_error = twin.tpot_error_after;
  out.apart = spec.prefill.has_value();
  for (const SimPoint& point : twin.points) {
    out.in_flight_max = std::max(out.in_flight_max, point.concurrency / std::max(1U, point.gpus));
  }
  return out;
}

std::string twin_yaml(const ClusterSpec& spec, const Twin& twin, const MeasuredLoad& load,
                      const std::string& provenance) {
  const Deployment& d = spec.deployment;
  std::string times;
  for (std::size_t i = 0; i < Twin::kFactors; ++i) {
    times += format("{}{}: {:.6g}", i == 0 ? "" : ", ", twin_constants()[i], twin.factors[i]);
  }
  const std::string what =
      format("{{model: {}, hardware: {}, backend: {}, precision: {}}}", d.model.name,
             d.hardware.name, d.backend.name, to_string(d.precision));
  const ComparedFamily family = twin_family(spec, twin);
  std::string out =
      format("# A twin of a measured system: {}.\nkind: calibration\n", describe(spec));
  out += format("provenance: >-\n  {}\n", provenance);
  out += format("adjust:\n  - when: {}\n    times: {{{}}}\n", what, times);
  out += format(
      "compared:\n  - {{what: {}, points: {}, tpot_error: {:.4g}, in_flight_max: {:.6g}{}}}\n",
      what, family.points, family.tpot_error, family.in_flight_max,
      family.apart ? ", apart: true" : "");
  return out + to_yaml(load);
}

}  // namespace assay::sim
