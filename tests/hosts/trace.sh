#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the trace of a job on several hosts has all PEs on one clock, though
# the clocks of the hosts are apart.
# Light: it waits for hosts
# Timeout: 90
set -u
. "$(dirname "$0")/hosts.inc"
command -v jq >/dev/null || skip 'no jq, which reads the traces'
hosts up 2 || exit
compile traced
export SHMEM_TRACE="$dir/t.json"

# The second host has been up for 50000 s more.
cat >"$dir/own_clock" <<'E'
#!/bin/sh
case $(hostname) in
    sluice-b) exec unshare --time --fork --monotonic 50000 "$@" ;;
esac
exec "$@"
E
chmod +x "$dir/own_clock"
unshare --time --fork --monotonic 50000 true 2>/dev/null ||
    skip 'no hosts with clocks of their own: unshare --time fails'

holds()
{
    jq -e "$2" "$dir/t.json" >/dev/null 2>&1 || fail "$1: not so: $2"
}

HOSTS_TIMEOUT=60 hosts run -n 4 -x SHMEM_TRACE -x SHMEM_OFI_PROVIDER='tcp;ofi_rxm' \
    "$dir/own_clock" "$dir/traced" >"$out" 2>&1 </dev/null
status=$?
[ $status -eq 0 ] || fail "status $status: $(head -n 5 "$out")"
grep -q "t.json: [0-9]* events of 4 PEs" "$out" || fail "$(head -n 5 "$out")"
[ "$(echo "$dir"/t.json*)" = "$dir/t.json" ] || fail "left $(echo "$dir"/t.json*)"
holds 'one clock' '[.traceEvents[] | .ts // 0] | max < 60e6'
holds 'both hosts' '[.traceEvents[] | select(.name == "process_name") | .args.name]
    | sort | map(gsub(".*\\(|\\)"; "")) | unique == ["sluice-a", "sluice-b"]'
# Each number was sent before it was seen, up to the uncertainty of the clocks.
holds 'order' '[.traceEvents[] | select(.name == "shmem_long_p")]
    | group_by(.pid) | map(sort_by(.ts)) as $p
    | all(range(20); . as $i | all(range(3); . as $pe
        | $p[$pe][$i].ts < $p[$pe + 1][$i].ts + 1000))'
holds 'arrows' '[.traceEvents[] | select(.ph == "s")] | length >= 60'
finish 'a trace of several hosts'
