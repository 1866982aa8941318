#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: scripts/plot draws the JSON of each program as SVG and PNG, alone
# and beside another run, and says in one line why it cannot.
# Needs: osu pp-pack
set -u
. "$(dirname "$0")/bucketsort.inc"
plot=$SRC/scripts/plot
osu=$BUILD/obj/tests/osu

# says STATUS TEXT ARGS...: plot refuses in one line and makes nothing.
says()
{
    want=$1 text=$2
    shift 2
    ran=$((ran + 1))
    "$plot" "$@" >"$out" 2>"$err"
    status=$?
    [ $status -eq "$want" ] || fail "plot $*: exit status $status, not $want"
    [ "$(wc -l <"$err")" -eq 1 ] && grep -q -e "^plot: .*$text" "$err" ||
        fail "plot $*: said '$(cat "$err")'"
}

# draws NAME WORDS FILE...: as both formats, and the words stand in the SVG.
draws()
{
    name=$1 words=$2
    shift 2
    ran=$((ran + 1))
    "$plot" "$name.svg" "$@" && "$plot" "$name.png" "$@" || fail "$name"
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' \
        "$name.svg" 2>why || fail "$name.svg: $(tail -n 1 why)"
    [ "$(head -c 8 "$name.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] &&
        [ "$(wc -c <"$name.png")" -gt 2000 ] || fail "$name.png: no PNG"
    for word in $words; do
        grep -qE "[> ]${word}[< ]" "$name.svg" || fail "$name.svg: no $word"
    done
}

# json NAME PES PROGRAM...: what it prints is in NAME.json.
json()
{
    name=$1 n=$2
    shift 2
    timeout 120 "$BUILD/bin/oshrun" -n "$n" "$@" --json >"$name.json" 2>"$err" ||
        fail "$name: $(cat "$err")"
    jq -e 'has("program") and has("version") and has("pes") and (.rows | length > 0)' \
        "$name.json" >why 2>&1 || fail "$name: $(head -c 300 "$name.json")"
}

export SHMEM_DEVICE=software
json one 1 "$BUILD/bin/bucketsort" --keys 100 -i 1
json two 2 "$BUILD/bin/bucketsort" --keys 2000 -i 1 --variant all
json three 3 "$BUILD/bin/bucketsort" --keys 2000 -i 1 --variant all
json gol 2 "$BUILD/bin/gol2d" -n 32 -g 5 -t 2 -m host,send
json faces 2 "$BUILD/bin/faces" -e 1x1x1 -n 2 -l 1x1x3 -t 2 -m host,put-signal
json jacobi 2 "$BUILD/bin/jacobi2d" -n 32x16 -i 5 -t 2 -m host,part
json pack 2 "$BUILD/obj/bench/pp_pack" -s 8:64 -i 5 -w 1 -t 2 -m host,send
json put 2 "$osu/osu_oshm_put" heap -m 8:64 -i 5 -x 0
json get 2 "$osu/osu_oshm_get" heap -m 8:64 -i 5 -x 0
json rate 2 "$osu/osu_oshm_put_mr" heap -m 8:64 -i 5 -x 0

says 2 'say: plot OUT.svg FILE.json' x.svg
says 2 'end its name in .svg or .png' x.jpg two.json
says 1 'gone.json: No such file' x.svg gone.json
says 1 'is not what a program prints with --json' x.svg "$err"
echo '{"rows":[{"a":1}],"program":"x"}' >other.json
says 1 'this program draws none of x' x.svg other.json
says 1 'the files are of different kinds' x.svg two.json put.json
GNUPLOT=no-such-gnuplot says 1 'no-such-gnuplot is not there: apt-get install gnuplot-nox' x.svg two.json
[ "$("$plot" --help | wc -l)" -gt 3 ] || fail 'plot --help'
command -v gnuplot >/dev/null 2>&1 || {
    [ $failures -eq 0 ] || exit 1
    echo 'skipped: gnuplot is not installed: apt-get install gnuplot-nox'
    exit 77
}
says 1 'has no row with GB/s' x.png one.json
says 1 'No such file' gone/x.png two.json
[ ! -e x.png ] && [ ! -e x.svg ] || fail 'a picture of nothing'

variants='HA_HI HA_HI_OMP GA_HI GA_HI_Stream GA_HI_OMP GA_ST GA_KI GA_KT'
draws sort "$variants" two.json
draws both "$variants 2 3" two.json three.json
draws gol 'host send' gol.json
draws faces 'host put-signal' faces.json
draws jacobi 'host part' jacobi.json
draws pack 'host send 8 64' pack.json
draws osu 'put get 8 64' put.json get.json
draws rate 'osu_oshm_put_mr' rate.json
"$plot" stdin.svg - <rate.json && cmp -s stdin.svg rate.svg || fail 'standard input'
finish 'plots of all programs'
