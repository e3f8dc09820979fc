#!/usr/bin/env bash
# Builds Apache brpc as a static library for transport brpc. See README.md beside this script.
#
#   native/brpc/build.sh SOURCES [PREFIX]
#
# SOURCES is a checkout of github.com/apache/brpc. PREFIX is where headers and library go:
# build/brpc in this repository by default, where netdyno's CMake looks for them.
# JOBS in the environment bounds the compilers that run at once (default: one per CPU).
set -euo pipefail

tested=1.17.0  # commit e63a54dcaacadb04bde5e2fa3839417e8484cf43

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
if [ ! -f "$1/RELEASE_VERSION" ] || [ ! -f "$1/src/brpc/server.h" ]; then
  echo "$1 holds no brpc sources: RELEASE_VERSION or src/brpc/server.h is missing" >&2
  exit 1
fi
sources=$(cd -- "$1" && pwd)
prefix=${2:-$repository/build/brpc}
mkdir -p -- "$prefix"
prefix=$(cd -- "$prefix" && pwd)
version=$(<"$sources/RELEASE_VERSION")
if [ "$version" != "$tested" ]; then
  echo "these sources are brpc $version; netdyno's worker was tested with $tested"
fi

# run prints a command and runs it.
run() {
  printf '+'
  printf ' %q' "$@"
  printf '\n'
  "$@"
}

# brpc's own flags (-O2, frame pointers, SSE 4.2) apply. Without debug symbols it
# compiles in half the time, and its code is the same.
run cmake -S "$sources" -B "$prefix/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
  -DBUILD_SHARED_LIBS=OFF -DBUILD_BRPC_TOOLS=OFF -DBUILD_UNIT_TESTS=OFF -DWITH_DEBUG_SYMBOLS=OFF
run cmake --build "$prefix/build" --parallel "${JOBS:-$(nproc)}" --target brpc-static
run cmake --install "$prefix/build"
echo "brpc $version is in $prefix; build netdyno's worker with:"
if [ "$prefix" = "$repository/build/brpc" ]; then
  echo "  make native-build"
else
  printf '  CMAKE_PREFIX_PATH=%q make native-build\n' "$prefix"
fi
