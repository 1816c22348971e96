// systems/<system>.json and the power capacity of its nameplates.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

constexpr std::array<std::string_view, 35> kFields{"division",
                                                   "submitter",
                                                   "status",
                                                   "system_name",
                                                   "number_of_nodes",
                                                   "host_processor_model_name",
                                                   "host_processors_per_node",
                                                   "host_processor_core_count",
                                                   "host_memory_capacity",
                                                   "host_storage_capacity",
                                                   "host_storage_type",
                                                   "accelerators_per_node",
                                                   "accelerator_model_name",
                                                   "accelerator_memory_capacity",
                                                   "framework",
                                                   "operating_system",
                                                   "system_type",
                                                   "other_software_stack",
                                                   "host_processor_frequency",
                                                   "host_processor_caches",
                                                   "host_memory_configuration",
                                                   "host_processor_interconnect",
                                                   "host_networking",
                                                   "host_networking_topology",
                                                   "accelerator_frequency",
                                                   "accelerator_host_interconnect",
                                                   "accelerator_interconnect",
                                                   "accelerator_interconnect_topology",
                                                   "accelerator_memory_configuration",
                                                   "accelerator_on-chip_memories",
                                                   "cooling",
                                                   "hw_notes",
                                                   "sw_notes",
                                                   "host_network_card_count",
                                                   "system_type_detail"};
// An empty value of these says nothing wrong.
constexpr std::array<std::string_view, 9> kMayBeEmpty{"host_processor_frequency",
                                                      "host_processor_caches",
                                                      "host_processor_interconnect",
                                                      "accelerator_frequency",
                                                      "accelerator_interconnect_topology",
                                                      "accelerator_on-chip_memories",
                                                      "hw_notes",
                                                      "sw_notes",
                                                      "system_type_detail"};
constexpr std::array<std::string_view, 12> kNetworkFields{
    "network_type",     "network_media",          "network_rate",
    "nic_loadgen",      "number_nic_loadgen",     "net_software_stack_loadgen",
    "network_protocol", "number_connections",     "nic_sut",
    "number_nic_sut",   "net_software_stack_sut", "network_topology"};
constexpr std::array<std::string_view, 15> kPowerFields{"power_management",
                                                        "filesystem",
                                                        "boot_firmware_version",
                                                        "management_firmware_version",
                                                        "other_hardware",
                                                        "number_of_type_nics_installed",
                                                        "nics_enabled_firmware",
                                                        "nics_enabled_os",
                                                        "nics_enabled_connected",
                                                        "network_speed_mbit",
                                                        "power_supply_quantity_and_rating_watts",
                                                        "power_supply_details",
                                                        "disk_drives",
                                                        "disk_controllers",
                                                        "system_power_only"};

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         (value.is_bool() && !value.as_bool()) || (value.is_number() && value.as_double() == 0) ||
         ((value.is_array() || value.is_object()) && value.size() == 0);
}

const Json& field(const At& at, std::string_view name) {
  return at.system->description.root()[name];
}

Place place_of(const At& at, std::string_view name) {
  return at.system->description.place(pointer_to("", name));
}

// Another rule names a missing description.
bool described(const At& at, Out& out) {
  if (at.system->description.good() && at.system->description.root().is_object()) return true;
  out.not_applicable();
  return false;
}

void check_system_described(const At& at, Out& out) {
  const Document& file = at.system->description;
  if (file.absent()) return out.error({file.name(), 0}, "no such file", "the system's description");
  if (file.broken()) return out.error(file.place(), file.trouble(), "a JSON object");
  if (!file.root().is_object()) out.error(file.place(), said(file.root()), "a JSON object");
}

void check_system_fields(const At& at, Out& out) {
  if (!described(at, out)) return;
  for (const std::string_view name : kFields) {
    if (at.system->description.root().find(name) == nullptr) {
      out.error({at.system->description.name(), 0}, "no field " + std::string(name), "the field");
    } else if (is_empty(field(at, name)) &&
               std::ranges::find(kMayBeEmpty, name) == kMayBeEmpty.end()) {
      out.error(place_of(at, name), std::string(name) + " is empty", "what the system has");
    }
  }
}

void check_system_status(const At& at, Out& out) {
  if (!described(at, out)) return;
  const std::string status = lower(field(at, "status").as_string());
  if (status == "available" || status == "preview" || status == "rdi") return;
  out.error(place_of(at, "status"), said(field(at, "status")), "available, preview or rdi");
}

void check_system_type(const At& at, Out& out) {
  if (!described(at, out)) return;
  if (!at.system->kind().empty()) return;
  out.error(place_of(at, "system_type"), said(field(at, "system_type")),
            "datacenter, edge, \"datacenter,edge\" or \"edge,datacenter\"");
}

void check_system_submitter(const At& at, Out& out) {
  if (!described(at, out)) return;
  if (lower(field(at, "submitter").as_string()) == lower(at.submitter->name)) return;
  out.error(place_of(at, "submitter"), said(field(at, "submitter")), at.submitter->name);
}

void check_system_division(const At& at, Out& out) {
  if (!described(at, out)) return;
  if (lower(field(at, "division").as_string()) == at.submitter->division) return;
  out.error(place_of(at, "division"), said(field(at, "division")), at.submitter->division);
}

void check_system_network(const At& at, Out& out) {
  if (!described(at, out)) return;
  const Json& value = field(at, "is_network");
  if (!value.is_null() && !value.is_string()) {
    return out.error(place_of(at, "is_network"), said(value), "\"true\" or \"false\", as text");
  }
  const bool network = lower(value.as_string()) == "true";
  const std::string& division = at.submitter->division;
  if ((division == "network" && !network) || (division == "closed" && network)) {
    out.error(place_of(at, "is_network"), said(value),
              division == "network" ? "\"true\" in network" : "no network system in closed");
  }
  // The checker asks for the fields as soon as this one has any text.
  if (value.as_string().empty()) return;
  for (const std::string_view name : kNetworkFields) {
    if (at.system->description.root().find(name) != nullptr) continue;
    out.error({at.system->description.name(), 0}, "no field " + std::string(name),
              "the field, where is_network stands");
  }
}

// A whole number, or text of one: the table of results multiplies them.
void check_system_counts(const At& at, Out& out) {
  if (!described(at, out)) return;
  for (const std::string_view name : {"number_of_nodes", "accelerators_per_node"}) {
    const Json& value = field(at, name);
    if (value.is_null() || value.is_number()) continue;
    if (value.is_string() && parse_int(trim(value.as_string()))) continue;
    out.error(place_of(at, name), said(value), "a whole number");
  }
}

void check_system_power_fields(const At& at, Out& out) {
  if (!at.system->has_power() || !described(at, out)) return out.not_applicable();
  for (const std::string_view name : kPowerFields) {
    if (at.system->description.root().find(name) != nullptr) continue;
    out.warning({at.system->description.name(), 0}, "no field " + std::string(name),
                "the field, of a system with power");
  }
}

void check_system_nameplate(const At& at, Out& out) {
  const Document& file = at.system->nameplate;
  if (file.broken()) return out.error(file.place(), file.trouble(), "a tree of power supplies");
  if (at.tree.round.name < "v6.1" || !at.system->has_power() || !described(at, out)) {
    return out.not_applicable();
  }
  if (file.good() || !field(at, "system_power_capacity").is_null()) return;
  out.warning({file.name(), 0}, "no such file, and no system_power_capacity",
              "the power supplies' capacity");
}

}  // namespace

void add_system(Rules& rules) {
  const auto add = [&](std::string_view id, Severity severity, std::string_view clause,
                       std::string_view demand, std::string_view fix,
                       void (*check)(const At&, Out&)) {
    rules.push_back({{.id = id,
                      .group = "system",
                      .severity = severity,
                      .action = Action::reject_submission,
                      .clause = clause,
                      .demand = demand,
                      .fix = fix},
                     Subject::system,
                     check});
  };
  add("inf-system-described", Severity::error, "checker: SystemCheck.missing_check",
      "systems/<system>.json describes each system with results", "write the description",
      check_system_described);
  add("inf-system-fields", Severity::error, "checker: SystemCheck.required_fields_check",
      "the description has its 35 fields, and 26 of them say something",
      "fill the field in; \"N/A\" where there is nothing to say", check_system_fields);
  add("inf-system-status", Severity::error, "checker: SystemCheck.availability_check",
      "status is a class of availability", "write available, preview or rdi", check_system_status);
  add("inf-system-type", Severity::error, "checker: SystemCheck.system_type_check",
      "system_type is datacenter, edge or both", "write one of the four forms", check_system_type);
  add("inf-system-submitter", Severity::error, "checker: SystemCheck.submitter_check",
      "submitter is the folder's name", "make the two the same", check_system_submitter);
  add("inf-system-division", Severity::error, "checker: SystemCheck.division_check",
      "division is the folder's name", "make the two the same", check_system_division);
  add("inf-system-network", Severity::error, "checker: SystemCheck.network_check",
      "is_network and its fields fit the division", "add the fields, or move the system",
      check_system_network);
  add("inf-system-counts", Severity::error, "checker: ResultExporter.add_result",
      "number_of_nodes and accelerators_per_node are whole numbers", "write digits alone",
      check_system_counts);
  add("inf-system-power-fields", Severity::warning, "checker: SYSTEM_DESC_REQUIRED_FIELDS_POWER",
      "a system with power describes what draws it", "fill the field in",
      check_system_power_fields);
  add("inf-nameplate", Severity::error, "checker: SystemCheck.nameplate_power_check",
      "a system with power names its power supplies' capacity (from v6.1)",
      "write systems/<system>_power.yaml", check_system_nameplate);
}

}  // namespace assay::rules::inference
