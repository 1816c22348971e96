# Warnings and sanitizers live here as one interface target that every room links.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(ASSAY_WERROR "Treat warnings as errors (our presets do)" OFF)
option(ASSAY_UNITY "Compile rooms in batches: several times faster from scratch" OFF)
option(ASSAY_PCH "Parse the headers that most files include once" OFF)
option(ASSAY_FUZZ "Build libFuzzer targets (clang only)" OFF)
set(ASSAY_FUZZ_RUNS 40000 CACHE STRING "Inputs for each fuzzer in the test suite")
set(ASSAY_FUZZ_S 2 CACHE STRING "Seconds for each fuzzer in the test suite, at most")
set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
option(ASSAY_SANITIZE_ALL "With every check, and with comparisons to guide the fuzzers" OFF)

add_library(assay_flags INTERFACE)
target_compile_options(assay_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # gcc 12 sees overlaps in std::string that are not there (GCC bug 105651).
  target_compile_options(assay_flags INTERFACE -Wno-restrict)
  if(ASSAY_UNITY)
    # A type of an anonymous namespace inside a State that only its own file defines: gcc warns of
    # it where that file is included, as batches do.
    target_compile_options(assay_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
if(ASSAY_WERROR)
  target_compile_options(assay_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(assay_flags INTERFACE -Wthread-safety)
endif()
if(ASSAY_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # With sanitizers gcc loses track of std::variant and warns of what is not so.
    target_compile_options(assay_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_compile_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE}
                         -fno-sanitize-recover=all)
  if(ASSAY_SANITIZE MATCHES undefined AND NOT ASSAY_SANITIZE_ALL)
    # They stand at every use of a pointer. What the first two would find, the address sanitizer
    # finds when it is used; the third finds only what no x86 minds. `./assay.sh test full` has all.
    target_compile_options(assay_flags INTERFACE -fno-sanitize=null,vptr,alignment)
  endif()
  target_link_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
# What a fuzzer sees of the code that it runs: which edges were taken.
set(ASSAY_COVERAGE -fsanitize-coverage=inline-8bit-counters,pc-table)
if(ASSAY_SANITIZE_ALL)
  set(ASSAY_COVERAGE -fsanitize=fuzzer-no-link) # and what was compared with what
endif()

# Where mold is, builds without sanitizers that are not optimised link with it: several times
# faster. (What mold 1.10 links with the address sanitizer does not always load.)
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT ASSAY_SANITIZE AND NOT ASSAY_FUZZ)
  target_link_options(assay_flags INTERFACE -fuse-ld=mold)
endif()

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_CCACHE})
  if(ASSAY_PCH)
    # ccache wants to be told that headers parsed before are the same bytes: they are hashed.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${ASSAY_CCACHE})
  endif()
endif()
