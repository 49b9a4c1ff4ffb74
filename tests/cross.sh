#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The libraries' unit and conformance tests on other architectures: built with Debian's cross compilers, run under qemu. Among them are 32-bit ones, big-endian ones, and one that traps
# misaligned access. What the libraries and the tests are linked with is not packaged for these: cmocka, ISA-L (what it has in C, which is what Debian ships where it has no assembler) and
# nanopb are compiled from the distribution's source packages.
set -eu
build=build/cross
mkdir -p $build

# name, compiler, qemu
targets="i686:i686-linux-gnu-gcc:qemu-i386-static
s390x:s390x-linux-gnu-gcc:qemu-s390x-static
powerpc:powerpc-linux-gnu-gcc:qemu-ppc-static
sparc64:sparc64-linux-gnu-gcc:qemu-sparc64-static"

# Fetches those sources with apt, through a list of sources of its own, so that the machine's configuration stays as it is.
fetch_sources() {
  [ -f $build/cmocka/src/cmocka.c ] && [ -f $build/libisal/crc/crc_base.c ] && [ -f $build/nanopb/pb_common.c ] && return
  apt_dir=$PWD/$build/apt
  rm -rf "$apt_dir/source"
  mkdir -p "$apt_dir/lists/partial" "$apt_dir/source"
  apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u > "$apt_dir/sources.list"
  set -- -o Dir::Etc::SourceList="$apt_dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$apt_dir/lists" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
  apt-get "$@" update > "$apt_dir/log" 2>&1 || { cat "$apt_dir/log" >&2; exit 2; }
  (cd "$apt_dir/source" && apt-get "$@" source cmocka libisal nanopb >> "$apt_dir/log" 2>&1) || { cat "$apt_dir/log" >&2; exit 2; }
  for package in cmocka libisal nanopb; do
    rm -rf "${build:?}/$package"
    mv "$apt_dir/source/$package"-*/ $build/$package
  done
  ln -s include $build/libisal/isa-l # as it is installed: <isa-l/crc.h>
}

object_of() { echo "$out/$(echo "$1" | tr / _ | sed 's/c$/o/')"; }

fetch_sources
python3 tests/conformance/generate.py spec $build/vectors.inc
python3 -B tests/conformance/generate_java.py spec $build/java_vectors.inc
python3 -B tests/conformance/generate_records.py spec $build/record_vectors.inc

for target in $targets; do
  name=${target%%:*}; rest=${target#*:}; cc=${rest%%:*}; qemu=${rest#*:}
  out=$build/$name
  rm -rf "$out"
  mkdir -p "$out"
  flags="-std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -static -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align=strict -Wcast-qual -Werror"
  others="-isystem $build/cmocka/include -isystem $build/libisal -isystem $build/nanopb"
  $cc -O2 -w -D_GNU_SOURCE -DHAVE_INTTYPES_H -DHAVE_STDINT_H -DHAVE_SIGNAL_H -DHAVE_STRSIGNAL -DHAVE_TIME_H -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_GETTIME \
    -DHAVE_CLOCK_GETTIME_REALTIME -DHAVE_CLOCK_REALTIME -I$build/cmocka/include -c $build/cmocka/src/cmocka.c -o "$out/cmocka.o"
  for source in crc_base crc64_base crc_base_aliases; do
    $cc -O2 -w -I$build/libisal/include -c $build/libisal/crc/$source.c -o "$out/isal_$source.o"
  done
  for source in pb_common pb_encode pb_decode; do
    $cc -O2 -w -I$build/nanopb -c $build/nanopb/$source.c -o "$out/nanopb_$source.o"
  done
  for source in src/core/*.c src/text/*.c src/executorch/*.c src/log/*.c src/sink/*.c src/ipc/*.c src/record/*.c src/tfexample/*.c; do
    $cc $flags -Iinclude $others -c "$source" -o "$(object_of "$source")"
  done
  ar rcs "$out/libevalue.a" "$out"/src_*.o "$out"/cmocka.o "$out"/isal_*.o "$out"/nanopb_*.o
  for test in tests/unit/*/test_*.c tests/conformance/test_*.c; do
    program=$out/$(basename "$test" .c)
    # An allocator of the program's own goes before the C library's, whose other half it needs: they are in one object file. It counts in 64 bits, which powerpc has in libatomic.
    case $test in */test_dataset_allocation.c) more="-Wl,-z,muldefs -latomic" ;; *) more= ;; esac
    $cc $flags -Iinclude -Itests/support -I$build $others "$test" "$out/libevalue.a" -lpthread -lm $more -o "$program"
    echo "== $name $(basename "$test" .c)"
    EVALUE_EMULATED=$qemu $qemu "$program"
  done
done
