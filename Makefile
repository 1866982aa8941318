# SPDX-License-Identifier: BSD-3-Clause
#
# Sluice.  `make help` lists the targets; CONTRIBUTING.md says how to work.
#
# Sources are found by wildcard: adding a file edits nothing here.
#   src/<layer>/[<part>/]*.c     the library
#   tools/<name>.c, <name>.sh    a program bin/<name>; tools/<name>/*.c too
#   tests/unit/*.c               one program each, with the library's objects
#   tests/fuzz/*.c               one fuzz target each, with the library's objects
#   tests/<suite>/*.c, bench/*.c one program each, with -lshmem
#   apps/<name>/*.c              a program bin/<name>, with -lshmem, installed;
#                                apps/halo is a part of two
#   tests/fake/*.c               one program each, with -lfabric
#   tests/fake/cxi/*.c, local    a libfabric provider each, a plug-in
#   tests/fake/pmi2/*.c          a launcher's client library
#   tests/fake/cuda/*.c, hip     a GPU driver's library, on tests/fake/device/*.c
# A file of tests/<suite> or bench without main() is part of each program
# beside it.
# Paths are relative, so the tree may lie below a directory with spaces.

# Outputs go to $(O)/bin, lib and obj: `make O=build/x` keeps a second build.
O = .
# Sanitizer of this build: address, thread or undefined; with fuzzer-no-link
# and clang the fuzz targets are linked with libFuzzer.
SAN =
# V=1 prints whole commands.
V =

MAKEFLAGS += --no-print-directory --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: FORCE
.DEFAULT_GOAL = all

ifneq ($(words $(O))$(filter /%,$(O)),1)
$(error O is '$(O)': it must be one relative path without spaces)
endif

# These start on a bare machine or need no configuration at all; every other
# target reads config.mak, which make brings about with ./configure.
SETUP = demo check check-asan check-tsan check-ubsan fuzz bench bench-compare site
BARE  = help clean distclean dist
ifneq ($(filter-out $(SETUP) $(BARE),$(or $(MAKECMDGOALS),all)),)
include config.mak
# Files contain the prefix: one given to make would reach some of them.
ifneq ($(findstring command,$(origin prefix) $(origin PREFIX)),)
$(error the prefix is an option of ./configure (--prefix=DIR), not of make; \
    DESTDIR=DIR puts a directory in front of it)
endif
endif

config.mak: configure
	@echo '  CONFIG' && sh ./configure $(CONFIGURE_ARGS)

# ---------------------------------------------------------------- flags ----

SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
             -fno-sanitize-recover=all -O1 -g $(AUTO_INIT))

ALL_CPPFLAGS = -D_GNU_SOURCE -include config.h -Iinclude -Isrc \
               $(PMIX_CFLAGS) $(HWLOC_CFLAGS) $(OFI_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS   = -std=gnu11 $(CFLAGS) $(WARNINGS) $(SANFLAGS) -pthread
# Variables of threads in the space that the loader keeps for them: no call of
# __tls_get_addr() on a hot path.  The leak sanitizer dies of such calls: it takes
# the word before what they give for an address, where that is at a page's start.
IN_STATIC_TLS = -ftls-model=initial-exec
# The archive's names are made local in machine code, so no -flto up to there.
LIB_CFLAGS   = $(ALL_CFLAGS) $(LIBFLAGS) -fPIC $(IN_STATIC_TLS) \
               $(if $(findstring -flto,$(CFLAGS)),-fno-lto)
LIB_LIBS     = $(PMIX_LIBS) $(HWLOC_LIBS) -lpthread -ldl -lm $(LIBS)
# What a program wants in which those are archives, too.
FULL_LIBS    = $(STATIC_LIBS) -lpthread -ldl -lm $(LIBS)
# Both, where the archives are there; programs with shared libraries use it, too.
PC_LIBS      = $(PMIX_LIBS) $(HWLOC_LIBS) $(if $(STATIC_LACKS),,$(filter-out \
    $(PMIX_LIBS) $(HWLOC_LIBS),$(STATIC_LIBS))) -lpthread -ldl -lm $(LIBS)

# Programs of tests and applications see what a user's program sees.
USER_CPPFLAGS = -D_GNU_SOURCE -Iinclude -Itests $(CPPFLAGS)
USER_LIBS     = -L$(O)/lib -lshmem -lpthread -lm

# A clang runtime lives in the program only, so no -z defs for sanitizers.
DEFS = $(if $(SAN),,-Wl,-z,defs)

# $(call say,WORD) prints the word and the target in place of the command.
say = $(if $(V),,@printf '  %-7s %s\n' '$1' '$@';)
obj = $(patsubst %,$(O)/obj/%.o,$(basename $1))

# ------------------------------------------------------------- the files ----

LIB_SRCS  = $(sort $(wildcard src/*/*.c src/*/*/*.c))
LIB_OBJS  = $(call obj,$(LIB_SRCS))
LIBS_MADE = $(O)/lib/libshmem.so $(O)/lib/libshmem.a
ABSENT    = $(addprefix $(O)/lib/sluice/,libpsm2.so.2 libpsm_infinipath.so.1)

TOOL_DIRS = $(patsubst tools/%/,%,$(sort $(dir $(wildcard tools/*/*.c))))
TOOLS     = $(TOOL_DIRS:%=$(O)/bin/%) \
            $(patsubst tools/%.c,$(O)/bin/%,$(wildcard tools/*.c)) \
            $(patsubst tools/%.sh,$(O)/bin/%,$(wildcard tools/*.sh))
ALIASES   = $(if $(wildcard tools/oshcc*),$(addprefix $(O)/bin/,oshc++ \
            oshcxx oshCC shmemcc shmemc++ shmemcxx oshfort))
APPS      = $(patsubst apps/%/,$(O)/bin/%,$(filter-out apps/halo/, \
            $(sort $(dir $(wildcard apps/*/*.c)))))

FUZZERS   = $(patsubst %.c,$(O)/obj/%,$(filter-out \
            tests/fuzz/replay.c,$(sort $(wildcard tests/fuzz/*.c))))
TEST_ALL  = $(filter-out tests/fuzz/%,$(sort $(wildcard tests/*/*.c bench/*.c)))
MAIN      = (^|[^a-z])main *\(
SHARED_C := $(if $(TEST_ALL),$(shell grep -LiE '$(MAIN)' $(TEST_ALL)))
TEST_SRCS = $(filter-out $(SHARED_C),$(TEST_ALL))
# Programs that choose the memory of their buffers.
IN_MEMORY := $(if $(TEST_ALL),$(basename $(shell grep -lE \
            'include "(\.\./)?memory\.h"' $(TEST_ALL))))
# $(call shared,tests/osu/x): the objects of that suite's shared files.
shared    = $(call obj,$(foreach f,$(SHARED_C),$(if \
            $(filter $(dir $1),$(dir $f)),$f)) \
            $(if $(filter $(IN_MEMORY),$1),tests/memory.c))
UNITS     = $(patsubst %.c,$(O)/obj/%,$(filter tests/unit/%,$(TEST_SRCS)))
# Drivers of GPUs that are threads and memory of this machine.  The compiler of
# HIP's kernels is a library of its own, beside a new runtime, and a part of an
# old one.
FAKE_CUDA = $(O)/obj/tests/fake/cuda/libcuda.so.1
FAKE_HIP  = $(O)/obj/tests/fake/hip/libamdhip64.so.6
FAKE_HIP5 = $(O)/obj/tests/fake/hip5/libamdhip64.so.5
FAKE_RTC  = $(O)/obj/tests/fake/hiprtc/libhiprtc.so
FAKE_NVRTC = $(O)/obj/tests/fake/nvrtc/libnvrtc.so
# Kernels of programs, for these.
FAKE_KERNELS = $(patsubst %.c,$(O)/obj/%.so,$(wildcard tests/fake/kernels/*.c))
# The management library is the same file: it is of the same machine.
FAKE_NVML = $(O)/obj/tests/fake/cuda/libnvidia-ml.so.1
FAKE_GPUS = $(FAKE_NVRTC) $(FAKE_KERNELS) $(FAKE_CUDA) $(FAKE_HIP) $(FAKE_HIP5) $(FAKE_RTC)
FAKES     = $(patsubst %.c,$(O)/obj/%,$(filter tests/fake/%,$(TEST_SRCS)))
PE_TESTS  = $(patsubst %.c,$(O)/obj/%,$(filter-out tests/unit/% tests/fake/% \
            bench/%,$(TEST_SRCS)))
BENCHES   = $(patsubst %.c,$(O)/obj/%,$(filter bench/%,$(TEST_SRCS)))

PC_FILES  = $(O)/lib/pkgconfig/sluice.pc $(O)/lib/pkgconfig/openshmem.pc
CM_FILES  = $(O)/lib/cmake/Sluice/SluiceConfig.cmake \
            $(O)/lib/cmake/Sluice/SluiceConfigVersion.cmake

# Manual pages that hold tables of the sources.
MAN_MADE  = $(patsubst man/%.in,$(O)/obj/man/%,$(wildcard man/*.in))

# --------------------------------------------------------------- library ----

MAN_TREE = $(O)/obj/share/man/made
all: $(LIBS_MADE) $(ABSENT) $(TOOLS) $(ALIASES) $(APPS) $(PC_FILES) $(CM_FILES) $(MAN_TREE) ## library, tools and applications
osu: all $(filter $(O)/obj/tests/osu/%,$(PE_TESTS)) ## the benchmarks of tests/osu
pp-pack: all $(O)/obj/bench/pp_pack ## the benchmark of packed messages on streams
benches: all $(BENCHES) ## the benchmarks of bench/
tests: all $(UNITS) $(PE_TESTS) $(BENCHES) $(FAKES) $(FAKE_GPUS) $(FAKE_NVML) $(FUZZERS) ## the same and every test program

# Every object of this tree: make lint reads all sources with each compiler, and
# make cross-check those of the library for other machines.
SOURCES = src/*/*.c src/*/*/*.c tools/*.c tools/*/*.c tests/*.c tests/*/*.c tests/*/*/*.c bench/*.c apps/*/*.c
# Those of tests/abi want the headers of GPU vendors.
lib-objects: $(LIB_OBJS)
objects: $(call obj,$(filter-out tests/abi/%,$(sort $(wildcard $(SOURCES)))))
$(O)/obj/tests/oshrun/client/job.o: private USER_CPPFLAGS += $(PMIX_CFLAGS)

# Flags of one target are private: flags.txt, which it depends on, would inherit
# them, and all be made again.
#
# A list file changes its date only when its words change: what depends on it
# is made again after other flags, or after a source has come or gone.
define list-file
@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$1)' | cmp -s - $@ || \
    printf '%s\n' '$(subst ','\'',$1)' >$@
endef

FLAGS = $(CC) $(CXX) $(LIB_CFLAGS) $(ALL_CPPFLAGS) $(LDFLAGS)
$(O)/obj/flags.txt: FORCE
	$(call list-file,$(FLAGS))
# Was O built with the flags of this make?  tests/run does not change a build.
same-flags:
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $(O)/obj/flags.txt
$(O)/obj/objects.txt: FORCE
	$(call list-file,$(LIB_OBJS))

$(O)/obj/src/%.o: src/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) -MMD -MP $(LIB_CFLAGS) -c -o $@ $<

# The loops of reductions want the vector units.
$(O)/obj/src/coll/coll_ops.o $(O)/obj/src/gtl/soft/soft_reduce.o: \
    private LIB_CFLAGS += -O3

SONAME = libshmem.so.$(SOVERSION)
# Threads of libfabric and PMIx, handlers of signals and of exit() outlive the
# last dlclose(): the code stays.
NODELETE = -Wl,-z,nodelete

$(O)/lib/$(SONAME): $(LIB_OBJS) src/libshmem.map $(O)/obj/objects.txt
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(LIB_CFLAGS) -shared -Wl,-soname,$(SONAME) $(NODELETE) \
	    -Wl,--version-script=src/libshmem.map $(DEFS) $(HARDENING) \
	    $(LDFLAGS) -o $@ $(LIB_OBJS) $(LIB_LIBS)

$(O)/lib/libshmem.so: $(O)/lib/$(SONAME)
	$(call say,LN)ln -sf $(SONAME) $@

# Stand for libraries of NICs that the machine lacks: plain code, in any build.
$(O)/lib/sluice/libpsm_infinipath.so.1: private ABSENT_FLAGS = -DABSENT_PSM1
$(O)/lib/sluice/libpsm2.so.2: private ABSENT_FLAGS = \
    -Wl,--version-script=src/absent_psm2.map
$(ABSENT): src/absent_psm.c src/absent_psm2.map $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(filter -m%,$(CFLAGS)) -O1 -fPIC -shared \
	    -Wl,-soname,$(@F) $(ABSENT_FLAGS) -o $@ $<

# One object whose internal names are local: a program may define any name of
# ours without meeting it.
$(O)/lib/libshmem.a: $(LIB_OBJS) $(O)/obj/objects.txt
	@mkdir -p $(@D)
	$(call say,AR)$(CC) $(filter -m%,$(CFLAGS)) -nostdlib -r \
	    -o $(O)/obj/libshmem.o $(LIB_OBJS) && \
	    $(OBJCOPY) --localize-hidden $(O)/obj/libshmem.o && \
	    rm -f $@ && $(AR) rcs $@ $(O)/obj/libshmem.o

# The same objects as they are, for the tools and the unit tests.
$(O)/obj/layers.a: $(LIB_OBJS) $(O)/obj/objects.txt
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $(LIB_OBJS)

# A second build finds the headers beside its own lib and bin.
ifneq ($(O),.)
$(LIBS_MADE) $(TOOLS): | $(O)/include
$(O)/include:
	@mkdir -p $(@D) && ln -sfn "$(CURDIR)/include" $@
endif

# ----------------------------------------------------------------- tools ----

$(O)/obj/tools/%.o: tools/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) -Itools -MMD -MP $(ALL_CFLAGS) -c -o $@ $<

LINK_TOOL = $(CC) $(ALL_CFLAGS) $(HARDENING) $(LDFLAGS) -o $@ $(filter %.o,$^) \
            $(O)/obj/layers.a $(LIB_LIBS)

$(TOOL_DIRS:%=$(O)/bin/%): $(O)/bin/%: \
    $$(call obj,$$(wildcard tools/$$*/*.c)) $(O)/obj/layers.a
	@mkdir -p $(@D)
	$(call say,LD)$(LINK_TOOL)

$(patsubst tools/%.c,$(O)/bin/%,$(wildcard tools/*.c)): $(O)/bin/%: \
    $(O)/obj/tools/%.o $(O)/obj/layers.a
	@mkdir -p $(@D)
	$(call say,LD)$(LINK_TOOL)

$(patsubst tools/%.sh,$(O)/bin/%,$(wildcard tools/*.sh)): $(O)/bin/%: \
    tools/%.sh config.mak
	@mkdir -p $(@D)
	$(call say,GEN)$(SUBST) $< >$@ && chmod 755 $@

# A line @--OPTION@ of a template is what shmem_info prints with that option.  One
# made for another machine does not run here: its pages lack the table.
NO_TABLE = .It Pq made for another machine\nThe table is missing here.
$(MAN_MADE): $(O)/obj/man/%: man/%.in $(O)/bin/shmem_info
	@mkdir -p $(@D)
	$(call say,GEN)awk -v cross=$(CROSS) '/^@--[a-z-]*@$$/ { gsub(/@/, ""); fflush(); \
	    if (cross && /env/) \
	        print ".Bl -tag -width Ds\n$(NO_TABLE)\n.El"; \
	    else if (cross) print "$(NO_TABLE)"; \
	    else if (system("$(O)/bin/shmem_info " $$0)) exit 1; next } \
	    { print }' $< >$@

$(ALIASES): $(O)/bin/oshcc
	$(call say,LN)ln -sf oshcc $@

# ----------------------------------------------------- tests and programs ----

# Tests are long and run once: most of their time is the compiler's.  OSU's
# programs are benchmarks.
QUICK = $(if $(filter -O2,$(CFLAGS)),-O1 -g1)
$(O)/obj/tests/%.o: private ALL_CFLAGS += $(QUICK)
$(O)/obj/tests/osu/%.o: private ALL_CFLAGS += $(if $(QUICK),-O2)
# Each has some thousand calls of inline functions, which optimised take ten times
# as long; others of tests/kernel, and bench/, have them optimised.
$(addprefix $(O)/obj/tests/kernel/,coll.o shmemg_calls.o): \
    private ALL_CFLAGS += $(if $(QUICK),-O0)
# Unit tests round as the library does.
$(O)/obj/tests/unit/%.o: private ALL_CFLAGS += $(filter -ffp-contract=%,$(LIBFLAGS))
$(O)/obj/tests/unit/%.o: tests/unit/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) -Itests -MMD -MP $(ALL_CFLAGS) -c -o $@ $<
$(O)/obj/tests/fuzz/%.o: tests/fuzz/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) -Itests -MMD -MP $(ALL_CFLAGS) -c -o $@ $<

$(O)/obj/tests/%.o: tests/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(USER_CPPFLAGS) -MMD -MP $(ALL_CFLAGS) -c -o $@ $<

$(O)/obj/bench/%.o: bench/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(USER_CPPFLAGS) -MMD -MP $(ALL_CFLAGS) -c -o $@ $<

$(O)/obj/apps/%.o: apps/%.c $(O)/obj/flags.txt
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(USER_CPPFLAGS) -MMD -MP $(ALL_CFLAGS) $(OPENMP) -c -o $@ $<

# Kernels of the sort as PTX where there is a compiler for it, else nothing: then
# the program compiles them itself.
NVCC ?= nvcc
SORT_PTX = $(O)/obj/apps/bucketsort/kernels.ptx
$(SORT_PTX): apps/bucketsort/kernels.inc
	@mkdir -p $(@D)
	$(call say,PTX)$(NVCC) -x cu -ptx -o $@ $< >/dev/null 2>&1 || : >$@
$(O)/obj/apps/bucketsort/dev.o: $(SORT_PTX)
$(O)/obj/apps/bucketsort/dev.o: private USER_CPPFLAGS += -DSORT_PTX='"$(SORT_PTX)"'

# Kernels that call the library: a text with all that they include, and PTX of
# it, for the source that has both.
HALO_KI  = $(patsubst %,$(O)/obj/apps/%/main,gol2d faces jacobi2d)
SORT_KI  = $(O)/obj/apps/bucketsort/exchange_ki
BENCH_KI = $(addprefix $(O)/obj/bench/,gups allreduce_ring pp_pack bce)
WITH_KI  = $(HALO_KI) $(SORT_KI) $(BENCH_KI)
$(HALO_KI:=.text): $(O)/obj/apps/%/main.text: apps/halo/kernels.inc \
    apps/%/kernels.inc apps/halo/ki.inc apps/%/ki.inc
$(SORT_KI).text: apps/bucketsort/kernels.inc apps/bucketsort/ki.inc
$(BENCH_KI:=.text): $(O)/obj/bench/%.text: bench/%.inc bench/coord.h bench/gups.h
$(WITH_KI:=.text): scripts/kernel-text $(wildcard include/shmemx_dev*.h)
	@mkdir -p $(@D)
	@sh scripts/kernel-text $(filter-out %/pp_kernels.inc,$(filter %.inc,$^)) >$@
$(WITH_KI:=.ptx): %.ptx: %.text
	$(call say,PTX)$(NVCC) -w -x cu -ptx -arch=compute_75 -Iinclude -o $@ $< >/dev/null 2>&1 || : >$@
$(WITH_KI:=.o): %.o: %.text %.ptx
$(WITH_KI:=.o): private USER_CPPFLAGS += -DKI_TEXT_FILE='"$(@:.o=.text)"' \
    -DKI_PTX_FILE='"$(@:.o=.ptx)"'
$(BENCH_KI): $(O)/obj/apps/bucketsort/dev_gpu.o

# The same for the loops of the OSU-style programs in kernels.
OSU_PTX = $(O)/obj/tests/osu/loops.ptx
$(OSU_PTX): tests/osu/osu_loops.inc tests/osu/osu_loops.h $(wildcard include/shmemx_dev*.h)
	@mkdir -p $(@D)
	$(call say,PTX)$(NVCC) -x cu -ptx -arch=compute_75 -Iinclude -o $@ $< >/dev/null 2>&1 || : >$@
$(O)/obj/tests/osu/osu_kernel_gpu.o: $(OSU_PTX)
$(O)/obj/tests/osu/osu_kernel_gpu.o: private USER_CPPFLAGS += -DOSU_PTX='"$(OSU_PTX)"'
$(filter $(O)/obj/tests/osu/%,$(PE_TESTS)): $(O)/obj/apps/bucketsort/dev_gpu.o

$(UNITS): $(O)/obj/%: $(O)/obj/%.o $$(call shared,$$*) $(O)/obj/layers.a
	$(call say,LD)$(LINK_TOOL)

# libFuzzer brings a main program; without it one feeds the files it is given.
LIBFUZZER = $(findstring fuzzer,$(SAN))
$(FUZZERS): private LDFLAGS += $(if $(LIBFUZZER),-fsanitize=fuzzer)
# The readers of outside bytes, and what they call: the rest of the library would
# take minutes to compile with libFuzzer's sanitizers.
FUZZ_OBJS = $(filter $(addprefix $(O)/obj/src/,base/% rt/% heap/% sm/sm_socket.o \
    ofi/net/ofi_addr.o ofi/am/ofi_am_parse.o),$(LIB_OBJS))
$(O)/obj/fuzz.a: $(FUZZ_OBJS) $(O)/obj/objects.txt
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $(FUZZ_OBJS)
$(FUZZERS): $(O)/obj/%: $(O)/obj/%.o $(O)/obj/fuzz.a \
    $(if $(LIBFUZZER),,$(O)/obj/tests/fuzz/replay.o)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(HARDENING) $(LDFLAGS) -o $@ \
	    $(filter %.o %.a,$^) $(LIB_LIBS)

$(PE_TESTS): private UP = ../../..
$(BENCHES): private UP = ../..
# They need no new link when the library changes.
$(PE_TESTS) $(BENCHES): $(O)/obj/%: $(O)/obj/%.o $$(call shared,$$*) \
    | $(O)/lib/libshmem.so
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	    $(USER_LIBS) -Wl,-rpath,'$$ORIGIN/$(UP)/lib'

# What libfabric does without the library.
OFI_RAW = $(O)/obj/bench/ofi_raw
$(OFI_RAW).o: private USER_CPPFLAGS += $(PMIX_CFLAGS) $(OFI_CFLAGS)
$(OFI_RAW): private USER_LIBS = $(OFI_LIBS) $(PMIX_LIBS) -lpthread -lm

# Calls of a layer, which the library does not export.
GTL_BENCH = $(addprefix $(O)/obj/bench/,gtl device stream pp_pack)
$(addsuffix .o,$(GTL_BENCH)): private USER_CPPFLAGS += -include config.h -Isrc
$(GTL_BENCH): $(O)/obj/layers.a
$(GTL_BENCH): private USER_LIBS = $(O)/obj/layers.a $(LIB_LIBS) -lm
# The kernels are launched as those of the application.
$(O)/obj/bench/pp_pack.o $(O)/obj/bench/pp_pack.text: bench/pp_kernels.inc

# The stand-ins for CXI, and for providers that ask much of their user, under
# names that libfabric takes for a provider's.
FAKE_CXI   = $(O)/obj/tests/fake/cxi/libcxi-fi.so
FAKE_LOCAL = $(O)/obj/tests/fake/local/liblocal-fi.so
FAKE_OBJS  = $(call obj,$(wildcard tests/fake/cxi/*.c))
LOCAL_OBJS = $(call obj,$(wildcard tests/fake/local/*.c))
$(O)/obj/tests/fake/%.o: private USER_CPPFLAGS += $(OFI_CFLAGS)
$(FAKE_CXI): $(FAKE_OBJS)
$(FAKE_LOCAL): $(LOCAL_OBJS)
# A thread of theirs may outlive libfabric's end, which would unmap its code.
$(FAKE_CXI) $(FAKE_LOCAL):
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete \
	    -o $@ $^ $(OFI_LIBS)
# A launcher's client library.
FAKE_PMI2 = $(O)/obj/tests/fake/pmi2/libpmi2.so.0
$(FAKE_PMI2): $(call obj,tests/fake/pmi2/pmi2.c)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared \
	    -Wl,-soname,$(@F) -o $@ $^
$(call obj,tests/fake/pmi2/pmi2.c): private ALL_CFLAGS += -fPIC -fvisibility=hidden
# Without libfabric, which takes 0.2 s to load, where it is not asked.
CUDA_VMM = $(addprefix $(O)/obj/tests/fake/,cuda_vmm cuda_pool \
           cuda_share)
$(O)/obj/tests/fake/hip_driver $(O)/obj/tests/fake/dev_rules $(CUDA_VMM): \
    private NOT_OFI = %/fabric.o %/work.o
$(FAKES): $(O)/obj/%: $(O)/obj/%.o $$(call shared,$$*) | $(FAKE_CXI) $(FAKE_LOCAL) $(FAKE_PMI2)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ \
	    $(filter-out $(NOT_OFI),$(filter %.o %.a,$^)) -Wl,--as-needed \
	    $(OFI_LIBS) $(if $(filter %.a,$^),$(LIB_LIBS)) -lm

FAKE_DEV  = $(call obj,$(wildcard tests/fake/device/*.c))
RTC_OBJS  = $(call obj,$(wildcard tests/fake/hiprtc/*.c))
HIP_OBJS  = $(call obj,$(wildcard tests/fake/hip/*.c))
GPU_OBJS  = $(FAKE_DEV) $(call obj,$(wildcard tests/fake/cuda/*.c)) \
            $(HIP_OBJS) $(RTC_OBJS) $(FAKE_KERNELS:.so=.o) \
            $(call obj,$(wildcard tests/fake/nvrtc/*.c))
$(GPU_OBJS): private USER_CPPFLAGS += -Isrc -Itests/fake/device
$(FAKE_OBJS) $(LOCAL_OBJS) $(GPU_OBJS): private ALL_CFLAGS += \
    -fPIC -fvisibility=hidden $(IN_STATIC_TLS)
# They interpret kernels.
$(call obj,$(wildcard tests/fake/cuda/ptx*.c)): private ALL_CFLAGS += \
    $(if $(QUICK),-O2)
$(O)/obj/tests/fake/dev_rules.o: private USER_CPPFLAGS += -Itests/fake/device
$(O)/obj/tests/fake/dev_rules: $(FAKE_DEV)
# The stand-in for libcuda is a part of them.
$(CUDA_VMM:=.o): private USER_CPPFLAGS += -Isrc -Itests/fake/device -Itests/fake/cuda
$(CUDA_VMM): $(call obj,$(wildcard tests/fake/cuda/*.c)) $(FAKE_DEV)
$(O)/obj/tests/fake/hip_driver.o $(O)/obj/tests/fake/cxi_ring.o: \
    private USER_CPPFLAGS += $(ALL_CPPFLAGS)
$(O)/obj/tests/fake/hip_driver $(O)/obj/tests/fake/cxi_ring: $(O)/obj/layers.a
$(FAKE_CUDA): $(call obj,$(wildcard tests/fake/cuda/*.c)) $(FAKE_DEV)
$(FAKE_HIP): $(HIP_OBJS) $(FAKE_DEV)
$(FAKE_HIP5): $(filter-out %/hip_newer.o,$(HIP_OBJS)) $(RTC_OBJS) $(FAKE_DEV)
$(FAKE_NVML): $(FAKE_CUDA)
	ln -sf $(<F) $@
$(FAKE_RTC): $(RTC_OBJS)
$(FAKE_NVRTC): $(call obj,$(wildcard tests/fake/nvrtc/*.c))
$(FAKE_KERNELS): %.so: %.o
$(FAKE_GPUS):
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared \
	    -Wl,-soname,$(@F) -o $@ $^ -Wl,--as-needed -lm

# By the directory of tests/fake: tests/run asks for those that a test names.
STAND_INS = cuda hip hip5 hiprtc nvrtc kernels cxi local pmi2
.PHONY: $(STAND_INS:%=stand-in-%)
stand-in-cuda: $(FAKE_CUDA) $(FAKE_NVML)
stand-in-hip: $(FAKE_HIP)
stand-in-hip5: $(FAKE_HIP5)
stand-in-hiprtc: $(FAKE_RTC)
stand-in-nvrtc: $(FAKE_NVRTC)
stand-in-kernels: $(FAKE_KERNELS)
stand-in-cxi: $(FAKE_CXI)
stand-in-local: $(FAKE_LOCAL)
stand-in-pmi2: $(FAKE_PMI2)

# Programs with halos; their kernels are launched as those of the sort.
$(addprefix $(O)/bin/,gol2d faces jacobi2d): $(call obj,$(wildcard apps/halo/*.c) \
    apps/bucketsort/dev_gpu.c)
$(call obj,$(wildcard apps/*2d/main.c) apps/faces/main.c): $(O)/obj/apps/%/main.o: \
    apps/halo/kernels.inc apps/%/kernels.inc
# The library of a tree that has moved, where it is not in lib/ beside bin/.
LIB_BELOW = $(subst $(prefix)/,,$(libdir))
MOVED_LIB = $(if $(filter bin,$(subst $(prefix)/,,$(bindir))),$(if $(filter \
    lib /%,$(LIB_BELOW)),,$$ORIGIN/../$(LIB_BELOW):))
$(APPS): $(O)/bin/%: $$(call obj,$$(wildcard apps/$$*/*.c)) \
    $(O)/lib/libshmem.so config.mak
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(OPENMP) $(LDFLAGS) -o $@ \
	    $(filter %.o,$^) $(USER_LIBS) \
	    -Wl,-rpath,'$$ORIGIN/../lib:$(MOVED_LIB)$(libdir)'

-include $(patsubst %.o,%.d,$(LIB_OBJS) $(call obj,$(wildcard tools/*.c \
    tools/*/*.c tests/*.c tests/*/*.c tests/*/*/*.c bench/*.c apps/*/*.c)))

# ----------------------------------------------- commands on a bare machine ----

# All cores, unless the user said how many.
GO = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
DEPS = @sh scripts/install-deps

demo: ## from nothing: install, configure, build, run the main job
	$(DEPS) build && $(GO) demo-run
check: ## from nothing: install, configure, build, run every test
	$(DEPS) check && $(GO) check-run
check-asan: ## the tests under the address sanitizer, in build/asan
	$(DEPS) check && $(GO) O=build/asan SAN=address check-run
check-tsan: ## the tests under the thread sanitizer, in build/tsan
	$(DEPS) check && $(GO) O=build/tsan SAN=thread check-run
check-ubsan: ## the tests under the undefined-behaviour sanitizer, in build/ubsan
	$(DEPS) check && $(GO) O=build/ubsan SAN=undefined check-run
site: ## from nothing: the documentation as a site, in obj/site/html
	$(DEPS) site && $(GO) site-run
fuzz: ## the readers of outside bytes under libFuzzer, FUZZ_SECONDS in all
	$(DEPS) fuzz && MAKE='$(GO)' sh scripts/fuzz
bench: ## latencies and rates, the machine's own limits beside
	$(DEPS) build && $(GO) bench-run
bench-compare: ## the same beside Debian's Open MPI, with the ratio table
	$(DEPS) compare && $(GO) bench-compare-run

.PHONY: all benches cross-check fuzzers same-flags osu pp-pack tests objects lib-objects lint headers $(SETUP) $(BARE) $(SETUP:%=%-run) install uninstall api-check abi-check
check-run: tests
	@MAKEFLAGS= tests/run -O $(O)
fuzzers fuzz-run: $(FUZZERS)
site-run: $(MAN_TREE)
	@python3 docs/site/build.py $(O) $(O)/obj/site/html && \
	    echo 'open $(O)/obj/site/html/index.html; the search wants a server: python3 -m http.server -d $(O)/obj/site/html'
demo-run: all $(filter %/osu_oshm_put,$(PE_TESTS))
	@sh scripts/demo $(O)
bench-run: tests
	@sh scripts/bench $(O)
bench-compare-run: tests
	@sh scripts/bench -c $(O)

# ------------------------------------------------------------ inspection ----

IN_SCRIPTS = CC='$(CC)' CXX='$(CXX)' \
             CPPFLAGS='$(PMIX_CFLAGS) $(HWLOC_CFLAGS) $(OFI_CFLAGS) $(CPPFLAGS)'

bundle: tests ## a folder to carry to a machine with a GPU, in bundle/
	$(DEPS) bundle && sh scripts/bundle $(O) $(O)/bundle
gpu-check: all ## every test that uses a device, on the GPU of this machine
	@sh scripts/gpu-check --look $(O)
	@$(MAKE) tests && $(IN_SCRIPTS) sh scripts/gpu-check $(O)
lint: ## the tree against its own rules: includes, cycles, sizes, headers
	@$(IN_SCRIPTS) MAKE='$(GO)' sh scripts/lint
cross-check: ## arm64 and riscv64 by emulation, musl by its names, in build/cross
	$(DEPS) cross && MAKE='$(GO)' sh scripts/cross-check
headers: ## every header compiles alone, as C and as C++
	@$(IN_SCRIPTS) sh scripts/headers
api-check: $(LIBS_MADE) ## exported names against the lists of docs/ and the headers
	@$(IN_SCRIPTS) NM='$(NM)' sh scripts/api-check $(O)
	@NM='$(NM)' sh scripts/api-names $(O)
abi-check: ## our words for GPU drivers against vendors' headers and compilers
	@$(IN_SCRIPTS) sh scripts/abi-check

help: ## this list
	@echo 'Targets (outputs below O=DIR, V=1 shows commands):'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1 \2/p' Makefile | \
	    while read -r name text; do printf '  %-14s %s\n' "$$name" "$$text"; done

# --------------------------------------------------------------- install ----

# Directories as seen from the installed files.
SUBST = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@prefix@|$(prefix)|g' \
    -e 's|@exec_prefix@|$(exec_prefix)|g' -e 's|@bindir@|$(bindir)|g' \
    -e 's|@libdir@|$(libdir)|g' -e 's|@includedir@|$(includedir)|g' \
    -e 's|@CC@|$(CC)|g' -e 's|@CXX@|$(CXX)|g' -e 's|@SONAME@|$(SONAME)|g' \
    -e 's|@STATIC_LIBS@|$(strip $(LIB_LIBS))|g' \
    -e 's|@FULL_LIBS@|$(strip $(FULL_LIBS))|g' -e 's|@SAN@|$(SAN)|g' \
    -e 's|@PC_LIBS@|$(strip $(PC_LIBS))|g'

$(O)/lib/pkgconfig/%.pc: cmake/%.pc.in config.mak
	@mkdir -p $(@D)
	$(call say,GEN)$(SUBST) -e '/^prefix=/!s|=$(prefix)\(/.*\)\{0,1\}$$|=$${prefix}\1|' \
	    -e '/^[a-z_]*=/s/ /\\ /g' $< >$@
$(O)/lib/cmake/Sluice/%: cmake/%.in config.mak
	@mkdir -p $(@D)
	$(call say,GEN)$(SUBST) $< >$@

# What goes where; install and uninstall both walk these lists.
INST_BIN = $(sort $(TOOLS) $(APPS))
INST_INC = $(wildcard include/*.h)
INST_MPP = $(wildcard include/mpp/*.h)
INST_PORT = $(wildcard include/compat/*.h)
INST_MAN = $(filter-out man/osu_%,$(sort $(wildcard man/*.[1-9]))) $(MAN_MADE)
# The pages by all their names, for MANPATH=$PWD/obj/share/man and the site: also
# of the programs that are not installed.
TREE_MAN = $(INST_MAN) man/osu_oshm.1
$(MAN_TREE): $(TREE_MAN) scripts/man-links
	@rm -rf $(@D) && mkdir -p $(addprefix $(@D)/man,1 3 7)
	$(call say,GEN)$(foreach n,1 3 7,cp $(filter %.$n,$(TREE_MAN)) \
	    $(@D)/man$n && )sh scripts/man-links $(TREE_MAN) >$@.new && \
	    while read -r link page; do echo ".so $$page" >$(@D)/$$link; done <$@.new && \
	    mv $@.new $@

INST_DOC = $(wildcard README.md LICENSE CHANGELOG.md CONTRIBUTING.md)
# The folders of pages, and what pages show.
DOC_DIRS = docs docs/guide docs/start docs/results/plots docs/results docs/decisions
docs_of  = $(wildcard $1/*.md $1/*.svg)
INST_EX  = $(wildcard examples/*.md examples/*.c examples/*.h)
INST_EXG = $(wildcard examples/shmemg/*.[ch])
D = $(DESTDIR)

install: all ## below DESTDIR and the configured prefix
	@set -e; umask 022; put() { mode=$$1 dir=$$2; shift 2; \
	    [ $$# -gt 0 ] || return 0; \
	    echo "  INSTALL $(D)$$dir"; mkdir -p "$(D)$$dir"; \
	    install -m $$mode "$$@" "$(D)$$dir"; }; \
	put 755 "$(bindir)" $(INST_BIN); \
	$(foreach a,$(notdir $(ALIASES)),ln -sf oshcc "$(D)$(bindir)/$a";) \
	put 644 "$(libdir)" $(O)/lib/$(SONAME) $(O)/lib/libshmem.a; \
	ln -sf $(SONAME) "$(D)$(libdir)/libshmem.so"; \
	put 644 "$(libdir)/sluice" $(ABSENT); \
	put 644 "$(libdir)/pkgconfig" $(PC_FILES); \
	put 644 "$(libdir)/cmake/Sluice" $(CM_FILES); \
	put 644 "$(includedir)" $(INST_INC); \
	put 644 "$(includedir)/mpp" $(INST_MPP); \
	put 644 "$(includedir)/compat" $(INST_PORT); \
	$(foreach n,1 3 7,put 644 "$(mandir)/man$n" $(filter %.$n,$(INST_MAN));) \
	sh scripts/man-links $(INST_MAN) | while read -r link page; do \
	    echo ".so $$page" >"$(D)$(mandir)/$$link"; done; \
	put 644 "$(datadir)/sluice" tools/valgrind.supp; \
	put 644 "$(docdir)" $(INST_DOC); \
	$(foreach d,$(DOC_DIRS),put 644 "$(docdir)/$d" $(call docs_of,$d);) \
	put 644 "$(docdir)/examples" $(INST_EX); \
	put 644 "$(docdir)/examples/shmemg" $(INST_EXG)

uninstall: ## what install put, and nothing else
	@set -e; drop() { dir=$$1; shift; for f do \
	    rm -f "$(D)$$dir/$${f##*/}"; done; }; \
	empty() { rmdir "$(D)$$1" 2>/dev/null || :; }; \
	drop "$(bindir)" $(INST_BIN) $(ALIASES); \
	drop "$(libdir)" $(SONAME) libshmem.so libshmem.a; \
	drop "$(libdir)/sluice" $(ABSENT); empty "$(libdir)/sluice"; \
	drop "$(libdir)/pkgconfig" $(PC_FILES); \
	drop "$(libdir)/cmake/Sluice" $(CM_FILES); \
	drop "$(includedir)" $(INST_INC); \
	drop "$(includedir)/mpp" $(INST_MPP); \
	drop "$(includedir)/compat" $(INST_PORT); \
	$(foreach n,1 3 7,drop "$(mandir)/man$n" $(filter %.$n,$(INST_MAN));) \
	[ ! -d "$(D)$(mandir)" ] || sh scripts/man-links $(INST_MAN) | \
	    (cd "$(D)$(mandir)" && cut -d' ' -f1 | xargs rm -f); \
	drop "$(datadir)/sluice" valgrind.supp; \
	drop "$(docdir)" $(INST_DOC); \
	$(foreach d,$(DOC_DIRS),drop "$(docdir)/$d" $(call docs_of,$d);) \
	drop "$(docdir)/examples" $(INST_EX); \
	drop "$(docdir)/examples/shmemg" $(INST_EXG); \
	empty "$(includedir)/mpp"; empty "$(includedir)/compat"; \
	empty "$(libdir)/cmake/Sluice"; \
	empty "$(libdir)/cmake"; empty "$(libdir)/pkgconfig"; \
	$(foreach d,$(filter docs/%,$(DOC_DIRS)) docs,empty "$(docdir)/$d";) \
	empty "$(docdir)/examples/shmemg"; \
	empty "$(docdir)/examples"; empty "$(docdir)"; empty "$(datadir)/sluice"; \
	echo "  REMOVED from $(D)$(prefix)"

# -------------------------------------------------------------- clean-up ----

clean: ## remove outputs
	rm -rf $(O)/bin $(O)/lib $(O)/obj $(if $(filter .,$(O)),build)
distclean: clean ## and the configuration
	rm -f config.mak config.h config_args.h config.log sluice-*.tar.gz
dist: ## sluice-VERSION.tar.gz of the last commit
	@v=$$(sh ./configure --version | cut -d' ' -f2) && git archive \
	    --prefix="sluice-$$v/" -o "sluice-$$v.tar.gz" HEAD && \
	echo "  DIST    sluice-$$v.tar.gz"
