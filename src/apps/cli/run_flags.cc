#include "cli/run_flags.h"

#include "base/format.h"
#include "dataset/use_policy.h"

namespace assay::cli {

void add_use_flags(Flags& flags, dataset::UseWords& use) {
  flags.group("What the data is used for");
  flags
      .add("--purpose", &use.purpose,
           "held against what a Croissant file says of its use; a run whose data may not be used "
           "so is refused")
      .choices(dataset::croissant::purpose_words());
  flags.add("--commercial", &use.commercial, "is the use commercial?").choices({"yes", "no"});
  flags.add("--nonprofit", &use.nonprofit, "is the user a not-for-profit organisation?")
      .choices({"yes", "no"});
  flags.add("--methods", &use.methods, "is a method developed with the data, or applied to it?")
      .choices({"develop", "apply"});
  flags.add("--region=CODE", &use.region, "where it is used: a country's two letters, or EU");
  flags.add("--disease=TERM", &use.disease, "the disease that is studied, as the policy names it");
  flags.add("--ontology=FILE", &use.ontology,
            "diseases and those right above them: {\"TERM\": [\"TERM\", …], …}");
  flags.group("");
}

void add_run_flags(Flags& flags, campaign::RunSettings& out, const std::set<std::string>& without) {
  flags.add("--config,-c=FILE", &out.configs,
            "a YAML config; flags overrule it. With --scenario also LoadGen's user.conf");
  flags.group("Workload");
  flags.add("--workload=NAME", &out.workload_name,
            "a suite's benchmark by name (assay workloads), or a file");
  flags.add("--scenario=NAME", &out.scenario,
            "offline, server, interactive, single_stream, multi_stream: as LoadGen asks them, or "
            "with a load of your own as the workload has them");
  flags.add("--audit-config=FILE", &out.audit_conf, "LoadGen's audit.config, of a compliance test");
  flags.add("--edition=NAME", &out.edition, "whose rules (the workload's first)");
  flags.add("--dataset-dir=DIR", &out.dataset_dir,
            "the files of the workload and of tasks ($ASSAY_DATASETS or datasets)");
  flags.group("");
  add_use_flags(flags, out.use);
  // The first setting gets a name: two settings of the reference client share an alias, and some
  // switches have their own --no- form.
  std::set<std::string> taken = without;
  for (const plan::FlagInfo& info : plan::run_flags()) {
    std::string names;
    for (std::size_t i = 0; i <= info.aliases.size(); ++i) {
      const std::string name(i == 0 ? info.name : info.aliases[i - 1]);
      if (taken.insert(name).second) names += (names.empty() ? "" : ",") + name;
    }
    if (names.empty()) continue;
    campaign::RunSettings::Setting& setting = out.settings.emplace_back();
    setting.name = info.name;
    setting.is_switch = info.value.empty();
    if (!setting.is_switch) names += format("={}", info.value);
    Flag& flag = setting.is_switch ? flags.add(names, &setting.on, info.help)
                                   : flags.add(names, &setting.values, info.help);
    if (info.hidden) flag.hidden();
    if (!setting.is_switch && !info.repeatable) flag.last_counts();
  }
  for (campaign::RunSettings::Setting& setting : out.settings) {
    const std::string off = "--no-" + setting.name.substr(2);
    if (setting.is_switch && taken.insert(off).second) {
      flags.add(off, &setting.off, "the opposite").hidden();
    }
  }
}

}  // namespace assay::cli
