#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: plot draws the table of one or more runs as PNG and as SVG, and
# says in one line why it cannot.
set -u
. "$(dirname "$0")/bucketsort.inc"
. "$SRC/tests/apps/device.inc"
plot=$SRC/apps/bucketsort/plot

# says STATUS TEXT ARGS...: plot refuses in one line and makes nothing.
says()
{
    want=$1 text=$2
    shift 2
    ran=$((ran + 1))
    "$plot" "$@" >"$out" 2>"$err"
    status=$?
    [ $status -eq "$want" ] || fail "plot $*: exit status $status, not $want"
    [ "$(wc -l <"$err")" -eq 1 ] &&
        grep -q -e "^plot: .*$text.*\[B-E-[A-Z]*\]\$" "$err" ||
        fail "plot $*: said '$(cat "$err")'"
}

run 1 --keys 100 -i 1
cp "$out" one
run 2 --keys 2000 -i 1 --variant all
cp "$out" two
run 3 --keys 2000 -i 1 --variant all
cat two "$out" >both

says 2 'say: plot TABLE' two
says 2 'end its name in .png or .svg' two two.jpg
GNUPLOT=no-such-gnuplot
export GNUPLOT
says 1 'no-such-gnuplot is not there: apt-get install gnuplot-nox' two x.png
unset GNUPLOT
[ "$("$plot" --help | wc -l)" -gt 3 ] || fail 'plot --help'
command -v gnuplot >/dev/null 2>&1 || {
    [ $failures -eq 0 ] || exit 1
    echo 'skipped: gnuplot is not installed: apt-get install gnuplot-nox'
    exit 77
}
says 1 'gone: No such file' gone x.png
says 1 'no row with bandwidths' one x.png
says 1 'no row with bandwidths' /dev/null x.svg
says 1 'No such file' two gone/x.png
[ ! -e x.png ] && [ ! -e x.svg ] || fail 'a picture of nothing'

for table in two both; do
    "$plot" $table $table.png || fail "$table.png"
    "$plot" - $table.svg <$table || fail "$table.svg"
    ran=$((ran + 2))
    [ "$(head -c 8 $table.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] &&
        [ "$(wc -c <$table.png)" -gt 2000 ] || fail "$table.png: no PNG"
    tail -c 12 $table.png | grep -q IEND || fail "$table.png: cut"
    head -c 200 $table.svg | grep -q '<?xml' &&
        tail -n 2 $table.svg | grep -q '^</svg>' || fail "$table.svg: no SVG"
    for name in HA_HI HA_HI_OMP GA_HI GA_HI_Stream GA_HI_OMP GA_ST GA_KI GA_KT; do
        grep -q ">${name}[< ]" $table.svg || fail "$table.svg: no $name"
    done
    if command -v python3 >/dev/null 2>&1; then
        python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' \
            $table.svg 2>why || fail "$table.svg: $(tail -n 1 why)"
    fi
done
grep -q 'P=3' both.svg || fail 'both.svg: not by numbers of PEs'
grep -q 'P=2' two.svg && fail 'two.svg: says the only number of PEs'
finish 'plots of tables'
