#include "rulebook/power.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/format.h"
#include "base/text.h"

namespace assay::rulebook {
namespace {

double two_decimals(double value) { return std::nearbyint(value * 100) / 100; }

// Adds up one file; it records every fault and goes on without that part.
class Sum {
 public:
  Sum(const Json& file, const Json& description) : file_(file), description_(description) {}

  Power run() {
    cooling();
    scale_out_present_ = file_["scale_out"]["present"].as_bool();
    if (file_["system_desc_id"].as_string().empty()) {
      error("/system_desc_id", "system_desc_id is missing", "the description's name");
    }
    const Json& sets = file_["node_sets"];
    if (!sets.is_array() || sets.size() == 0) {
      error("/node_sets", "node_sets is missing or empty", "a list of one or more node sets");
    }
    for (std::size_t i = 0; i < sets.size(); ++i) node_set(sets[i], format("/node_sets/{}", i));
    scale_out();
    power_.overhead_fraction = fraction_;
    power_.other_w = fraction_ * power_.major_w;
    power_.total_w = power_.major_w + power_.other_w + power_.published_w + power_.switch_w;
    if (const Json* declared = file_.find("declared_provisioned_power")) {
      if (const auto watts = sourced(*declared, "/declared_provisioned_power")) {
        power_.total_w = *watts;
        power_.declared = true;
      }
    }
    compare_computed();
    return std::move(power_);
  }

 private:
  void error(std::string pointer, std::string found, std::string expected) {
    power_.errors.push_back({std::move(pointer), std::move(found), std::move(expected)});
  }
  void warn(std::string pointer, std::string found, std::string expected) {
    power_.warnings.push_back({std::move(pointer), std::move(found), std::move(expected)});
  }
  void estimate(std::string pointer, std::string found) {
    power_.estimated.push_back({std::move(pointer), std::move(found), "a figure with its source"});
  }

  // Returns a positive integer, or reports an error and returns nothing.
  std::optional<std::int64_t> count(const Json& parent, const std::string& at,
                                    std::string_view name) {
    const std::int64_t value = parent[name].as_int(-1);
    if (value > 0 && value <= 10'000'000) return value;
    error(format("{}/{}", at, name), format("{} is {}", name, parent[name].dump()),
          "an integer above 0");
    return std::nullopt;
  }

  // Returns the watts of a sourced value, or the picojoules if it is an energy.
  std::optional<double> sourced(const Json& value, const std::string& at, bool energy = false) {
    if (!value.is_object()) {
      error(at, format("a figure is {}", value.dump()), "value_w, source_type and source");
      return std::nullopt;
    }
    std::optional<double> watts;
    int values = 0;
    for (const auto& [name, inner] : value.members()) {
      const bool figure = name == "value_w" || name == "value_kw" || name == "value_pj";
      if (figure && (name == "value_pj") != energy) {
        error(at, format("{} for {}", name, energy ? "an energy per bit" : "a power"),
              energy ? "value_pj" : "value_w or value_kw");
        return std::nullopt;
      }
      if (figure) {
        ++values;
        watts = inner.as_double(-1) * (name == "value_kw" ? 1000 : 1);
      } else if (name != "source_type" && name != "source") {
        error(format("{}/{}", at, name), format("'{}' in a figure", name),
              "value_w, value_kw or value_pj, source_type, source");
      }
    }
    if (values != 1 || !std::isfinite(*watts) || *watts < 0) {
      error(at,
            values == 1 ? "a figure that is not a number, or negative"
                        : format("{} values in one figure", values),
            "exactly one of value_w, value_kw, value_pj, 0 or more");
      return std::nullopt;
    }
    check_source(value, at);
    return watts;
  }

  void check_source(const Json& value, const std::string& at) {
    const std::string_view type = value["source_type"].as_string();
    const std::string_view source = value["source"].as_string();
    if (type == "mlc_default") {
      estimate(at, format("the default of {}", source.empty() ? "Appendix D" : source));
      if (!(source.size() == 3 && source.starts_with("D.") && source[2] >= '1' &&
            source[2] <= '4')) {
        error(at + "/source", format("source is '{}'", source), "D.1 to D.4 for a default");
      }
    } else if (type == "vendor_spec" || type == "publication" || type == "public_statement") {
      if (!source.starts_with("http://") && !source.starts_with("https://")) {
        error(at + "/source", format("source is '{}'", source), "an http or https URL");
      }
    } else {
      error(at + "/source_type", format("source_type is '{}'", type),
            "vendor_spec, publication, public_statement or mlc_default");
    }
  }

  // Returns the file's figure, else the default; else reports an error.
  double figure(const Json& parent, const std::string& at, std::string_view name,
                std::optional<double> fallback, std::string_view what) {
    const std::string pointer = format("{}/{}", at, name);
    if (const Json* value = parent.find(name)) return sourced(*value, pointer).value_or(0);
    if (fallback) {
      estimate(pointer, format("{}: {} W by default", what, *fallback));
    } else {
      error(pointer, format("{}: no figure, and the rules have no default for it", what),
            "a figure with its source");
    }
    return fallback.value_or(0);
  }

  void cooling() {
    const auto stated = cooling_fraction(file_["cooling"].as_string());
    if (!stated) {
      error("/cooling", format("cooling is {}", file_["cooling"].dump()), "liquid or air");
    }
    std::set<double> described;
    for (const Json& type : description_["node_types"].items()) {
      if (const auto words = cooling_fraction(type["cooling"].as_string())) {
        described.insert(*words);
      }
    }
    if (stated && described.size() == 1 && *described.begin() != *stated) {
      error("/cooling", format("cooling is {}", file_["cooling"].dump()),
            "the cooling that system_desc.json describes");
    }
    fraction_ = described.size() > 1 ? 0.50 : stated.value_or(0.50);
  }

  const Json* node_type(std::int64_t ensemble) const {
    for (const Json& type : description_["node_types"].items()) {
      const Json& id = type["system_node_ensemble_id"];
      const auto text = parse_int(id.as_string());
      if (id.as_int(text ? *text : -1) == ensemble) return &type;
    }
    return nullptr;
  }

  void node_set(const Json& set, const std::string& at) {
    const Json& id = set["node_set_id"];
    if (!id.is_integer() && !parse_int(id.as_string())) {
      error(at + "/node_set_id", format("node_set_id is {}", id.dump()), "an integer");
    } else if (!ids_.insert(id.dump()).second) {
      error(at + "/node_set_id", format("node_set_id {} twice", id.dump()),
            "an id of its own for each set");
    }
    const std::int64_t ensemble = set["system_node_ensemble_id"].as_int(-1);
    if (ensemble < 0) {
      error(at + "/system_node_ensemble_id", "system_node_ensemble_id is missing", "an integer");
    } else if (node_type(ensemble) == nullptr && description_.is_object()) {
      warn(at + "/system_node_ensemble_id", format("no node type {} in system_desc.json", ensemble),
           "an ensemble that the description has");
    }
    const std::int64_t nodes = count(set, at, "nodes_provisioned").value_or(0);
    const std::string_view method = set["power_method"].as_string();
    double watts = 0;
    if (method == "component_sum") {
      watts = components(set["components"], at + "/components", ensemble, nodes);
      power_.major_w += watts;
      watts *= 1 + fraction_;
    } else if (method == "published_system" || method == "node_scaling") {
      watts = published(set, at, method == "node_scaling", nodes);
      power_.published_w += watts;
      // Evidence that the published figure has no NICs in it: they are added as components are.
      if (!file_["scale_out"]["nics"]["excluded_from_published_power"].as_string().empty()) {
        const double nics_w = counted_nics_w(nodes);
        power_.major_w += nics_w;
        watts += nics_w * (1 + fraction_);
      }
      published_racks_ += nodes > 1 ? 1 : 0;
    } else {
      error(at + "/power_method", format("power_method is {}", set["power_method"].dump()),
            "component_sum, published_system or node_scaling");
    }
    power_.sets.push_back({ensemble, nodes, watts, accelerators_of(set)});
  }

  static std::optional<std::int64_t> accelerators_of(const Json& set) {
    const std::int64_t count = set["components"]["accelerator"]["count_per_node"].as_int(-1);
    return count > 0 ? std::optional(count) : std::nullopt;
  }

  double published(const Json& set, const std::string& at, bool scaled, std::int64_t nodes) {
    const double watts = figure(set, at, "published_power", {}, "published power");
    if (!scaled) return watts * static_cast<double>(nodes);
    const auto rack = count(set, at, "nodes_in_published_rack");
    if (!rack) return 0;
    if (*rack <= nodes) {
      error(at + "/nodes_in_published_rack", format("{} nodes in the published rack", *rack),
            format("more than the {} provisioned", nodes));
    }
    return watts * static_cast<double>(nodes) / static_cast<double>(*rack);
  }

  // Returns the watts of a component_sum set, before the overhead.
  double components(const Json& parts, const std::string& at, std::int64_t ensemble,
                    std::int64_t nodes) {
    double node = 0;
    if (const Json* combined = parts.find("combined_cpu_accelerator")) {
      node += sourced(*combined, at + "/combined_cpu_accelerator").value_or(0);
      if (parts["cpu"].find("tdp_per_unit") != nullptr ||
          parts["accelerator"].find("tdp_per_unit") != nullptr) {
        error(at + "/combined_cpu_accelerator", "a combined figure beside separate ones",
              "either the one or the others");
      }
    } else {
      const Json* type = node_type(ensemble);
      const std::int64_t cores =
          type == nullptr ? 0 : (*type)["host_processor_core_count"].as_int();
      const Json& cpu = parts["cpu"];
      const std::string_view cpu_model = cpu["model"].as_string();
      node += part(cpu, at + "/cpu", default_cpu_w(cpu_model, cores), cpu_model);
      const Json& accelerator = parts["accelerator"];
      const std::string_view model = accelerator["model"].as_string();
      node += part(accelerator, at + "/accelerator", default_accelerator_w(model), model);
    }
    node += scale_up(parts["scale_up_network"], at + "/scale_up_network", nodes);
    return node * static_cast<double>(nodes) + counted_nics_w(nodes);
  }

  double counted_nics_w(std::int64_t nodes) {
    const Json& nics = file_["scale_out"]["nics"];
    if (!scale_out_present_ || !nics["counted"].as_bool()) return 0;
    const auto cards = count(nics, "/scale_out/nics", "count_per_node");
    const double nic = figure(nics, "/scale_out/nics", "tdp_per_nic", kDefaultNicW, "NIC");
    return static_cast<double>(nodes * cards.value_or(0)) * nic;
  }

  double part(const Json& part, const std::string& at, std::optional<double> fallback,
              std::string_view model) {
    if (!part.is_object()) {
      error(at, "missing", "model, count_per_node, tdp_per_unit");
      return 0;
    }
    if (model.empty()) error(at + "/model", "model is missing", "the part's name");
    const auto units = count(part, at, "count_per_node");
    return static_cast<double>(units.value_or(0)) *
           figure(part, at, "tdp_per_unit", fallback, model);
  }

  double scale_up(const Json& network, const std::string& at, std::int64_t nodes) {
    const std::string_view method = network["method"].as_string();
    if (method == "declared_tdp") {
      joined_ = true;
      const auto switches = count(network, at, "switch_count");
      return static_cast<double>(switches.value_or(0)) *
             figure(network, at, "tdp_per_switch", {}, "scale-up switch");
    }
    if (method == "bandwidth_estimate") {
      joined_ = true;
      const double terabytes = network["aggregate_bandwidth_tbps"].as_double(-1);
      if (terabytes < 0) {
        error(at + "/aggregate_bandwidth_tbps", "aggregate_bandwidth_tbps is missing",
              "TB/s, 0 or more");
        return 0;
      }
      const Json* energy = network.find("energy_per_bit_pj");
      if (energy == nullptr) {
        // Appendix D's figures depend on the link's protocol: there is no default.
        error(at + "/energy_per_bit_pj", "energy per bit: no figure", "value_pj with its source");
        return 0;
      }
      return terabytes * 8 * sourced(*energy, at + "/energy_per_bit_pj", true).value_or(0);
    }
    if (method != "none") {
      error(at + "/method", format("method is {}", network["method"].dump()),
            "declared_tdp, bandwidth_estimate or none");
    } else if (nodes > 1 && !scale_out_present_) {
      unjoined_ = true;
    }
    return 0;
  }

  void scale_out() {
    const Json& out = file_["scale_out"];
    if (!out["present"].is_bool()) {
      error("/scale_out/present", "scale_out.present is missing", "true or false");
      return;
    }
    const std::int64_t nodes = power_.nodes();
    if (!scale_out_present_) {
      if (unjoined_ && !joined_) {
        error("/scale_out/present", format("{} nodes, and nothing joins them", nodes),
              "a scale-up or a scale-out network");
      } else if (published_racks_ > 0) {
        warn("/scale_out/present", format("{} published nodes without a scale-out network", nodes),
             "present: true, unless the published figure has the network in it");
      }
      return;
    }
    if (nodes == 1) {
      warn("/scale_out/present", "a scale-out network of one node", "present: false");
    }
    for (const std::string_view name : {"required_bandwidth_tbps", "nics", "switches"}) {
      if (!out[name].is_null()) continue;
      error(format("/scale_out/{}", name), format("{} is missing beside present: true", name),
            "cabling, required_bandwidth_tbps, nics and switches");
    }
    const std::string_view cabling = out["cabling"].as_string();
    if (cabling != "passive" && cabling != "active_optical") {
      error("/scale_out/cabling", format("cabling is {}", out["cabling"].dump()),
            "passive or active_optical");
    }
    double terabits = 0;
    const Json& switches = out["switches"];
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const std::string at = format("/scale_out/switches/{}", i);
      const Json& one = switches[i];
      const double number = static_cast<double>(count(one, at, "count").value_or(0));
      const std::string_view model = one["model"].as_string();
      const auto fallback = default_switch_w(model, cabling == "active_optical");
      power_.switch_w += number * figure(one, at, "power_per_switch", fallback, model);
      terabits += number * one["bandwidth_tbps"].as_double();
    }
    check_nics();
    const Json& nics = out["nics"];
    const double asked = static_cast<double>(nodes) * nics["count_per_node"].as_double() *
                         nics["bandwidth_per_nic_gbps"].as_double() / 1000;
    const double stated = out["required_bandwidth_tbps"].as_double(asked);
    if (stated + 1e-6 < asked) {
      error("/scale_out/required_bandwidth_tbps", format("{} Tb/s required", stated),
            format("{} Tb/s: what the NICs carry", asked));
    } else if (stated > asked + 1e-6) {
      warn("/scale_out/required_bandwidth_tbps", format("{} Tb/s required", stated),
           format("{} Tb/s: what the NICs carry", asked));
    }
    const double needed = std::max(asked, stated);
    if (terabits + 1e-9 < needed) {
      error("/scale_out/switches", format("switches of {} Tb/s", terabits),
            format("{} Tb/s or more, which the NICs can send", needed));
    }
  }

  // Node power that is added up has no NICs in it; a published figure includes them.
  void check_nics() {
    const Json& nics = file_["scale_out"]["nics"];
    bool summed = false;
    for (const Json& set : file_["node_sets"].items()) {
      summed = summed || set["power_method"].as_string() == "component_sum";
    }
    const bool counted = nics["counted"].as_bool();
    if (summed && !counted) {
      error("/scale_out/nics/counted", "NICs not counted beside node power that is added up",
            "counted: true");
    }
    if (!summed && counted && nics["excluded_from_published_power"].as_string().empty()) {
      error("/scale_out/nics/counted", "NICs counted beside a published node power",
            "counted: false, or excluded_from_published_power with evidence");
    }
  }

  void compare(std::string_view pointer, const Json& stated, double made, double tolerance) {
    if (stated.is_null()) return;
    if (!stated.is_number()) {
      error(std::string(pointer), format("{} is stated", stated.dump()), "a number");
      return;
    }
    if (std::fabs(stated.as_double() - made) <= tolerance) return;
    error(std::string(pointer), format("{} is stated", stated.dump()), format("{:.2f}", made));
  }

  void compare_computed() {
    constexpr double kWatts = 0.5;
    const Json& computed = file_["computed"];
    if (!computed.is_null() && !computed.is_object()) {
      error("/computed", format("computed is {}", computed.dump()), "a map of the sums");
    }
    compare("/computed/major_components_w", computed["major_components_w"], power_.major_w, kWatts);
    compare("/computed/overhead_fraction", computed["overhead_fraction"], fraction_, 1e-9);
    compare("/computed/other_components_w", computed["other_components_w"], power_.other_w, kWatts);
    compare("/computed/published_node_power_w", computed["published_node_power_w"],
            power_.published_w, kWatts);
    compare("/computed/scale_out_switch_power_w", computed["scale_out_switch_power_w"],
            power_.switch_w, kWatts);
    compare("/computed/total_system_power_w", computed["total_system_power_w"], power_.total_w,
            kWatts);
    compare("/provisioned_power_kw", file_["provisioned_power_kw"], power_.provisioned_kw(),
            0.005 + 1e-9);
    const Json& estimated = file_["mlc_estimated_power"];
    if (!estimated.is_null() && !estimated.is_bool()) {
      error("/mlc_estimated_power", format("mlc_estimated_power is {}", estimated.dump()),
            "true or false");
    }
    if (estimated.is_bool() && estimated.as_bool() != !power_.estimated.empty()) {
      error("/mlc_estimated_power", format("mlc_estimated_power is {}", estimated.dump()),
            power_.estimated.empty() ? "false: no default was taken" : "true: a default was taken");
    }
  }

  const Json& file_;
  const Json& description_;
  Power power_{};
  double fraction_ = 0.50;
  bool scale_out_present_ = false;
  bool joined_ = false;
  bool unjoined_ = false;
  int published_racks_ = 0;
  std::set<std::string> ids_{};
};

}  // namespace

double Power::provisioned_kw() const { return two_decimals(total_w / 1000); }

std::int64_t Power::nodes() const {
  std::int64_t total = 0;
  for (const NodeSetPower& set : sets) total += set.nodes;
  return total;
}

Power compute_power(const Json& file, const Json& description) {
  return Sum(file, description).run();
}

double point_power_kw(const Power& power, const std::vector<NodesUsed>& used) {
  double sets_w = 0;
  double largest_share = 0;
  std::int64_t nodes = 0;
  bool whole = true;
  for (const NodeSetPower& set : power.sets) {
    std::int64_t engaged = set.nodes;
    for (const NodesUsed& part : used) {
      if (part.ensemble == set.ensemble) engaged = part.nodes;
    }
    if (set.nodes == 0) continue;
    const double share = static_cast<double>(engaged) / static_cast<double>(set.nodes);
    sets_w += set.watts * share;
    largest_share = std::max(largest_share, share);
    nodes += engaged;
    whole = whole && engaged == set.nodes;
  }
  if (whole) return power.provisioned_kw();
  if (power.declared) return two_decimals(power.total_w * largest_share / 1000);
  const double all = static_cast<double>(std::max<std::int64_t>(power.nodes(), 1));
  return two_decimals((sets_w + power.switch_w * static_cast<double>(nodes) / all) / 1000);
}

}  // namespace assay::rulebook
