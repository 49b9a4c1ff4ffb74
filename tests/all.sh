#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every check there is, one after the other; the first that fails ends it. Needs the packages of `scripts/install-packages test`.
set -eu
jobs=$(nproc)
clang=clang-14

# Debian's and Ubuntu's clang 14 cannot place its shadow memory where the kernel randomises addresses by more than 28 bits.
steady=""
if setarch -R true 2>/dev/null; then steady="setarch -R"; fi

step() { printf '\n#### %s\n' "$*"; }

step "gcc -O2"
make -s -Otarget -j"$jobs" test
step "clang -O2"
make -s -Otarget -j"$jobs" test CC=$clang BUILD=build/clang
step "clang, AddressSanitizer and UndefinedBehaviorSanitizer"
$steady make -s -Otarget -j"$jobs" test CC=$clang BUILD=build/asan SANITIZE=address,undefined,float-divide-by-zero,pointer-overflow CFLAGS="-O1 -g"
step "clang, MemorySanitizer: the libraries and their tests"
$steady make -s -Otarget -j"$jobs" test-core CC=$clang BUILD=build/msan SANITIZE=memory CFLAGS="-O1 -g"
for flags in "-O0" "-O3 -DNDEBUG" "-Os -DNDEBUG"; do
  for cc in gcc $clang; do
    step "$cc $flags: the libraries"
    make -s -Otarget -j"$jobs" test-core CC=$cc BUILD="build/$cc$(echo "$flags" | tr -d ' ')" CFLAGS="$flags"
  done
done
step "other architectures"
make -s test-cross
step "code size and stack"
make -s size
step "instructions"
make -s test-cost
step "single fetch"
make -s test-fetch
step "the README's first command"
./scripts/demo > /dev/null
step "fuzzing"
$steady make -s -Otarget -j"$jobs" fuzz
step "style"
make -s lint
step "all checks passed"
