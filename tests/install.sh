#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs into an empty folder, builds a program against what is there in the ways that a user would, runs it, and uninstalls.
set -eu
: "${MAKE:=make}" "${CC:=cc}" "${BUILD:=build}" "${SANITIZERS:=}"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

prefix=$root/opt/evalue
$MAKE -s install BUILD="$BUILD" PREFIX="$prefix" LIBDIR="$prefix/lib64" >/dev/null
cat > "$root/program.c" <<'C'
#include <evalue/evalue.h>
#include <stdio.h>
int main(void) {
  evalue v = evalue_from_int(7);
  uint8_t bytes[64];
  uint64_t size;
  if (evalue_message_encode(&v, 1, 0, bytes, sizeof bytes, &size) != EVALUE_OK) return 1;
  printf("%s %d\n", evalue_version(), (int)size);
  return 0;
}
C
export PKG_CONFIG_PATH="$prefix/lib64/pkgconfig"
flags=$(pkg-config --cflags --libs evalue)
expected="$(pkg-config --modversion evalue) 41"

$CC $SANITIZERS "$root/program.c" $flags -o "$root/shared"
[ "$(LD_LIBRARY_PATH="$prefix/lib64" "$root/shared")" = "$expected" ]
readelf -d "$root/shared" | grep -q '\[libevalue\.so\.0\]' # the soname, not the file's full name
$CC $SANITIZERS "$root/program.c" $(pkg-config --cflags evalue) "$prefix/lib64/libevalue.a" -o "$root/static"
[ "$("$root/static")" = "$expected" ]
[ -f "$prefix/share/man/man1/evalue.1" ]
"$prefix/bin/evalue" --version | grep -q "${expected% *}"

cat > "$root/records.c" <<'C'
#include <evalue/record.h>
int main(void) {
  evalue_record_writer w;
  if (evalue_record_writer_open(&w, "/dev/null", NULL) != EVALUE_OK) return 1;
  return evalue_record_writer_close(&w) != EVALUE_OK || evalue_record_crc32c(0, "123456789", 9) != UINT32_C(0xe3069283);
}
C
$CC $SANITIZERS "$root/records.c" $(pkg-config --cflags --libs evalue-record) -o "$root/records"
LD_LIBRARY_PATH="$prefix/lib64" "$root/records"
readelf -d "$root/records" | grep -q '\[libevalue-record\.so\.0\]'
$CC $SANITIZERS "$root/records.c" $(pkg-config --cflags evalue-record) "$prefix/lib64/libevalue-record.a" "$prefix/lib64/libevalue.a" -lisal -lpthread -o "$root/records-static"
"$root/records-static"

staged=$root/stage
$MAKE -s install BUILD="$BUILD" DESTDIR="$staged" PREFIX=/usr >/dev/null
[ -f "$staged/usr/lib/libevalue.a" ]
if grep -r "$root" "$staged/usr/lib/pkgconfig"; then exit 1; fi
for where in "PREFIX=$prefix LIBDIR=$prefix/lib64" "DESTDIR=$staged PREFIX=/usr"; do
  $MAKE -s uninstall BUILD="$BUILD" $where >/dev/null
done
left=$(find "$prefix" "$staged" ! -type d)
[ -z "$left" ] || { echo "left after uninstall: $left"; exit 1; }
echo "install, use, uninstall: ok"
