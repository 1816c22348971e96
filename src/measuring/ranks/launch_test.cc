#include "ranks/launch.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace assay::ranks {
namespace {

LaunchSpec spec_of(const char* engine) {
  LaunchSpec spec;
  spec.engine = engine;
  spec.hosts = {"n1", "ada@n2"};
  spec.program = "assay";
  spec.name = "big";
  spec.run = {"--config", "my config.yaml", "--report-dir", "/runs/big"};
  spec.image = "registry/assay:0.1";
  spec.claim = "results";
  return spec;
}

std::string why_not(const LaunchSpec& spec) {
  const auto launch = plan_launch(spec);
  return launch ? std::string() : launch.error().message;
}

TEST(Launch, mpi_is_one_mpirun_with_the_hosts_slots) {
  LaunchSpec spec = spec_of("mpi");
  spec.ranks = 3;
  spec.engine_words = {"--bind-to", "none"};
  const auto launch = plan_launch(spec);
  ASSERT_TRUE(launch.has_value()) << launch.error().message;
  ASSERT_EQ(launch->commands.size(), 1u);
  EXPECT_EQ(shell_line(launch->commands[0]),
            "mpirun -n 3 --host n1:2,ada@n2:1 --bind-to none assay run --config 'my config.yaml' "
            "--report-dir /runs/big --rendezvous n1:7077");
  EXPECT_TRUE(launch->files.empty());
  spec.hosts.clear();
  EXPECT_EQ(shell_line(plan_launch(spec)->commands[0]),
            "mpirun -n 3 --bind-to none assay run --config 'my config.yaml' --report-dir /runs/big")
      << "mpirun's own host file says where";
}

TEST(Launch, slurm_is_a_script_and_sbatch_that_waits) {
  LaunchSpec spec = spec_of("slurm");
  spec.engine_words = {"--partition=cpu"};
  const auto launch = plan_launch(spec);
  ASSERT_TRUE(launch.has_value()) << launch.error().message;
  EXPECT_EQ(shell_line(launch->commands[0]), "sbatch --wait /runs/big/launch.sbatch");
  const std::string& text = launch->files[0].text;
  EXPECT_TRUE(text.starts_with("#!/bin/sh\n#SBATCH --job-name=big\n#SBATCH --ntasks=2\n")) << text;
  EXPECT_NE(text.find("\n#SBATCH --partition=cpu\n"), std::string::npos);
  EXPECT_NE(text.find("\nexec srun --ntasks=2 assay run --config 'my config.yaml' --report-dir "
                      "/runs/big\n"),
            std::string::npos)
      << text;
}

TEST(Launch, ssh_is_a_command_for_each_rank) {
  LaunchSpec spec = spec_of("ssh");
  spec.engine_words = {"-F", "keys/config"};
  const auto launch = plan_launch(spec);
  ASSERT_TRUE(launch.has_value()) << launch.error().message;
  ASSERT_EQ(launch->commands.size(), 2u);
  EXPECT_EQ(launch->commands[1],
            (std::vector<std::string>{"ssh", "-o", "BatchMode=yes", "-F", "keys/config", "ada@n2",
                                      "assay run --config 'my config.yaml' --report-dir /runs/big "
                                      "--rendezvous n1:7077 --rank 1/2"}));
  EXPECT_EQ(gather_line(spec, *launch, 1),
            "ssh -o BatchMode=yes -F keys/config ada@n2 'tar -C /runs/big -cf - rank-1' | tar -C "
            "/runs/big -xf -");
}

TEST(Launch, kubernetes_is_a_service_and_an_indexed_job) {
  LaunchSpec spec = spec_of("k8s");
  spec.ranks = 8;
  spec.hosts.clear();
  spec.secret = "keys";
  spec.run.insert(spec.run.end(), {"--model", "a: \"b\" #c\n- d"});
  const auto launch = plan_launch(spec);
  ASSERT_TRUE(launch.has_value()) << launch.error().message;
  const std::string& text = launch->files[0].text;
  const std::size_t cut = text.find("\n---\n");
  ASSERT_NE(cut, std::string::npos);
  const auto job = yaml::parse(text.substr(cut + 5));
  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_NE(text.find("completions: 8\n  parallelism: 8\n  completionMode: Indexed"),
            std::string::npos);
  EXPECT_NE(text.find("value: \"big-0.big:7077\""), std::string::npos) << text;
  EXPECT_NE(text.find("mountPath: \"/runs\""), std::string::npos);
  EXPECT_NE(text.find("- secretRef:\n                name: \"keys\""), std::string::npos);
  EXPECT_NE(text.find(R"(            - "a: \"b\" #c\n- d")"), std::string::npos) << text;
  EXPECT_EQ(shell_line(launch->commands[0]), "kubectl apply -f /runs/big/launch.yaml");
}

TEST(Launch, a_level_of_a_curve_is_a_run_of_its_own) {
  LaunchSpec spec = spec_of("mpi");
  const auto level = at_level(spec, 16);
  ASSERT_TRUE(level.has_value());
  EXPECT_EQ(shell_line(level->run),
            "--config 'my config.yaml' --report-dir /runs/big/r16 --concurrency 16");
  EXPECT_EQ(level->name, "big-r16");
  spec.run = {"--report-dir=/a b", "--model", "m"};
  EXPECT_EQ(shell_line(at_level(spec, 2)->run), "'--report-dir=/a b/r2' --model m --concurrency 2");
  for (const char* load : {"--concurrency", "--target-concurrency=4", "--rate"}) {
    spec.run.back() = load;
    EXPECT_FALSE(at_level(spec, 2).has_value()) << load;
  }
}

TEST(Launch, what_is_missing_is_asked_for) {
  LaunchSpec spec = spec_of("ssh");
  spec.run = {"--config", "c.yaml"};
  EXPECT_NE(why_not(spec).find("--report-dir"), std::string::npos);
  for (const char* said : {"--rank", "--rank=0/2", "--rendezvous", "--rendezvous=h:1"}) {
    spec = spec_of("ssh");
    spec.run.emplace_back(said);
    EXPECT_NE(why_not(spec).find("launch says it"), std::string::npos) << said;
  }
  spec = spec_of("ssh");
  spec.hosts.clear();
  spec.ranks = 2;
  EXPECT_NE(why_not(spec).find("--hosts"), std::string::npos);
  spec = spec_of("mpi");
  spec.hosts = {"n1"};
  EXPECT_NE(why_not(spec).find("--ranks"), std::string::npos);
  spec = spec_of("k8s");
  spec.image.clear();
  EXPECT_NE(why_not(spec).find("--image"), std::string::npos);
  spec = spec_of("k8s");
  spec.claim.clear();
  EXPECT_NE(why_not(spec).find("--claim"), std::string::npos);
  spec = spec_of("k8s");
  spec.run.back() = "runs/big";
  EXPECT_NE(why_not(spec).find("absolute"), std::string::npos);
  EXPECT_NE(why_not(spec_of("pbs")).find("mpi, slurm, k8s, ssh"), std::string::npos);
  for (const char* name : {"", "Big", "-a", "a-", "1a", "a b", "a\nb"}) {
    spec = spec_of("k8s");
    spec.name = name;
    EXPECT_NE(why_not(spec).find("--name"), std::string::npos) << name;
  }
  spec = spec_of("slurm");
  spec.engine_words = {"--partition=a\nrm -r /"};
  EXPECT_NE(why_not(spec).find("--engine-arg"), std::string::npos);
  for (const char* engine : {"k8s", "slurm"}) {
    spec = spec_of(engine);
    spec.run.insert(spec.run.end(), {"--api-key", "sk-1"});
    EXPECT_NE(why_not(spec).find("--api-key-env"), std::string::npos) << engine;
  }
}

TEST(Launch, a_shell_reads_each_word_back) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a-b_c=1,2:/x@y%z"), "a-b_c=1,2:/x@y%z");
  EXPECT_EQ(shell_word("it's $HOME `x` *"), "'it'\\''s $HOME `x` *'");
  EXPECT_EQ(shell_word("~/x"), "'~/x'");
  EXPECT_EQ(shell_line({"a", "b c"}), "a 'b c'");
}

}  // namespace
}  // namespace assay::ranks
