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

void scale(Deployment& deployment, const Factors& logs) {
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (const ConstantName& constant : constant_names()) {
      if (constant.name == twin_constants()[i]) {
        deployment.constants.*constant.member *= std::exp(logs[i]);
      }
    }
  }
}

std::vector<SimPoint> run(const ClusterSpec& spec, const Workload& workload,
                          const std::vector<MeasuredPoint>& measured, const Factors& logs) {
  ClusterSpec scaled = spec;
  scale(scaled.deployment, logs);
  if (scaled.prefill) scale(*scaled.prefill, logs);
  std::vector<SimPoint> out;
  for (const MeasuredPoint& point : measured) {
    SimulateOptions options;
    if (point.queries_per_slot > 0) options.queries_per_slot = point.queries_per_slot;
    out.push_back(simulate_closed(scaled, workload, point.concurrency, options));
  }
  return out;
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
    if (point.concurrency == 0 || point.concurrency > 1'000'000 || !(point.tpot_ms_mean > 0)) {
      return invalid(
          format("points[{}]: needs concurrency from 1 and tpot_ms_mean above 0", index - 1));
    }
    out.push_back(point);
  }
  if (out.empty()) return invalid("'points' is missing or empty");
  return out;
}

Twin fit_twin(const ClusterSpec& spec, const Workload& workload,
              const std::vector<MeasuredPoint>& measured) {
  constexpr std::size_t kCount = Twin::kFactors;
  Factors logs{};
  Twin out;
  std::vector<SimPoint> points = run(spec, workload, measured, logs);
  out.tpot_error_before = median(errors_of(points, measured, false));
  out.ttft_error_before = median(errors_of(points, measured, true));
  std::vector<double> r = residuals(points, measured, logs);
  double damping = 0.01;
  for (int round = 0; round < 12; ++round) {
    std::array<std::vector<double>, kCount> slope;
    for (std::size_t i = 0; i < kCount; ++i) {
      Factors moved = logs;
      moved[i] += 0.01;
      slope[i] = residuals(run(spec, workload, measured, moved), measured, moved);
      for (std::size_t k = 0; k < r.size(); ++k) slope[i][k] = (slope[i][k] - r[k]) / 0.01;
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
    const Factors step = solve(a, b);
    Factors moved = logs;
    for (std::size_t i = 0; i < kCount; ++i) moved[i] += std::clamp(step[i], -1.0, 1.0);
    const std::vector<SimPoint> next = run(spec, workload, measured, moved);
    const std::vector<double> better = residuals(next, measured, moved);
    if (square(better) >= square(r)) {
      damping *= 10;
      if (damping > 1e4) break;
      continue;
    }
    const bool settled = square(r) - square(better) < 1e-4 * square(r);
    logs = moved;
    points = next;
    r = better;
    damping = std::max(1e-4, damping / 10);
    if (settled) break;
  }
  for (std::size_t i = 0; i < kCount; ++i) out.factors[i] = std::exp(logs[i]);
  out.tpot_error_after = median(errors_of(points, measured, false));
  out.ttft_error_after = median(errors_of(points, measured, true));
  const std::vector<double> tpot = errors_of(points, measured, false);
  const std::vector<double> ttft = errors_of(points, measured, true);
  if (!tpot.empty()) out.tpot_error_max = tpot.back();
  if (!ttft.empty()) out.ttft_error_max = ttft.back();
  out.points = std::move(points);
  return out;
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
