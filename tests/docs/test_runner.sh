#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: tests/run NAME builds what the test needs and nothing else, says
# how when that cannot be built, and leaves a build with other flags alone; -l
# lists every run, -n the goals of make.
set -u
fail() { echo "FAIL: $*"; failed=1; }
failed=0

# A tree of its own: a Makefile that notes its goals, two tests in C and one in
# shell.
mkdir -p tree/tests/unit tree/tests/pe tree/tests/st tree/obj tree/bench
cp "$SRC/tests/run" tree/tests/
cat >tree/tests/unit/good.c <<'END'
/* Description: it passes. */
int main(void) { return 0; }
END
sed 's/passes/cannot be built/' tree/tests/unit/good.c >tree/tests/unit/bad.c
sed 's/passes/PEs: 1 3/' tree/tests/unit/good.c >tree/tests/pe/two.c
cat >tree/tests/st/both.sh <<'END'
# Description: it names a program of another suite and a stand-in.
# Needs: more
[ -x "$BUILD/obj/tests/pe/two" ] && : "$BUILD/obj/tests/fake/cuda"
END
cat >tree/Makefile <<'END'
same-flags:
	@test ! -e other
%/bad:
	@echo 'bad.c:1: error: no' >&2; false
%:
	@mkdir -p $(@D); echo $@ >>goals; printf '#!/bin/sh\n' >$@; chmod 755 $@
.PHONY: all more
END
touch tree/obj/flags.txt
run() { (cd tree && T_HIDE=no MAKEFLAGS='' bash tests/run "$@") >said 2>&1; }

run -l || fail "-l: status $?"
[ "$(tr '\n' ' ' <said)" = 'unit/bad unit/good pe/two n 1 pe/two n 3 st/both ' ] ||
    fail "-l: $(cat said)"
run -n st/both
[ "$(tr '\n' ' ' <said)" = './obj/tests/pe/two all more stand-in-cuda ' ] ||
    fail "-n: $(cat said)"
run unit/good || fail "unit/good: $(cat said)"
[ "$(cat tree/goals)" = obj/tests/unit/good ] || fail "built: $(cat tree/goals)"
run st/both || fail "st/both: $(cat said)"
run unit/bad && fail "unit/bad: status 0"
grep -q 'bad.c:1: error: no' said &&
    grep -q 'unit/bad needs cannot be built: .* make O=. ./obj/tests/unit/bad' said ||
    fail "unit/bad: $(cat said)"

rm tree/goals tree/obj/tests/unit/good
touch tree/other
run unit/good && fail 'unit/good: built in spite of other flags'
grep -q 'other settings than make has now' said || fail "other flags: $(cat said)"
[ ! -e tree/goals ] || fail "built: $(cat tree/goals)"

# All: each lane's tests once, the light one in either of two.
rm tree/other tree/tests/unit/bad.c tree/tests/st/both.sh
mkdir tree/tests/docs tree/tests/oshrun tree/bin
printf '#!/bin/sh\n' >tree/bin/oshrun
chmod 755 tree/bin/oshrun
for at in docs/compiles st/computes oshrun/a oshrun/b oshrun/c; do
    printf 'sleep 0.1; echo %s >>"$SRC/ran"\n' $at >tree/tests/$at.sh
done
run unit/good pe/two && run || fail "all: $(cat said)"
[ "$(sort tree/ran | tr '\n' ' ')" = 'docs/compiles oshrun/a oshrun/b oshrun/c st/computes ' ] ||
    fail "all: ran $(cat tree/ran)"
[ "$(tail -n 1 said)" = '8 passed, 0 failed, 0 skipped' ] || fail "all: $(cat said)"

# Every test of this tree has a line.
(cd "$SRC" && for f in tests/unit/*.c tests/pe/*.c tests/st/*.sh; do
    grep -qE '(^|[^a-z])main *\(|^#!' "$f" && echo "$f"
done) | sed 's|^tests/||; s|\.[a-z]*$||' | sort -u >want
(cd "$SRC" && T_HIDE=no tests/run -l unit pe st) | cut -d' ' -f1 | sort -u >listed
comm -23 want listed >lost
[ ! -s lost ] || fail "-l lists no $(tr '\n' ' ' <lost)"
exit $failed
