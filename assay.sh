#!/usr/bin/env bash
# Two commands to begin with, and nothing clever: `./assay.sh demo` measures something now,
# `./assay.sh test` checks everything. Both install the Debian packages that are missing, and say
# which.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
./assay.sh COMMAND

  demo     build Assay, and `assay demo`: a curve of the built-in endpoint, a report to open
  test     run every check and test; the last line is "N passed, N failed"
           (`test smoke`: minutes; `test --changed`: what your edit reaches; `test SECTION`;
           `test full` adds hours of fuzzing and mutations)
  try      one room's unit tests after an edit: `try metrics`, `try metrics 'PointFold.*'`
  build    build the program: build/release/assay
  package  what users install, in dist/: wheel, .deb, tarball, container (`package wheel`)
  docs     the documents as a site with pictures, in dist/site
  clean    remove everything that the other commands made

A Debian 12 machine is expected; packages that are missing are installed (as root, or by sudo).
TEXT
}

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "error: $*"
  exit 1
}

fail_with() {
  tail -n 40 "$1" >&2
  fail "$2"
}

# Names of packages from tools/debian_packages.txt: all, or those above the line "# Also, to test:".
packages() {
  if [[ $1 == build ]]; then
    sed '/^# Also/,$d' tools/debian_packages.txt
  else
    cat tools/debian_packages.txt
  fi | grep -v '^#'
}

# need build|test: all packages of that list are there afterwards. Says nothing when they were.
need() {
  command -v dpkg-query >/dev/null || return 0 # not Debian: CMake will name what it misses
  local missing=()
  local name
  for name in $(packages "$1"); do
    # Node.js from elsewhere brings its own npm, and refuses Debian's.
    [[ $name == npm ]] && command -v npm >/dev/null && continue
    dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed ||
      missing+=("$name")
  done
  [[ ${#missing[@]} == 0 ]] && return 0
  local root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "as root, first: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  mkdir -p build
  apt_get() {
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >>build/packages.log 2>&1
  }
  # No package lists (a fresh container), or lists so old that their files are gone: fetch them.
  if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    apt_get install -y --no-install-recommends "${missing[@]}" && return 0
  fi
  apt_get update && apt_get install -y --no-install-recommends "${missing[@]}" && return 0
  fail_with build/packages.log "these packages can't be installed: ${missing[*]}"
}

# Compilers at work at one time: one a core, and no more than memory holds (about 1.5 GB each).
jobs_max() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# The program alone, without the tests.
build() {
  need build
  mkdir -p build
  local log=build/release.log
  cmake --preset release >"$log" 2>&1 || fail_with "$log" "configuring failed"
  if [[ -x build/release/assay ]]; then
    ninja -C build/release -j "$(jobs_max)" assay >"$log" 2>&1 ||
      fail_with "$log" "building failed"
  else
    say "Building (some minutes, the first time)"
    NINJA_STATUS='  [%f/%t] ' ninja -C build/release -j "$(jobs_max)" assay >&2
  fi
}

# try_room ROOM [FILTER]: its unit tests in the quick preset, in shares that run beside each other:
# two a core, for some tests wait. A FILTER without a sign of its own is a part of a test's name.
try_room() {
  local room=${1:-} filter=${2:-*} log=build/try.log shards i failed=0
  [[ $filter == *[*?.:-]* ]] || filter="*$filter*"
  [[ -n $room && -n $(compgen -G "src/*/$room") ]] ||
    fail "no room '$room'; there are: $(printf '%s\n' src/*/* | sed 's#.*/##' | xargs)"
  need test
  mkdir -p build
  [[ -f build/quick/build.ninja ]] || cmake --preset quick >"$log" 2>&1 ||
    fail_with "$log" "configuring failed"
  ninja -C build/quick -j "$(jobs_max)" "${room}_test" >"$log" 2>&1 ||
    fail_with "$log" "building failed"
  shards=$((2 * $(nproc)))
  rm -f build/try.shard.*
  for ((i = 0; i < shards; i++)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i "build/quick/${room}_test" --gtest_brief=1 \
      --gtest_filter="$filter" >"build/try.shard.$i" 2>&1 &
  done
  for ((i = 0; i < shards; i++)); do wait -n || failed=1; done
  grep -hv -e '^Note: This is test shard' -e '^Running main' build/try.shard.*
  grep -q '[1-9][0-9]* test.* ran' build/try.shard.* || fail "no test of $room is named $filter"
  return "$failed"
}

case "${1:-help}" in
  demo)
    build
    rm -rf demo
    exec build/release/assay demo
    ;;
  test)
    need test
    exec python3 -B tools/suite.py --jobs "$(jobs_max)" "${@:2}"
    ;;
  try)
    try_room "${@:2}"
    ;;
  build)
    build
    say "build/release/assay"
    ;;
  package)
    build
    ninja -C build/release -j "$(jobs_max)" assay_python_columns >build/release.log 2>&1 ||
      fail_with build/release.log "building failed"
    exec python3 -B packaging/package.py "${@:2}"
    ;;
  docs)
    need test
    build
    [[ -x build/docs/bin/python ]] || python3 -m venv build/docs
    build/docs/bin/pip install -q --disable-pip-version-check -r tests/docs/requirements.txt
    exec build/docs/bin/python -B tools/site.py "${@:2}"
    ;;
  clean)
    rm -rf build demo dist
    ;;
  help | -h | --help)
    usage
    ;;
  *)
    usage >&2
    fail "unknown command '$1'"
    ;;
esac
