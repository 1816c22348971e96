# assay_group(GROUP), then its assay_room(NAME [ROOMS r...] [LIBS l...]): one library per folder
# src/GROUP/NAME. Includes begin with the room's name; a room is compiled with the folders of its
# own group and of those above it, so that it cannot see what stands below.
#
# Files are found by suffix, so none can be left out by a comment:
#   x.cc -> the room's library        x_test.cc -> one test program per room
#   x_fuzz.cc -> one fuzzer each      x_bench.cc -> one benchmark program per room
#   x_long_test.cc -> in that program too, but not under a sanitizer nor in `quick`, and one of its
#   own to run them
# A third-party library named in LIBS is private to the room: its headers stay out of ours.
#
# With ASSAY_UNITY a room compiles in batches of files (docs/decisions/0019-batches.md), so names in
# its anonymous namespaces must differ.
set(ASSAY_SRC ${CMAKE_CURRENT_SOURCE_DIR}/src)
set(ASSAY_ROOMS "" CACHE INTERNAL "")  # those that are installed
set(ASSAY_GROUP_FOLDERS "")
option(ASSAY_TESTS "Build tests and benchmarks" ON)
# The program needs none of these. Where one is missing it is built all the same, and each target
# that was asked for by name says what to install.
set(ASSAY_MISSING "")
if(NOT GTest_FOUND)
  list(APPEND ASSAY_MISSING libgtest-dev libgmock-dev)
endif()
if(NOT benchmark_FOUND)
  list(APPEND ASSAY_MISSING libbenchmark-dev)
endif()
if(NOT ASSAY_PYTHON)
  list(APPEND ASSAY_MISSING python3)
endif()
if(NOT ASSAY_LLHTTP_INCLUDE OR NOT ASSAY_LLHTTP_SOURCE)
  list(APPEND ASSAY_MISSING node-llhttp)
endif()
list(JOIN ASSAY_MISSING " " ASSAY_MISSING)
set(ASSAY_UNTESTED OFF)
if(ASSAY_TESTS AND ASSAY_MISSING)
  set(ASSAY_TESTS OFF)
  set(ASSAY_UNTESTED ON)
  message(STATUS "No tests: packages are missing: ${ASSAY_MISSING}")
endif()

# A target in place of one that can't be built.
function(assay_missing name)
  add_custom_target(${name}
    COMMAND ${CMAKE_COMMAND} -E echo
            "error: ${name} needs: apt-get install ${ASSAY_MISSING}, then configure again"
    COMMAND ${CMAKE_COMMAND} -E false)
endfunction()

# `tests`, `benches` and `fuzzers` build all of a kind; `rooms` all that is installed.
add_custom_target(rooms)
add_custom_target(fuzzers)
if(ASSAY_TESTS)
  add_custom_target(tests)
  add_custom_target(long_tests)
  add_custom_target(benches)
elseif(ASSAY_UNTESTED)
  assay_missing(tests)
  assay_missing(benches)
endif()

function(assay_sources dir out_lib out_test out_fuzz out_bench)
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER all EXCLUDE REGEX "(_test|_fuzz|_bench|/main)\\.cc$")
  set(${out_lib} ${all} PARENT_SCOPE)
  set(${out_test} ${tests} PARENT_SCOPE)
  set(${out_fuzz} ${fuzzers} PARENT_SCOPE)
  set(${out_bench} ${benches} PARENT_SCOPE)
endfunction()

# SHARED where a hundred programs link the same rooms, each many times larger than its own code: the
# sanitized builds. What is installed is static.
set(ASSAY_ROOM_KIND STATIC CACHE STRING "STATIC or SHARED: how a room's library is built")

# ASSAY_SINGLE: rooms whose files compile one by one all the same: tools/mutate.py edits one file
# hundreds of times, and an edit in a room whose tests take seconds should not wait for a batch too.
option(ASSAY_LONG_APART "Long tests are not in the program of a room's other tests" OFF)
set(ASSAY_BATCH 10 CACHE STRING "Files that compile together, at most; 0: all of a target")
set(ASSAY_SINGLE "" CACHE STRING "Rooms that do not compile in batches")
function(assay_batches target)
  string(REGEX REPLACE "^assay_" "" room ${target})
  if(ASSAY_UNITY AND NOT room IN_LIST ASSAY_SINGLE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ASSAY_BATCH})
  endif()
endfunction()

# ASSAY_PCH: the headers that most files include are parsed once, not once for each batch: they are
# most of the time between an edit and its test. For `quick` only; the other presets see each file
# with its own includes. `kind` is room, computing (optimised, see below) or test.
set(ASSAY_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map>
    <memory> <optional> <set> <span> <string> <string_view> <utility> <vector>
    ${ASSAY_SRC}/ground/base/format.h ${ASSAY_SRC}/ground/base/result.h
    ${ASSAY_SRC}/ground/base/text.h)
function(assay_common_headers target kind)
  if(NOT ASSAY_PCH)
    return()
  endif()
  set(headers assay_${kind}_headers)
  if(NOT TARGET ${headers})
    file(WRITE ${CMAKE_BINARY_DIR}/headers/${kind}.cc "")
    add_library(${headers} OBJECT ${CMAKE_BINARY_DIR}/headers/${kind}.cc)
    target_link_libraries(${headers} PRIVATE assay_flags fmt::fmt)
    target_include_directories(${headers} PRIVATE ${ASSAY_SRC}/ground)
    target_precompile_headers(${headers} PRIVATE ${ASSAY_COMMON_HEADERS})
    if(kind STREQUAL "computing")
      target_compile_options(${headers} PRIVATE -O1)
    elseif(kind STREQUAL "test")
      # Programs are compiled with -fPIE, and what is parsed must be too.
      set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${headers} PRIVATE -fPIE)
      target_link_libraries(${headers} PRIVATE GTest::gtest GTest::gmock)
      target_precompile_headers(${headers} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# Under the thread sanitizer only those tests say anything that start threads: themselves, or in the
# file that they test.
function(assay_threaded tests out)
  set(threaded "")
  foreach(test IN LISTS tests)
    string(REGEX REPLACE "_test\\.cc$" "" tested ${test})
    foreach(file ${test} ${tested}.h ${tested}.cc)
      if(EXISTS ${file})
        file(STRINGS ${file} starts REGEX "std::j?thread|std::async" LIMIT_COUNT 1)
        if(starts)
          list(APPEND threaded ${test})
          break()
        endif()
      endif()
    endforeach()
  endforeach()
  set(${out} ${threaded} PARENT_SCOPE)
endfunction()

# Rooms whose tests spend their time in templates and twins of their own. Under the sanitizers these
# tests are optimised; others' are mostly expectations, which cost more to compile than to run.
set(ASSAY_TESTS_THAT_COMPUTE compare sim)
function(assay_tests target sources fuzzers benches)
  if(ASSAY_SANITIZE STREQUAL "thread")
    assay_threaded("${sources}" sources)
  endif()
  # What repeats one act hundreds of times, to count how often a verdict is right or to find a way
  # out of the jail: a sanitizer takes ten times as long for it, and has seen the code once.
  # `release` runs these, and `quick` in a program of their own, for they are most of the time of a
  # room's tests.
  set(long ${sources})
  list(FILTER long INCLUDE REGEX "_long_test\\.cc$")
  if(ASSAY_SANITIZE OR ASSAY_LONG_APART)
    list(FILTER sources EXCLUDE REGEX "_long_test\\.cc$")
  endif()
  if(ASSAY_TESTS AND long AND NOT ASSAY_SANITIZE)
    add_executable(${target}_long_test EXCLUDE_FROM_ALL ${long})
    target_link_libraries(${target}_long_test PRIVATE assay_${target} assay_flags
                          GTest::gtest_main GTest::gmock)
    target_compile_definitions(${target}_long_test PRIVATE
                               ASSAY_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
    add_dependencies(long_tests ${target}_long_test)
    add_test(NAME long.${target} COMMAND ${target}_long_test)
    set_tests_properties(long.${target} PROPERTIES LABELS long TIMEOUT 300)
  endif()
  if(ASSAY_TESTS AND sources)
    add_executable(${target}_test ${sources})
    assay_batches(${target}_test)
    assay_common_headers(${target}_test test)
    target_link_libraries(${target}_test PRIVATE assay_${target} assay_flags GTest::gtest_main
                          GTest::gmock)
    target_compile_definitions(${target}_test PRIVATE
                               ASSAY_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
    if(ASSAY_SANITIZE AND target IN_LIST ASSAY_TESTS_THAT_COMPUTE)
      target_compile_options(${target}_test PRIVATE -O1)
    endif()
    add_dependencies(tests ${target}_test)
    add_test(NAME unit.${target} COMMAND ${target}_test)
    set_tests_properties(unit.${target} PROPERTIES LABELS unit TIMEOUT 300)
  endif()
  if(ASSAY_UNTESTED AND sources)
    assay_missing(${target}_test)
  endif()
  if(ASSAY_UNTESTED AND benches)
    assay_missing(${target}_bench)
  endif()
  # A benchmark under a sanitizer measures the sanitizer.
  if(ASSAY_TESTS AND benches AND NOT ASSAY_SANITIZE)
    add_executable(${target}_bench ${benches})
    target_link_libraries(${target}_bench PRIVATE assay_${target} assay_flags
                          benchmark::benchmark_main)
    # In the test suite each benchmark runs once, small: it must build, run and check its answer.
    add_dependencies(benches ${target}_bench)
    add_test(NAME bench.${target} COMMAND ${target}_bench --benchmark_min_time=0.01)
    set_tests_properties(bench.${target} PROPERTIES LABELS bench TIMEOUT 300 RUN_SERIAL ON)
  endif()
  foreach(file IN LISTS fuzzers)
    get_filename_component(name ${file} NAME_WE)
    if(ASSAY_FUZZ)
      add_executable(${name} ${file})
      add_dependencies(fuzzers ${name})
      target_link_libraries(${name} PRIVATE assay_${target} assay_flags)
      target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      # Inputs to begin with: tests/fuzz/NAME/. Given one by one, so that nothing is written there.
      file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/${name}/*)
      list(JOIN inputs "," inputs)
      if(inputs)
        set(inputs -seed_inputs=${inputs})
      endif()
      # One seed and a number of runs, so that a change fails by what it breaks and not by how fast
      # the machine is; the time only bounds the slow ones. By hand, fuzz longer and without them.
      add_test(NAME fuzz.${name} COMMAND ${name} -seed=1 -runs=${ASSAY_FUZZ_RUNS}
               -max_total_time=${ASSAY_FUZZ_S} -timeout=10
               -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 ${inputs})
      set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
    endif()
  endforeach()
endfunction()

# Rooms that are optimised in every preset: their own tests compute for most of a minute where
# nothing is, and under a sanitizer for several. In `quick` also those whose tests an edit would
# wait for.
set(ASSAY_COMPUTING base compare metrics record sim)
if(NOT ASSAY_SANITIZE)
  list(APPEND ASSAY_COMPUTING protocol rules run text)
endif()

function(assay_library target dir rooms libs)
  assay_sources(${dir} lib tests fuzzers benches)
  if(lib)
    add_library(assay_${target} ${ASSAY_ROOM_KIND} ${lib})
    assay_batches(assay_${target})
    if(ASSAY_ROOM_KIND STREQUAL "SHARED")
      # libassay_loadgen.so is what programs written for the stock LoadGen link.
      set_target_properties(assay_${target} PROPERTIES OUTPUT_NAME room_${target})
    endif()
    if(ASSAY_FUZZ AND (fuzzers OR NOT ASSAY_GROUP MATCHES "/(measuring|apps)$"))
      # Coverage, or a fuzzer would be blind outside its own file: of what has fuzzers, and of all
      # rooms above what measures. Foreign bytes are read there.
      target_compile_options(assay_${target} PRIVATE ${ASSAY_COVERAGE})
    endif()
    if(target IN_LIST ASSAY_COMPUTING AND CMAKE_CXX_FLAGS MATCHES "-O0")
      # At -O1 gcc sees overflows in std::string that are not there.
      target_compile_options(assay_${target} PRIVATE -O1
                             $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
      assay_common_headers(assay_${target} computing)
    else()
      assay_common_headers(assay_${target} room)
    endif()
    if(ASSAY_GROUP MATCHES "/(ground|instrument)$" AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND
       CMAKE_BUILD_TYPE STREQUAL "Release")
      # With -fPIC alone gcc inlines no function that another library could replace. None replaces
      # those on the load path.
      target_compile_options(assay_${target} PRIVATE -fno-semantic-interposition)
    endif()
    set(scope PUBLIC)
    set(private PRIVATE)
  else()
    add_library(assay_${target} INTERFACE)
    set(scope INTERFACE)
    set(private INTERFACE)
  endif()
  target_include_directories(assay_${target} ${scope}
    "$<BUILD_INTERFACE:${ASSAY_GROUP_FOLDERS}>" $<INSTALL_INTERFACE:include/assay>)
  target_compile_features(assay_${target} ${scope} cxx_std_20)
  add_dependencies(rooms assay_${target})
  foreach(room IN LISTS rooms)
    target_link_libraries(assay_${target} ${scope} assay_${room})
  endforeach()
  target_link_libraries(assay_${target} ${private} $<BUILD_INTERFACE:assay_flags> Threads::Threads)
  foreach(name IN LISTS libs)
    if(NOT DEFINED ASSAY_LIB_${name})
      message(FATAL_ERROR "${target}: no library '${name}' in cmake/deps.cmake")
    endif()
    if(ASSAY_LIB_${name})
      target_link_libraries(assay_${target} ${private} ${ASSAY_LIB_${name}})
      # A test may call what its room links; behind a static room that comes by itself.
      foreach(library IN LISTS ASSAY_LIB_${name})
        target_link_libraries(assay_${target} INTERFACE $<LINK_ONLY:${library}>)
      endforeach()
    endif()
  endforeach()
  # fmt is behind base/format.h, the one foreign header that ours show (std::format to be).
  target_link_libraries(assay_${target} ${scope} fmt::fmt)
  assay_tests(${target} "${tests}" "${fuzzers}" "${benches}")
endfunction()

macro(assay_group name)
  set(ASSAY_GROUP ${ASSAY_SRC}/${name})
  list(APPEND ASSAY_GROUP_FOLDERS ${ASSAY_GROUP})
endmacro()

function(assay_room name)
  cmake_parse_arguments(ARG "" "" "ROOMS;LIBS" ${ARGN})
  assay_library(${name} ${ASSAY_GROUP}/${name} "${ARG_ROOMS}" "${ARG_LIBS}")
  set(ASSAY_ROOMS ${ASSAY_ROOMS} ${name} CACHE INTERNAL "")
  set_property(TARGET assay_${name} PROPERTY ASSAY_FOLDER ${ASSAY_GROUP}/${name})
endfunction()

# assay_app(NAME [LIBS l...]): a program; may use every room above it. It is not installed as a
# library.
function(assay_app name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  assay_library(${name} ${ASSAY_GROUP}/${name} "${ASSAY_ROOMS}" "${ARG_LIBS}")
endfunction()
