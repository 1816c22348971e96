#include "plan/power.h"

#include "base/format.h"
#include "base/text.h"

namespace assay::plan {
namespace {

// One word of a shell's command, whatever is in it.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string url_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

Result<std::string> nvml_meter(const Json& options) {
  std::string out = "nvml";
  for (const Json& index : options["gpu_indices"].items()) {
    if (!index.is_integer() || index.as_int() < 0) {
      return invalid("options.gpu_indices: an index is a whole number, 0 or more");
    }
    out += format("{}{}", out == "nvml" ? ":" : ",", index.as_int());
  }
  return out;
}

Result<std::string> query_meter(const Json& options) {
  const std::string_view url = options["url"].as_string();
  const std::string_view query = options["query"].as_string();
  if (url.empty() || query.empty()) {
    return invalid("options: prometheus needs url and query, the watts of each series");
  }
  const std::string_view base = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  return format("query:{}/api/v1/query?query={}", base, url_encoded(query));
}

Result<std::string> command_of(const PowerConfig& power) {
  std::string out;
  for (const auto& [name, value] : power.env) {
    if (!is_plain_id(name))
      return invalid(format("env: \"{}\" is not the name of a variable", name));
    out += format("{}={} ", name, shell_word(value));
  }
  const std::string before = out;
  for (const Json& word : power.options["argv"].items()) {
    if (!word.is_string()) return invalid("options.argv: each word is a text");
    out += (out == before ? "" : " ") + shell_word(word.as_string());
  }
  if (out == before) return invalid("options.argv: command needs the program and its arguments");
  return out;
}

}  // namespace

Result<TelemetryConfig> telemetry_with_power(const Settings& settings) {
  TelemetryConfig out = settings.telemetry;
  const PowerConfig& power = settings.power;
  if (power.source.empty()) return out;
  if (out.metrics.empty() && out.meters.empty() && out.command.empty()) {
    out.interval = power.interval;
  }
  if (!power.value_kind.empty() && power.value_kind != "power") {
    return invalid(format("value_kind: \"{}\"; only power, in watts, is read by this block",
                          power.value_kind));
  }
  if (power.source == "nvidia_smi") {
    ASSIGN_OR_RETURN(out.meters.emplace_back(), nvml_meter(power.options));
  } else if (power.source == "prometheus") {
    ASSIGN_OR_RETURN(out.meters.emplace_back(), query_meter(power.options));
  } else if (power.source == "command") {
    if (!out.command.empty()) {
      return invalid("source: telemetry.command is a command too; a run has one");
    }
    ASSIGN_OR_RETURN(out.command, command_of(power));
  } else {
    return invalid(format("source: unknown value \"{}\"; one of: nvidia_smi, prometheus, command",
                          power.source));
  }
  return out;
}

}  // namespace assay::plan
