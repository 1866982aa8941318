#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: between two hosts with two networks, large transfers go over both
# and small ones over the first; a NIC that is not there, or leads nowhere, is
# left out; a network that is cut and a PE that is killed end the job.
# Timeout: 120
set -u
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
skip()
{
    echo "SKIP: $*"
    exit 77
}
. "$SRC/tests/hosts/links.inc"
links "$@"
trap links_down EXIT
trap 'exit 1' HUP INT TERM
PATH=$(cd "$BUILD/bin" && pwd):$PATH
dir=$links_dir out=$links_dir/out err=$links_dir/err failures=0
large=$BUILD/obj/tests/pe/striped_transfers client=$dir/stripes
unset OSHRUN_LAUNCHER SHMEM_LAUNCHER
export SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_OFI_DOMAIN=e0,e1 \
    SHMEM_OFI_RAILS=2 SHMEM_OFI_RAIL_THRESHOLD=32k SHMEM_NIC_MAP=e0,e1

fail()
{
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

oshcc -O1 -Wall -o "$client" "$SRC/tests/hosts/client/stripes.c" \
    >"$dir/cc.log" 2>&1 || { cat "$dir/cc.log" >&2; exit 1; }

# run PES LOCAL CMD...: the first LOCAL PEs here, the others there.  Leaves
# $status, $out, $err and what went out here over each network, $a and $b.
run()
{
    pes=$1
    export LINKS_HERE="$2"
    shift 2
    a=$(sent e0) b=$(sent e1)
    timeout -k 5 60 oshrun -n "$pes" --ppn "$LINKS_HERE" "$links_on" "$@" \
        >"$out" 2>"$err" </dev/null
    status=$?
    a=$(($(sent e0) - a)) b=$(($(sent e1) - b))
}

# right WHAT: of the last run.
right()
{
    [ $status -eq 0 ] || fail "$1: status $status: $(head -n 5 "$out" "$err")"
}

# quiet WHAT: and it said nothing.
quiet()
{
    right "$1"
    [ ! -s "$err" ] || fail "$1: $(cat "$err")"
}

# share LEAST MOST WHAT: percent of what went out over the second network.
share()
{
    [ $((b * 100)) -ge $(((a + b) * $1)) ] &&
        [ $((b * 100)) -le $(((a + b) * $2)) ] ||
        fail "$3: $a bytes over the first network, $b over the second"
}

run 2 1 "$large"
quiet 'two rails'
run 4 2 "$large"
quiet 'two PEs of a host, whose first rails differ'

run 2 1 "$client" 1000000 50
quiet '1 MB puts'
share 40 60 '1 MB puts'
run 2 1 "$client" 30000 400
quiet 'small puts'
share 0 2 'small puts'
SHMEM_OFI_RAILS=1 run 2 1 "$client" 1000000 50
quiet 'one rail'
share 0 2 'one rail'

SHMEM_TIMEOUT=4 run 2 1 "$client" 4000000 0 stop
quiet 'a stopped PE'
if [ "$(sed -n 2p "$out")" != 'went on' ] || grep -q before "$out"; then
    fail "a stopped PE: $(cat "$out")"
fi

# Only one side has two.
cat >"$dir/uneven" <<'SH'
#!/bin/sh
[ "$SLUICE_JOB_PE" -eq 0 ] || export "$UNEVEN"
exec "$@"
SH
chmod +x "$dir/uneven"
UNEVEN=SHMEM_OFI_RAILS=1 run 2 1 "$dir/uneven" "$client" 1000000 20
quiet 'a PE with one rail'
share 0 2 'a PE with one rail'
UNEVEN=SHMEM_FAULT=ofi.rail:1 run 2 1 "$dir/uneven" "$client" 1000000 20
right 'a rail that does not open'
share 0 2 'a rail that does not open'
grep -Eq 'PE 1 .*: SHMEM_OFI_RAILS: provider tcp;ofi_rxm on e[01] does not work on e[01]: fi_fabric: No such device; this PE goes on without that NIC \[S-W-NET\]' \
    "$err" || fail "a rail that does not open: $(cat "$err")"

# A network of the same name on each host that does not join them.
for host in '' there; do
    $host ip link add x0 type veth peer name x1 &&
        $host ip addr add 10.77.9.1/24 dev x0 && $host ip link set x0 up &&
        $host ip link set x1 up
done
SHMEM_OFI_DOMAIN=e0,x0 SHMEM_NIC_MAP=e0 run 2 1 "$client" 1000000 15 slow
right 'a NIC that leads nowhere'
grep -Eq 'SHMEM_OFI_RAILS: [ex]0 does not reach PE [01] \(host [^ ]*\): [^;]*; what is large goes there without that NIC \[S-W-NET\]' \
    "$err" || fail "a NIC that leads nowhere: $(cat "$err")"

# Its end is seen, or not, by the others first.
run 2 1 "$client" 4000000 1000 kill
[ $status -ne 0 ] && [ $status -ne 124 ] ||
    fail "a killed PE: status $status: $(cat "$err")"
grep -q 'PE 1 .*killed by signal 9' "$err" ||
    fail "a killed PE: $(cat "$err")"

# The second network is cut, the first goes on.
: >"$out"
(
    until grep -q go "$out"; do
        sleep 0.05
    done 2>/dev/null
    sleep 0.2
    there ip link set e1 down
) &
SHMEM_STALL=1 SHMEM_TIMEOUT=2 run 2 1 "$client" 4000000 1000 forever
[ $status -eq 1 ] || fail "a cut network: status $status: $(cat "$err")"
grep -Eq 'PE 0 .*: shmem_quiet: no answer from .*; provider tcp;ofi_rxm on e0, something on rail e1 has not ended \[S-E-NET\]' "$err" ||
    fail "a cut network: $(cat "$err")"
kill $! 2>/dev/null             # a job that failed before has no go
wait $!

[ $failures -eq 0 ] && echo 'ok: two networks between two hosts'
[ $failures -eq 0 ]
