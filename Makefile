# SPDX-License-Identifier: BSD-3-Clause
#
#   make                the libraries and the command, in build/
#   make test           unit, conformance, command-line and install tests, and the fuzz targets over their corpora
#   make test-all       that again with gcc, clang and the sanitizers, on other architectures, with lint and size: what .ci/run does
#   make fuzz           libFuzzer on each target for FUZZ_RUNS executions
#   make install        into PREFIX (/usr/local), LIBDIR (PREFIX/lib), below DESTDIR; make uninstall takes it away again
#   make bench          what encoding and decoding cost beside memcpy and protobuf, and record files beside stdio
#   make size           code size and stack of the core on a Cortex-M4, and the limits that they must keep
#   make format lint    clang-format, clang-tidy
#
# CC, CFLAGS, LDFLAGS, WERROR, BUILD and SANITIZE may be set: make test CC=clang-14 BUILD=build/asan SANITIZE=address,undefined

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
BUILD ?= build
CFLAGS ?= -O2 -g
SANITIZE ?=
CLANG ?= $(firstword $(shell command -v clang-14 clang 2>/dev/null))
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format 2>/dev/null))
CLANG_TIDY ?= $(firstword $(shell command -v clang-tidy-14 clang-tidy 2>/dev/null))
PYTHON ?= /usr/bin/python3
WERROR ?= -Werror
FUZZ_RUNS ?= 200000

VERSION := $(shell sed -n 's/^\#define EVALUE_VERSION  *"\(.*\)"/\1/p' include/evalue/version.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

is_clang := $(shell $(CC) --version 2>/dev/null | grep -c clang)
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual $(WERROR) \
            $(if $(filter 0,$(is_clang)),-Wcast-align=strict,-Wcast-align)
sanitizers := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
BASE := -std=c11 $(WARNINGS) -D_FILE_OFFSET_BITS=64 -Iinclude -MMD -MP $(sanitizers)
JANSSON_CFLAGS = $(shell pkg-config --cflags jansson)
JANSSON_LIBS = $(shell pkg-config --libs jansson)

core_sources := $(wildcard src/core/*.c)
lib_sources := $(core_sources) $(wildcard src/text/*.c src/executorch/*.c src/log/*.c src/sink/*.c src/ipc/*.c)
lib_record_sources := $(wildcard src/record/*.c)
tfexample_sources := $(wildcard src/tfexample/*.c)
cli_sources := $(wildcard src/cli/*.c)
headers := $(wildcard include/evalue/*.h)

record_headers := $(filter %/record.h %/dataset.h,$(headers))

lib_objects := $(lib_sources:%.c=$(BUILD)/%.o)
pic_objects := $(lib_sources:%.c=$(BUILD)/pic/%.o)
record_objects := $(lib_record_sources:%.c=$(BUILD)/%.o)
record_pic_objects := $(lib_record_sources:%.c=$(BUILD)/pic/%.o)
tfexample_objects := $(tfexample_sources:%.c=$(BUILD)/%.o)
cli_objects := $(cli_sources:%.c=$(BUILD)/%.o)

static_lib := $(BUILD)/libevalue.a
shared_lib := $(BUILD)/libevalue.so.$(VERSION)
static_record := $(BUILD)/libevalue-record.a
shared_record := $(BUILD)/libevalue-record.so.$(VERSION)
RECORD_LIBS := -lisal -lpthread
TFEXAMPLE_LIBS := -lprotobuf-nanopb

.PHONY: all lib test test-core test-cli test-processes test-fuzz test-snippets test-exports test-install test-reference test-cost test-fetch test-cross \
        test-all bench fuzz install uninstall size format format-check licence-check lint clean
.DELETE_ON_ERROR:
.SECONDARY:

all: lib $(BUILD)/evalue

lib: $(static_lib) $(shared_lib) $(static_record) $(shared_record)

library_compile = $(CC) $(BASE) -D_POSIX_C_SOURCE=200809L $(CFLAGS) $(CPPFLAGS) -fvisibility=hidden

# Passing messages is for Linux: memfd, seals, futex.
$(BUILD)/src/ipc/%.o $(BUILD)/pic/src/ipc/%.o: CPPFLAGS += -D_GNU_SOURCE

$(lib_objects) $(record_objects) $(tfexample_objects): $(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(library_compile) -c $< -o $@

$(pic_objects) $(record_pic_objects): $(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(library_compile) -fPIC -c $< -o $@

$(BUILD)/src/cli/%.o: src/cli/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -D_GNU_SOURCE $(JANSSON_CFLAGS) $(CFLAGS) $(CPPFLAGS) -c $< -o $@

$(static_lib): $(lib_objects)
$(static_record): $(record_objects)
$(static_lib) $(static_record):
	rm -f $@
	$(AR) rcs $@ $^

# $(call link_shared,name,objects and libraries)
define link_shared
	$(CC) $(sanitizers) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(1).so.$(SOVERSION) \
	  -Wl,--version-script=src/$(1).map $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(2)
	ln -sf $(@F) $(BUILD)/$(1).so.$(SOVERSION)
	ln -sf $(@F) $(BUILD)/$(1).so
endef

$(shared_lib): $(pic_objects) src/libevalue.map
	$(call link_shared,libevalue,$(pic_objects))

$(shared_record): $(record_pic_objects) $(shared_lib) src/libevalue-record.map
	$(call link_shared,libevalue-record,$(record_pic_objects) $(shared_lib) $(RECORD_LIBS))

CLI_LIBS = $(JANSSON_LIBS) $(TFEXAMPLE_LIBS) $(RECORD_LIBS)

$(BUILD)/evalue: $(cli_objects) $(tfexample_objects) $(static_record) $(static_lib)
	$(CC) $(sanitizers) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CLI_LIBS)

# ---- tests ----

test: test-core test-snippets test-exports test-processes test-cli test-fuzz test-reference test-install
	@echo "all tests passed ($(CC)$(if $(SANITIZE), $(SANITIZE)))"

# MemorySanitizer cannot see what nanopb, which is not compiled with it, writes.
uninstrumented := $(if $(findstring memory,$(SANITIZE)),tests/unit/tfexample/%)
unit_sources := $(filter-out $(uninstrumented),$(wildcard tests/unit/*/test_*.c))
unit_programs := $(unit_sources:%.c=$(BUILD)/%)
conformance_programs := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/conformance/test_*.c))

test-core: $(unit_programs) $(conformance_programs) | $(BUILD)/locale
	@for t in $^; do echo "== $$t"; LOCPATH=$(abspath $(BUILD)/locale) $$t || exit 1; done

# A locale with a decimal comma, for the tests of numbers; without localedef those are skipped, and say so.
$(BUILD)/locale:
	@mkdir -p $@
	@if command -v localedef >/dev/null; then localedef -i de_DE -f UTF-8 $@/de_DE.UTF-8; fi

TEST_FLAGS = $(BASE) -D_GNU_SOURCE -Itests/support -I$(BUILD)/tests/conformance $(CFLAGS) $(CPPFLAGS)

$(BUILD)/tests/unit/%: tests/unit/%.c $(static_lib)
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) $< $(static_lib) -lcmocka -lm $(LDFLAGS) -o $@

$(BUILD)/tests/unit/record/%: tests/unit/record/%.c $(static_record) $(static_lib) $(wildcard tests/unit/record/*.h)
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) $< $(static_record) $(static_lib) $(RECORD_LIBS) -lcmocka -lm $(LDFLAGS) -o $@

$(BUILD)/tests/unit/tfexample/%: tests/unit/tfexample/%.c $(tfexample_objects) $(static_lib) $(wildcard tests/unit/tfexample/*.h)
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) $< $(tfexample_objects) $(static_lib) $(TFEXAMPLE_LIBS) -lcmocka -lm $(LDFLAGS) -o $@

$(BUILD)/tests/conformance/vectors.inc: tests/conformance/generate.py spec/evalue-wire-format-1.0.md $(wildcard spec/vectors/*.jsonl)
	$(PYTHON) $< spec $@

$(BUILD)/tests/conformance/java_vectors.inc: tests/conformance/generate_java.py tests/conformance/generate.py spec/executorch-java.md \
  spec/evalue-wire-format-1.0.md $(wildcard spec/vectors/*.jsonl)
	$(PYTHON) -B $< spec $@

$(BUILD)/tests/conformance/record_vectors.inc: tests/conformance/generate_records.py spec/evalue-records-1.0.md $(wildcard spec/vectors/records-*.jsonl)
	@mkdir -p $(@D)
	$(PYTHON) $< spec $@

$(BUILD)/tests/conformance/test_records_conformance: tests/conformance/test_records_conformance.c $(BUILD)/tests/conformance/record_vectors.inc \
  $(static_record) $(static_lib)
	$(CC) $(TEST_FLAGS) $< $(static_record) $(static_lib) $(RECORD_LIBS) -lcmocka $(LDFLAGS) -o $@

$(BUILD)/tests/conformance/test_%: tests/conformance/test_%.c $(BUILD)/tests/conformance/vectors.inc $(BUILD)/tests/conformance/java_vectors.inc \
  $(static_lib)
	$(CC) $(TEST_FLAGS) $< $(static_lib) -lcmocka $(LDFLAGS) -o $@

# Each header alone, as C11 and as C++17; the README's example and the headers' own snippets.
test-snippets: all
	CC="$(CC)" BUILD="$(BUILD)" SANITIZERS="$(sanitizers)" $(PYTHON) tests/snippets.py

test-exports: lib
	CC="$(CC)" $(PYTHON) tests/exports.py $(shared_lib) $(filter-out $(record_headers),$(headers))
	CC="$(CC)" $(PYTHON) tests/exports.py $(shared_record) $(record_headers)

test-cli: $(BUILD)/evalue
	EVALUE=$(BUILD)/evalue $(PYTHON) -m unittest discover -s tests/cli

# Processes: logs of several at once, messages between them, what happens when system calls fail, protobuf's own library, and record files of many GiB.
test-processes: all
	CC="$(CC)" BUILD="$(BUILD)" SANITIZERS="$(sanitizers)" $(PYTHON) -m unittest discover -s tests/log
	CC="$(CC)" BUILD="$(BUILD)" SANITIZERS="$(sanitizers)" $(PYTHON) -m unittest discover -s tests/ipc
	CC="$(CC)" BUILD="$(BUILD)" SANITIZERS="$(sanitizers)" $(PYTHON) -m unittest discover -s tests/faults
	CC="$(CC)" BUILD="$(BUILD)" SANITIZERS="$(sanitizers)" $(PYTHON) -B -m unittest discover -s tests/tfexample
	CC="$(CC)" BUILD="$(BUILD)" SANITIZERS="$(sanitizers)" $(PYTHON) -B -m unittest discover -s tests/record

test-reference:
	$(PYTHON) spec/reference.py check spec/vectors
	$(PYTHON) spec/reference.py examples spec/evalue-wire-format-1.0.md
	$(PYTHON) spec/executorch_java_reference.py check spec/vectors
	$(PYTHON) spec/executorch_java_reference.py examples spec/executorch-java.md
	$(PYTHON) spec/records_reference.py check spec/vectors
	$(PYTHON) spec/records_reference.py examples spec/evalue-records-1.0.md

test-install: all
	MAKE="$(MAKE)" BUILD="$(BUILD)" CC="$(CC)" SANITIZERS="$(sanitizers)" sh tests/install.sh

# ---- fuzzing ----

fuzz_names := $(patsubst fuzz/fuzz_%.c,%,$(wildcard fuzz/fuzz_*.c))
fuzz_cli_objects = $(filter-out $(BUILD)/src/cli/main.o,$(cli_objects)) $(tfexample_objects) $(static_record)

$(BUILD)/fuzz/corpus: fuzz/make_corpus.py $(wildcard spec/vectors/*.jsonl)
	rm -rf $@
	$(PYTHON) $< spec/vectors $@

$(BUILD)/fuzz/run_%: fuzz/fuzz_%.c fuzz/standalone.c $(wildcard fuzz/*.h) $(static_lib) $(static_record) $(cli_objects) $(tfexample_objects)
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Isrc/cli $< fuzz/standalone.c $(fuzz_cli_objects) $(static_lib) $(CLI_LIBS) -lm $(LDFLAGS) -o $@

test-fuzz: $(fuzz_names:%=$(BUILD)/fuzz/run_%) $(BUILD)/fuzz/corpus
	@for f in $(fuzz_names); do $(BUILD)/fuzz/run_$$f $(BUILD)/fuzz/corpus/$$f || exit 1; done

FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

$(BUILD)/fuzz/libfuzzer_%: fuzz/fuzz_%.c $(lib_sources) $(lib_record_sources) $(tfexample_sources) $(cli_sources) $(headers) $(wildcard src/*/*.h fuzz/*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=c11 -D_GNU_SOURCE -Iinclude -Itests/support -Isrc/cli $(JANSSON_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer $< \
	  $(lib_sources) $(lib_record_sources) $(tfexample_sources) $(filter-out src/cli/main.c,$(cli_sources)) $(CLI_LIBS) -lm -o $@

# New inputs go to build/fuzz/found/; a crash leaves its input there too.
fuzz: $(fuzz_names:%=$(BUILD)/fuzz/libfuzzer_%) $(BUILD)/fuzz/corpus
	@for f in $(fuzz_names); do \
	  echo "== fuzz_$$f"; mkdir -p $(BUILD)/fuzz/found/$$f; \
	  $(BUILD)/fuzz/libfuzzer_$$f -runs=$(FUZZ_RUNS) -max_len=4096 -dict=fuzz/evalue.dict -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/fuzz/found/ $(BUILD)/fuzz/found/$$f $(BUILD)/fuzz/corpus/$$f \
	    > $(BUILD)/fuzz/$$f.log 2>&1 || { grep -aE 'FUZZ_CHECK|ERROR|runtime error' $(BUILD)/fuzz/$$f.log; tail -40 $(BUILD)/fuzz/$$f.log; exit 1; }; \
	  grep -E 'stat::number_of_executed_units|DONE' $(BUILD)/fuzz/$$f.log; \
	done

# ---- everything, as CI runs it ----

test-all:
	sh tests/all.sh

test-cross:
	sh tests/cross.sh

# Times for people to look at; nothing asserts them.
bench: lib $(BUILD)/tests/bench/tfexample
	@mkdir -p $(BUILD)/tests/bench
	@for b in encode java ipc records loader; do \
	  $(CC) $(TEST_FLAGS) tests/bench/$$b.c $(static_record) $(static_lib) $(RECORD_LIBS) $(LDFLAGS) -o $(BUILD)/tests/bench/$$b && \
	  $(BUILD)/tests/bench/$$b || exit 1; \
	done
	@$(BUILD)/tests/bench/tfexample

# tf.Examples beside protobuf's own C++ and protobuf-c, whose code protoc and protoc-c make; it is not held to our warnings.
bench_proto := $(BUILD)/tests/bench/tfexample

$(bench_proto).pb.cc: src/tfexample/tfexample.proto
	@mkdir -p $(@D)
	protoc --cpp_out=$(@D) -I$(<D) $<

$(bench_proto).pb-c.c: src/tfexample/tfexample.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) -I$(<D) $<

$(bench_proto).pb-c.o: $(bench_proto).pb-c.c
	$(CC) -std=c11 $(sanitizers) $(CFLAGS) $(CPPFLAGS) -c $< -o $@

$(bench_proto): tests/bench/tfexample.cc tests/bench/timing.h src/tfexample/tfexample.h $(headers) $(bench_proto).pb.cc $(bench_proto).pb-c.o \
  $(tfexample_objects) $(static_lib)
	$(CXX) -std=c++17 $(sanitizers) $(CFLAGS) $(CPPFLAGS) -Iinclude -Itests/bench -I$(@D) $(filter-out %.h,$^) \
	  -lprotobuf -lprotobuf-c $(TFEXAMPLE_LIBS) -lpthread -lm $(LDFLAGS) -o $@

test-cost: all
	CC="$(CC)" BUILD="$(BUILD)" $(PYTHON) tests/cost.py

test-fetch:
	$(PYTHON) tests/single_fetch.py

# ---- size ----

size:
	$(PYTHON) tests/size.py

# ---- style ----

c_files := $(wildcard include/evalue/*.h src/*/*.[ch] tests/*/*.[ch] tests/unit/*/*.[ch] fuzz/*.[ch])

format:
	$(CLANG_FORMAT) -i $(c_files)

format-check:
	$(CLANG_FORMAT) --dry-run --Werror $(c_files)

# Every tracked file has its SPDX line, but for the licence itself and JSON Lines, which have no comments.
licence-check:
	@missing=$$(git grep -L SPDX-License-Identifier -- ':!LICENSE' ':!*.jsonl'); \
	  if [ -n "$$missing" ]; then echo "without an SPDX line:"; echo "$$missing"; exit 1; fi

lint: format-check licence-check
	@mkdir -p $(BUILD)
	@printf '%s\n' $(lib_sources) $(lib_record_sources) $(tfexample_sources) $(cli_sources) | \
	  xargs -P $$(nproc) -n 8 sh -c '$(CLANG_TIDY) --quiet --warnings-as-errors="*" "$$@" -- -std=c11 -D_GNU_SOURCE -Iinclude' tidy \
	  > $(BUILD)/clang-tidy.log 2>&1 || { cat $(BUILD)/clang-tidy.log; exit 1; }
	@echo "format, licence lines and clang-tidy: clean"

# ---- installing ----

install: all
	@case "$(PREFIX)" in /*) ;; *) echo "PREFIX has to be an absolute path"; exit 1 ;; esac
	install -d $(DESTDIR)$(PREFIX)/include/evalue $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig \
	  $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(headers) $(DESTDIR)$(PREFIX)/include/evalue/
	install -m 644 $(static_lib) $(static_record) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(shared_lib) $(shared_record) $(DESTDIR)$(LIBDIR)/
	for l in libevalue libevalue-record; do \
	  ln -sf $$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$l.so.$(SOVERSION); ln -sf $$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$l.so; \
	done
	for p in evalue evalue-record; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' src/$$p.pc.in \
	    > $(DESTDIR)$(LIBDIR)/pkgconfig/$$p.pc || exit 1; \
	done
	install -m 755 $(BUILD)/evalue $(DESTDIR)$(PREFIX)/bin/
	install -m 644 man/evalue.1 $(DESTDIR)$(PREFIX)/share/man/man1/

uninstall:
	rm -f $(headers:include/%=$(DESTDIR)$(PREFIX)/include/%) \
	  $(foreach l,libevalue libevalue-record,$(addprefix $(DESTDIR)$(LIBDIR)/$l,.a .so .so.$(SOVERSION) .so.$(VERSION))) \
	  $(addprefix $(DESTDIR)$(LIBDIR)/pkgconfig/,evalue.pc evalue-record.pc) $(DESTDIR)$(PREFIX)/bin/evalue \
	  $(DESTDIR)$(PREFIX)/share/man/man1/evalue.1
	-rmdir $(DESTDIR)$(PREFIX)/include/evalue

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
