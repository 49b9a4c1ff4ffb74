#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The libraries' unit and conformance tests on other architectures: built with Debian's cross compilers, run under qemu. Among them are 32-bit ones, big-endian ones, and one that traps
# misaligned access. cmocka is not packaged for these: it is compiled from the distribution's source package.
set -eu
build=build/cross
mkdir -p $build

# name, compiler, qemu
targets="i686:i686-linux-gnu-gcc:qemu-i386-static
s390x:s390x-linux-gnu-gcc:qemu-s390x-static
powerpc:powerpc-linux-gnu-gcc:qemu-ppc-static
sparc64:sparc64-linux-gnu-gcc:qemu-sparc64-static"

# Fetches the source of cmocka with apt, through a list of sources of its own, so that the machine's configuration stays as it is.
fetch_cmocka() {
  [ -f $build/cmocka/src/cmocka.c ] && return
  apt_dir=$PWD/$build/apt
  mkdir -p "$apt_dir/lists/partial" "$apt_dir/source"
  apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u > "$apt_dir/sources.list"
  set -- -o Dir::Etc::SourceList="$apt_dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$apt_dir/lists" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
  apt-get "$@" update > "$apt_dir/log" 2>&1 || { cat "$apt_dir/log" >&2; exit 2; }
  (cd "$apt_dir/source" && apt-get "$@" source cmocka >> "$apt_dir/log" 2>&1) || { cat "$apt_dir/log" >&2; exit 2; }
  rm -rf $build/cmocka
  mv "$apt_dir"/source/cmocka-*/ $build/cmocka
}

fetch_cmocka
python3 tests/conformance/generate.py spec $build/vectors.inc
python3 -B tests/conformance/generate_java.py spec $build/java_vectors.inc

for target in $targets; do
  name=${target%%:*}; rest=${target#*:}; cc=${rest%%:*}; qemu=${rest#*:}
  out=$build/$name
  mkdir -p "$out"
  flags="-std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -static -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align=strict -Wcast-qual -Werror"
  $cc -O2 -w -D_GNU_SOURCE -DHAVE_INTTYPES_H -DHAVE_STDINT_H -DHAVE_SIGNAL_H -DHAVE_STRSIGNAL -DHAVE_TIME_H -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_GETTIME \
    -DHAVE_CLOCK_GETTIME_REALTIME -DHAVE_CLOCK_REALTIME -I$build/cmocka/include -c $build/cmocka/src/cmocka.c -o "$out/cmocka.o"
  for source in src/core/*.c src/text/*.c src/executorch/*.c src/log/*.c src/sink/*.c src/ipc/*.c; do
    $cc $flags -Iinclude -c "$source" -o "$out/$(echo "$source" | tr / _ | sed 's/c$/o/')"
  done
  rm -f "$out/libevalue.a"
  ar rcs "$out/libevalue.a" "$out"/src_*.o
  for test in tests/unit/*/test_*.c tests/conformance/test_*.c; do
    program=$out/$(basename "$test" .c)
    $cc $flags -Iinclude -Itests/support -I$build -isystem $build/cmocka/include "$test" "$out/libevalue.a" "$out/cmocka.o" -lm -o "$program"
    echo "== $name $(basename "$test" .c)"
    EVALUE_EMULATED=1 $qemu "$program"
  done
done
