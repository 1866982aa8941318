#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the hosts that tests are run on are told apart by name, address,
# processes and memory, reach each other but where a link is cut, and leave
# nothing behind, also after a signal.
# Timeout: 60
set -u
. "$(dirname "$0")/hosts.inc"

# Two sets of hosts beside each other do not collide.
hosts up 2 || exit
HOSTS_DIR=$dir/other hosts up 3 || exit
[ "$(hosts list | xargs)" = 'sluice-a sluice-b' ] || fail "$(hosts list)"
first=$(hosts exec b readlink /proc/self/ns/net)
hosts up 2 || fail 'up of what is up'
[ "$(hosts exec b readlink /proc/self/ns/net)" = "$first" ] ||
    fail 'up of what is up makes other hosts'
HOSTS_DIR=$dir/other hosts exec c true || fail 'the third host of the other set'
HOSTS_DIR=$dir/other hosts down || fail 'down of the other set'
[ ! -e "$dir/other" ] || fail 'down leaves its directory'

for h in a b; do
    [ "$(hosts exec $h hostname)" = sluice-$h ] || fail "$h: its host name"
    hosts exec $h sh -c 'echo 1 >/dev/shm/of-$0 && echo 1 >$TMPDIR/of-$0' $h ||
        fail "$h: no memory or TMPDIR"
done
for place in /dev/shm '$TMPDIR'; do
    [ "$(hosts exec b sh -c "ls $place")" = of-b ] ||
        fail "$place is not a host's own"
done
hosts exec a sh -c 'exec sleep 7.7531' &
sleep 0.2
hosts exec b ps axo args | grep -q 'sleep 7\.7531' &&
    fail 'a process of one host is seen on the other'
hosts exec b sh -c 'ls /sys/class/net | xargs' | grep -qx 'eth0 lo' ||
    fail 'other interfaces than eth0 and lo'

# knock FROM ADDRESS: what a connection to a port where nobody listens says.
knock()
{
    hosts exec "$1" timeout 0.7 bash -c "exec 5<>/dev/tcp/$2/9" 2>&1
}
reached() { knock "$@" | grep -q 'Connection refused'; }

reached a sluice-b || fail "a to b: $(knock a sluice-b)"
reached b fd00:77::1 || fail "b to a, IPv6: $(knock b fd00:77::1)"
for way in cut pull; do
    hosts $way b || fail "$way"
    reached a sluice-b && fail "$way: b is still reached"
    reached b sluice-a && fail "$way: b still reaches a"
    hosts mend b || fail "mend after $way"
    reached a sluice-b || fail "mended after $way: $(knock a sluice-b)"
    reached b fd00:77::1 || fail "mended after $way: IPv6"
done
hosts cut x 2>/dev/null && fail 'cut of a host that is none'

# Statuses and time.
hosts exec a sh -c 'exit 7'
[ $? -eq 7 ] || fail 'exec loses the exit status'
hosts run -n 2 sh -c 'exit 5' >"$out" 2>&1
[ $? -eq 5 ] || fail "run loses the exit status: $(cat "$out")"
HOSTS_TIMEOUT=1 hosts exec a sleep 20 2>"$out"
[ $? -eq 124 ] || fail "exec is not bounded: $(cat "$out")"
# Daemons that outlive their launcher for a moment still write to its output.
HOSTS_TIMEOUT=1 hosts run -n 2 sleep 20 >"$dir/bounded" 2>&1
[ $? -eq 124 ] || fail "run is not bounded: $(cat "$dir/bounded")"

# Placement: by blocks, or as the caller says.  The launcher's daemons may have
# something to say, too, when they end, and the launcher adds bytes of its own,
# zeros among them, then: what is no text does not count.
said() { LC_ALL=C tr -cd '\n -~' | sed -n 's/^.*said: //p'; }
hosts run -n 4 sh -c 'echo said: $OMPI_COMM_WORLD_RANK $(hostname)' |
    said | sort >"$out"
[ "$(xargs <"$out")" = '0 sluice-a 1 sluice-a 2 sluice-b 3 sluice-b' ] ||
    fail "placement: $(cat "$out")"
hosts run -n 3 --per-host 2 sh -c 'echo said: $(hostname)' | said | sort |
    uniq -c >"$out"
[ "$(xargs <"$out")" = '2 sluice-a 1 sluice-b' ] ||
    fail "placement of 3 PEs: $(cat "$out")"
V=7 SHMEM_DEBUG=0 hosts run -n 2 -x V sh -c 'echo said: $V$SHMEM_DEBUG' | said >"$out"
[ "$(xargs <"$out")" = '70 70' ] || fail "variables: $(cat "$out")"

hosts down || fail down
hosts down || fail 'down of what is down'
hosts exec a true 2>/dev/null && fail 'a host after down'
none_left "HOSTS_ON=$dir/hosts" down

# A signal on the way up or later; nothing of it stays.
for wait in 0 0.1 0.2 0.8; do
    SLUICE_TEST_MARK=$mark setsid sh "$tool" with 3 sleep 30 &
    pid=$!
    sleep $wait
    kill -TERM $pid
    wait $pid
    none_left "SLUICE_TEST_MARK=$mark" "a signal after $wait s"
    set -- "$dir"/sluice-hosts.*
    [ ! -e "$1" ] || fail "a signal after $wait s leaves $1"
done
# Not even after SIGKILL.
SLUICE_TEST_MARK=$mark sh "$tool" with 2 sh -c ': >"$0/up"; exec sleep 30' "$dir" &
pid=$!
until [ -e "$dir/up" ] || ! kill -0 $pid 2>/dev/null; do
    sleep 0.1
done
kill -KILL $pid
wait $pid
for _ in 1 2 3 4 5 6 7 8 9 10; do
    set -- "$dir"/sluice-hosts.*
    [ -e "$1" ] || break
    sleep 0.1
done
none_left "SLUICE_TEST_MARK=$mark" SIGKILL
set -- "$dir"/sluice-hosts.*
[ ! -e "$1" ] || fail "SIGKILL leaves $1"
hosts with 2 sh -c '[ "$(sh "$0" exec b hostname)" = sluice-b ]' "$tool" ||
    fail with
finish 'hosts: names, networks, memory, links, statuses, nothing left'
