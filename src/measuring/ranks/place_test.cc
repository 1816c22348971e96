#include "ranks/place.h"

#include <gtest/gtest.h>

#include <map>

#include "base/format.h"

namespace assay::ranks {
namespace {

using Variables = std::map<std::string, std::string>;

std::string format_place(const RankPlace& place) {
  return format("{}/{} {}:{} {}", place.index, place.count, place.host, place.port, place.from);
}

Environment of(Variables variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

Result<std::optional<RankPlace>> by_flags(const char* rank, const char* address) {
  RankFlags flags;
  flags.rank = rank;
  flags.rendezvous = address;
  return find_place(flags, of({}));
}

TEST(RankPlace, without_a_word_there_is_one_process) {
  const auto place = find_place({}, of({{"ASSAY_RENDEZVOUS", "h:1"}}));
  ASSERT_TRUE(place.has_value());
  EXPECT_FALSE(place->has_value());
}

TEST(RankPlace, flags_say_it_by_hand) {
  const auto place = by_flags("3/4", "node-1:9000");
  ASSERT_TRUE(place.has_value() && place->has_value());
  EXPECT_EQ((*place)->index, 3u);
  EXPECT_EQ((*place)->count, 4u);
  EXPECT_EQ((*place)->host, "node-1");
  EXPECT_EQ((*place)->port, 9000);
  EXPECT_EQ((*by_flags("0/2", "[::1]:7"))->host, "::1");
  EXPECT_FALSE(by_flags("0/1", "h:1")->has_value()) << "one rank is one process";
}

TEST(RankPlace, what_is_no_place_is_refused_with_the_form) {
  for (const char* rank : {"", "1", "/", "4/4", "-1/4", "0/0", "1/x", "1/4097", "1/4/2"}) {
    const auto place = by_flags(rank, "h:1");
    ASSERT_FALSE(place.has_value()) << rank;
    EXPECT_NE(place.error().message.find("I/N"), std::string::npos);
  }
  for (const char* address : {"", "h", ":5", "h:", "h:0", "h:65536", "h:x"}) {
    const auto place = by_flags("0/2", address);
    ASSERT_FALSE(place.has_value()) << address;
    EXPECT_NE(place.error().message.find("HOST:PORT"), std::string::npos);
  }
}

TEST(RankPlace, each_engine_says_it_in_its_own_words) {
  const auto place = [](Variables variables) {
    variables.emplace("ASSAY_RENDEZVOUS", "zero:5000");
    const auto found = find_place({}, of(variables));
    EXPECT_TRUE(found.has_value() && found->has_value());
    return found && *found ? format_place(**found) : std::string();
  };
  EXPECT_EQ(place({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            "1/4 zero:5000 Open MPI");
  EXPECT_EQ(place({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}), "2/3 zero:5000 PMI");
  EXPECT_EQ(place({{"JOB_COMPLETION_INDEX", "0"}, {"ASSAY_RANKS", "8"}}),
            "0/8 zero:5000 Kubernetes");
  EXPECT_EQ(place({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"}, {"SLURM_STEP_ID", "0"}}),
            "5/6 zero:5000 Slurm");
  EXPECT_EQ(place({{"SLURM_PROCID", "0"},
                   {"SLURM_NTASKS", "9"},
                   {"SLURM_STEP_ID", "1"},
                   {"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"}}),
            "1/2 zero:5000 Open MPI")
      << "mpirun inside an allocation";
}

// The script of sbatch has the variables of a task, and is none: it would wait for ever.
TEST(RankPlace, the_script_of_a_slurm_job_is_no_rank) {
  for (const char* step : {"4294967291", "4294967290", "x"}) {
    const auto place =
        find_place({}, of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", step}}));
    ASSERT_TRUE(place.has_value()) << step;
    EXPECT_FALSE(place->has_value()) << step;
  }
  const auto none = find_place({}, of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
  EXPECT_TRUE(none.has_value() && !none->has_value());
}

TEST(RankPlace, none_does_not_listen_to_the_engine) {
  RankFlags flags;
  flags.rank = "none";
  const auto place =
      find_place(flags, of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
  EXPECT_TRUE(place.has_value() && !place->has_value());
}

TEST(RankPlace, slurm_and_a_local_mpirun_name_rank_0s_address_themselves) {
  const auto slurm = [](const char* nodes, const char* job) {
    const auto place = find_place({}, of({{"SLURM_PROCID", "1"},
                                          {"SLURM_NTASKS", "2"},
                                          {"SLURM_STEP_ID", "0"},
                                          {"SLURM_STEP_NODELIST", nodes},
                                          {"SLURM_JOB_ID", job}}));
    EXPECT_TRUE(place.has_value() && place->has_value());
    return **place;
  };
  EXPECT_EQ(slurm("node[03-07,9],other", "77").host, "node03");
  EXPECT_EQ(slurm("rack1-n[12,14]-ib", "77").host, "rack1-n12-ib");
  EXPECT_EQ(slurm("alone", "77").host, "alone");
  EXPECT_EQ(slurm("a,b", "77").host, "a");
  EXPECT_EQ(slurm("a,b", "77").port, slurm("a,b", "77").port);
  EXPECT_NE(slurm("a,b", "77").port, slurm("a,b", "78").port);
  EXPECT_GE(slurm("a,b", "77").port, 20'000);
  EXPECT_LT(slurm("a,b", "77").port, 30'000);
  const auto local = find_place({}, of({{"OMPI_COMM_WORLD_RANK", "1"},
                                        {"OMPI_COMM_WORLD_SIZE", "2"},
                                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                        {"PMIX_NAMESPACE", "17"}}));
  ASSERT_TRUE(local.has_value() && local->has_value());
  EXPECT_EQ((*local)->host, "127.0.0.1");
}

TEST(RankPlace, an_unknown_address_is_asked_for) {
  const auto place = find_place({}, of({{"OMPI_COMM_WORLD_RANK", "1"},
                                        {"OMPI_COMM_WORLD_SIZE", "4"},
                                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}));
  ASSERT_FALSE(place.has_value());
  EXPECT_NE(place.error().message.find("--rendezvous"), std::string::npos);
}

}  // namespace
}  // namespace assay::ranks
