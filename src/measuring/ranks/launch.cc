#include "ranks/launch.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace assay::ranks {
namespace {

constexpr std::uint32_t kRanksMost = 4096;

// The value of `--name VALUE` or `--name=VALUE`; "" where it is not there.
std::string value_of(const std::vector<std::string>& words, std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == name && i + 1 < words.size()) return words[i + 1];
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      return std::string(word.substr(name.size() + 1));
    }
  }
  return {};
}

bool names(const std::vector<std::string>& words, std::string_view flag) {
  return std::ranges::any_of(words, [flag](std::string_view word) {
    return word == flag || (word.starts_with(flag) && word.substr(flag.size()).starts_with('='));
  });
}

bool is_job_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  constexpr std::size_t kLongest = 52;  // a pod's host name adds its index
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, good) &&
         name.front() != '-' && name.back() != '-' && !(name.front() >= '0' && name.front() <= '9');
}

Result<void> check_spec(const LaunchSpec& spec) {
  for (const char* flag : {"--rank", "--rendezvous"}) {
    if (names(spec.run, flag)) return invalid(format("{}: launch says it to each rank", flag));
  }
  if (value_of(spec.run, "--report-dir").empty()) {
    return invalid("--report-dir: name the run's folder, the same for all ranks, after --");
  }
  if (!is_job_name(spec.name)) {
    return invalid(
        format("--name: '{}' is not a job's name\n  lower-case letters, digits and hyphens, "
               "a letter first, up to 52",
               spec.name));
  }
  std::vector<std::string> lines = spec.engine_words;
  lines.push_back(value_of(spec.run, "--report-dir"));
  for (const std::string& line : lines) {
    if (line.find('\n') != std::string::npos) {
      return invalid("--engine-arg, --report-dir: a line break would begin a line of its own");
    }
  }
  if (names(spec.run, "--api-key") && (spec.engine == "k8s" || spec.engine == "slurm")) {
    return invalid(
        "--api-key: it would stand in a file that others can read\n  --api-key-env NAME, and with "
        "k8s --secret for the variable");
  }
  return {};
}

// The host of each rank: in order, as many to each as the others have.
Result<std::vector<std::string>> hosts_of_ranks(const LaunchSpec& spec, std::uint32_t ranks) {
  if (spec.hosts.empty()) return invalid("--hosts: name the ranks' hosts, rank 0's first");
  std::vector<std::string> out;
  const auto hosts = static_cast<std::uint32_t>(spec.hosts.size());
  for (std::uint32_t i = 0; i < ranks; ++i) {
    out.push_back(spec.hosts[static_cast<std::size_t>(std::uint64_t{i} * hosts / ranks)]);
  }
  return out;
}

// "user@node1" is reached at node1.
std::string address_of(std::string_view host) {
  const std::size_t at = host.rfind('@');
  return std::string(at == std::string_view::npos ? host : host.substr(at + 1));
}

std::vector<std::string> run_words(const LaunchSpec& spec, const std::string& rendezvous) {
  std::vector<std::string> out{spec.program, "run"};
  out.insert(out.end(), spec.run.begin(), spec.run.end());
  if (!rendezvous.empty()) {
    out.insert(out.end(), {"--rendezvous", rendezvous});
  }
  return out;
}

void add(std::vector<std::string>& to, const std::vector<std::string>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

Result<void> by_mpi(const LaunchSpec& spec, Launch& out) {
  std::vector<std::string> words{"mpirun", "-n", format("{}", out.ranks)};
  std::string rendezvous;
  if (!spec.hosts.empty()) {
    ASSIGN_OR_RETURN(const auto hosts, hosts_of_ranks(spec, out.ranks));
    std::string list;
    for (std::size_t i = 0; i < hosts.size();) {
      const std::size_t first = i;
      while (i < hosts.size() && hosts[i] == hosts[first]) ++i;
      list += format("{}{}:{}", list.empty() ? "" : ",", hosts[first], i - first);
    }
    words.insert(words.end(), {"--host", list});
    rendezvous = format("{}:{}", address_of(hosts.front()), spec.port);
  }
  add(words, spec.engine_words);
  add(words, run_words(spec, rendezvous));
  out.commands.push_back(std::move(words));
  return {};
}

Result<void> by_slurm(const LaunchSpec& spec, Launch& out) {
  std::string text =
      format("#!/bin/sh\n#SBATCH --job-name={}\n#SBATCH --ntasks={}\n", spec.name, out.ranks);
  text += format("#SBATCH --output=\"{}/slurm-%j.out\"\n", out.report_dir);
  for (const std::string& word : spec.engine_words) text += format("#SBATCH {}\n", word);
  text +=
      "# Each task finds its rank, the number of ranks and rank 0's host in Slurm's variables.\n";
  text += format("exec srun --ntasks={} {}\n", out.ranks, shell_line(run_words(spec, {})));
  out.files.push_back({"launch.sbatch", std::move(text)});
  out.commands.push_back({"sbatch", "--wait", out.report_dir + "/launch.sbatch"});
  return {};
}

// A JSON string is a YAML string too, whatever it holds.
std::string yaml_list(const std::vector<std::string>& words, std::string_view indent) {
  std::string out;
  for (const std::string& word : words) out += format("{}- {}\n", indent, json_quote(word));
  return out;
}

// 0 ranks, 1 name, 2 image, 3 program, 4 arguments, 5 rank 0's address, 6 mount, 7 claim, 8 secret.
constexpr const char* kManifest =
    R"(# {0} ranks of one run of assay: rank 0 is pod {1}-0, and the others find it by the Service.
apiVersion: v1
kind: Service
metadata:
  name: {1}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    batch.kubernetes.io/job-name: {1}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {1}
spec:
  completions: {0}
  parallelism: {0}
  completionMode: Indexed
  backoffLimit: 0
  template:
    metadata:
      labels:
        app.kubernetes.io/name: assay
        app.kubernetes.io/instance: {1}
    spec:
      subdomain: {1}
      restartPolicy: Never
      # A node each where there are so many: ranks on one node disturb one another.
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              app.kubernetes.io/instance: {1}
      containers:
        - name: assay
          image: {2}
          command: [{3}]
          args:
{4}          env:
            - name: ASSAY_RANKS
              value: "{0}"
            - name: ASSAY_RENDEZVOUS
              value: {5}
{8}          volumeMounts:
            - name: results
              mountPath: {6}
      volumes:
        - name: results
          persistentVolumeClaim:
            claimName: {7}
)";

Result<void> by_kubernetes(const LaunchSpec& spec, Launch& out) {
  if (spec.image.empty()) return invalid("--image: the image that has assay, for k8s");
  if (spec.claim.empty()) {
    return invalid(
        "--claim: the PersistentVolumeClaim that holds the report dir, for k8s\n  all ranks write "
        "to it (ReadWriteMany), and their folders outlive the pods");
  }
  if (out.report_dir.front() != '/') {
    return invalid(
        format("--report-dir: '{}' is not an absolute path\n  with k8s the claim is mounted "
               "at its parent",
               out.report_dir));
  }
  const std::string mount =
      out.report_dir.substr(0, std::max<std::size_t>(1, out.report_dir.find_last_of('/')));
  std::vector<std::string> arguments = run_words(spec, {});
  arguments.erase(arguments.begin());
  const std::string name = spec.name;
  out.files.push_back(
      {"launch.yaml",
       format(kManifest, out.ranks, name, json_quote(spec.image), json_quote(spec.program),
              yaml_list(arguments, "            "),
              json_quote(format("{0}-0.{0}:{1}", name, spec.port)), json_quote(mount),
              json_quote(spec.claim),
              spec.secret.empty() ? ""
                                  : format("          envFrom:\n            - secretRef:\n"
                                           "                name: {}\n",
                                           json_quote(spec.secret)))});
  std::vector<std::string> words{"kubectl", "apply", "-f", out.report_dir + "/launch.yaml"};
  add(words, spec.engine_words);
  out.commands.push_back(std::move(words));
  return {};
}

Result<void> by_ssh(const LaunchSpec& spec, Launch& out) {
  ASSIGN_OR_RETURN(out.rank_hosts, hosts_of_ranks(spec, out.ranks));
  const std::string rendezvous = format("{}:{}", address_of(out.rank_hosts.front()), spec.port);
  for (std::uint32_t rank = 0; rank < out.ranks; ++rank) {
    std::vector<std::string> words = run_words(spec, rendezvous);
    words.insert(words.end(), {"--rank", format("{}/{}", rank, out.ranks)});
    std::vector<std::string> command{"ssh", "-o", "BatchMode=yes"};
    add(command, spec.engine_words);
    command.insert(command.end(), {out.rank_hosts[rank], shell_line(words)});
    out.commands.push_back(std::move(command));
  }
  return {};
}

}  // namespace

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + shell_word(word);
  return out;
}

Result<Launch> plan_launch(const LaunchSpec& spec) {
  TRY(check_spec(spec));
  Launch out{.report_dir = value_of(spec.run, "--report-dir")};
  out.ranks = spec.ranks == 0 ? static_cast<std::uint32_t>(spec.hosts.size()) : spec.ranks;
  if (out.ranks < 2 || out.ranks > kRanksMost) {
    return invalid(format("--ranks: {}\n  2 to {}; without it one for each of --hosts", out.ranks,
                          kRanksMost));
  }
  if (spec.engine == "mpi") {
    TRY(by_mpi(spec, out));
  } else if (spec.engine == "slurm") {
    TRY(by_slurm(spec, out));
  } else if (spec.engine == "k8s") {
    TRY(by_kubernetes(spec, out));
  } else if (spec.engine == "ssh") {
    TRY(by_ssh(spec, out));
  } else {
    return invalid(format("--engine: '{}' is none of mpi, slurm, k8s, ssh", spec.engine));
  }
  return out;
}

std::string gather_line(const LaunchSpec& spec, const Launch& launch, std::uint32_t rank) {
  std::vector<std::string> remote{"ssh", "-o", "BatchMode=yes"};
  add(remote, spec.engine_words);
  remote.push_back(launch.rank_hosts[rank]);
  remote.push_back(
      shell_line({"tar", "-C", launch.report_dir, "-cf", "-", format("rank-{}", rank)}));
  return shell_line(remote) + " | " + shell_line({"tar", "-C", launch.report_dir, "-xf", "-"});
}

Result<LaunchSpec> at_level(const LaunchSpec& spec, std::uint64_t level) {
  for (const std::string_view flag : {"--concurrency", "--target-concurrency", "--rate"}) {
    if (names(spec.run, flag)) {
      return invalid(format("--levels: says the load; leave {} out of the run's words", flag));
    }
  }
  LaunchSpec out = spec;
  const std::string name = format("r{}", level);
  const std::string folder = value_of(spec.run, "--report-dir");
  if (folder.empty()) return spec;  // plan_launch() says what is missing
  constexpr std::string_view kFlag = "--report-dir";
  for (std::size_t i = 0; i < out.run.size(); ++i) {
    if (out.run[i].starts_with(kFlag) && out.run[i].substr(kFlag.size()).starts_with('=')) {
      out.run[i] = format("{}={}/{}", kFlag, folder, name);
    }
    if (out.run[i] == kFlag && i + 1 < out.run.size()) out.run[i + 1] = folder + "/" + name;
  }
  out.run.insert(out.run.end(), {"--concurrency", format("{}", level)});
  out.name = spec.name + "-" + name;
  return out;
}

}  // namespace assay::ranks
