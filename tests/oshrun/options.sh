#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: every option works in each of its spellings, and a wrong one
# gives one line and status 2.
set -u
. "$(dirname "$0")/oshrun.inc"

for form in '-n 3' '-np 3' '--np 3' '-c 3' '-n3' '--np=3'; do
    # shellcheck disable=SC2086
    try $form echo pe
    expect 0 "$form"
    [ "$(grep -c pe "$out")" -eq 3 ] || fail "$form: $(wc -l <"$out") PEs"
done
try echo pe
[ "$(wc -l <"$out")" -eq 1 ] || fail 'one PE is the default'
try -n 2 -- echo -n
[ "$(cat "$out")" = '' ] || fail '-- ends the options'

try --ppn 2 -n 4 sh -c 'echo "$SHMEM_PPN"'
[ "$(sort -u "$out")" = 2 ] || fail "--ppn 2: SHMEM_PPN is $(sort -u "$out")"
try -H localhost,127.0.0.1 --ppn 2 sh -c 'echo "$SHMEM_PPN"'
[ "$(sort "$out" | uniq -c | tr -s ' ')" = ' 4 2' ] ||
    fail "--ppn 2 on two names of this host: $(cat "$out")"
A='kept as it is' try -n 1 -x A -x 'B=x = "y"' -x C= sh -c 'echo "$A|$B|$C|${C-unset}"'
[ "$(cat "$out")" = 'kept as it is|x = "y"||' ] || fail "-x: $(cat "$out")"
try -n 1 sh -c 'printf "<%s>" "$@"' sh 'a b' '' '*' '"'
[ "$(cat "$out")" = '<a b><><*><">' ] || fail "arguments: $(cat "$out")"
try --oversubscribe --bind-to none -n 1 true
expect 0 '--oversubscribe --bind-to none' && silent '--oversubscribe'

try -n 2 --bind-to core grep Cpus_allowed_list /proc/self/status
expect 0 '--bind-to core'
grep -q 'list:.[0-9]*\([,-][0-9]*\)\{0,1\}$' "$out" ||
    fail "--bind-to core: $(cat "$out")"
if [ "$(nproc)" -gt 1 ] && [ "$(sort -u "$out" | wc -l)" -ne 2 ]; then
    grep -q 'siblings.*: 2' /proc/cpuinfo || fail 'two PEs share a core'
fi

# Domains: each PE has one, and the lines say which.
for domain in core socket numa; do
    try -n 2 --bind-to "$domain" --report-bindings \
        sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status
    expect 0 "--bind-to $domain"
    for cpus in $(cat "$out"); do
        grep -qx "oshrun: PE [01] on .*: bound to processors $cpus" "$err" ||
            fail "--report-bindings $domain: no $cpus: $(cat "$err")"
    done
    [ "$(wc -l <"$err")" -eq 2 ] || fail "--report-bindings: $(cat "$err")"
done
try -n 1 --report-bindings true
grep -q 'PE 0 on .*: not bound; may use processors [0-9]' "$err" ||
    fail "--report-bindings, unbound: $(cat "$err")"

mkdir "$dir/sub"
cat >"$dir/sub/own" <<'S'
#!/bin/sh
echo "$PWD $(pwd -P)"
S
chmod +x "$dir/sub/own"
try -n 2 --wdir "$dir/sub" ./own
expect 0 --wdir
[ "$(sort -u "$out" | wc -w)" -eq 2 ] && grep -q '/sub .*/sub$' "$out" ||
    fail "--wdir: $(cat "$out")"

# A colon that is an argument.
try -n 1 -- echo : a
[ "$(cat "$out")" = ': a' ] || fail "colon behind --: $(cat "$out")"
try -n 1 echo :
[ "$(cat "$out")" = ':' ] || fail "colon at the end: $(cat "$out")"

try -v -n 2 true
expect 0 -v
grep -q 'starting 2 PEs of .*true on ' "$err" || fail "-v: $(cat "$err")"
try --help
expect 0 --help
grep -q -- '--hostfile' "$out" || fail '--help names no option'
try --version
expect 0 --version
grep -q '^oshrun (Sluice) [0-9]' "$out" || fail "--version: $(cat "$out")"

# Other launchers get them in their words.
# handed LAUNCHER TEXT OPTION...: they appear on its command line.
handed()
{
    launcher=$1 text=$2
    shift 2
    rm -rf "$dir/path"
    mkdir "$dir/path"
    printf '#!/bin/sh\necho "$*"\n' >"$dir/path/$launcher"
    chmod +x "$dir/path/$launcher"
    job=-uSLURM_JOB_ID
    [ "$launcher" != srun ] || job=SLURM_JOB_ID=1
    timeout 10 env "$job" PATH="$dir/path:/usr/bin:/bin" \
        "$BUILD/bin/oshrun" -n 2 -H "${hosts:-elsewhere}" "$@" prog >"$out" 2>"$err"
    grep -q -- "$text" "$out" || fail "$launcher, $*: $(cat "$out" "$err")"
}
handed srun '--cpu-bind=verbose,sockets' --bind-to socket --report-bindings
handed srun '--cpu-bind=ldoms' --bind-to numa
handed srun '--chdir=/a b' --wdir '/a b'
handed srun '--output=log.%t' --output-filename log
handed srun '--export=ALL --input=0 -n 2 -N 1 -w elsewhere --ntasks-per-node=2 '
handed srun '--cpu-bind=verbose ' --report-bindings
handed srun '--cpu-bind=none ' --bind-to none
export SLURM_CPUS_PER_TASK=7 SLURM_NTASKS=4
handed srun ' --cpus-per-task=7 ' -n 4
handed srun ' -n 5 -N 1 -w elsewhere --ntasks-per-node=5 --kill-on' -n 5
SRUN_CPUS_PER_TASK=3 handed srun ' --ntasks-per-node=2 --kill-on'
SLURM_JOB_NUM_NODES=2 handed srun ' --ntasks-per-node=4 --kill-on' -n 4 --ppn 4
unset SLURM_CPUS_PER_TASK SLURM_NTASKS
hosts=elsewhere:2,far:1,far:1
handed srun ' -n 4 -N 2 -w elsewhere,far --ntasks-per-node=2 ' -n 4
handed prterun '--host elsewhere:2,far:2 ' -n 4
hosts=elsewhere:1,far:3
rm "$dir/path"/*
printf '#!/bin/sh\n' >"$dir/path/srun"
chmod +x "$dir/path/srun"
PATH=$dir/path:$PATH SLURM_JOB_ID=1 try -H $hosts true
expect 2 'srun and unequal slots'
grep -q 'elsewhere has 1 slots and far 3, but srun gives each host the same' "$err" ||
    fail "unequal slots: $(cat "$err")"
hosts=
handed prterun '--bind-to package' --bind-to socket
handed prterun '--output file=log' --output-filename log
handed prterun '--wdir /tmp' --wdir /tmp
handed mpirun '--bind-to none --report-bindings' --report-bindings
command -v srun >/dev/null || command -v prterun >/dev/null ||
    handed mpirun '--bind-to socket' --bind-to socket
# A launcher that runs oshrun is no loop.
OSHRUN_LAUNCHER='env oshrun' try -n 2 echo once
expect 0 'a launcher that runs oshrun'
[ "$(grep -c once "$out")" -eq 2 ] || fail "a launcher that runs oshrun: $(cat "$out" "$err")"
try -n 2 -H elsewhere.invalid --debug gdb true
expect 2 '--debug elsewhere' && said '--debug works on this host only, and host'

# refused TEXT ARGS...
refused()
{
    text=$1
    shift
    try "$@"
    expect 2 "$*" && said "$text"
    [ ! -s "$out" ] || fail "$*: printed $(head -n 1 "$out")"
}
refused 'unknown option --colour' --colour true
refused 'unknown option -q' -q true
refused 'option -n needs a value' -n
refused 'no program' -n 2
refused 'no program'
refused '-n 0: a number' -n 0 true
refused '-n 2x: a number' -n 2x true
refused '-np -1: a number' -np -1 true
refused '--ppn two' --ppn two true
refused '--timeout -1' --timeout -1 true
refused '--timeout nan' --timeout nan true
refused '--bind-to board: core, socket, numa or none' --bind-to board true
refused 'unknown option --map-by: --ppn sets' --map-by node true
refused 'unknown option --export=ALL: -x NAME' --export=ALL true
refused 'unknown option -l: --tag-output' -l true
refused "':' before -n: a job has one program" true : -n 2 true
refused '--debug lldb: gdb or valgrind' --debug lldb true
refused "the PE after ':' is 'x'" --debug gdb:x true
refused '--debug gdb:2: the job has PEs 0 to 1' -n 2 --debug gdb:2 true
refused '--wdir /nowhere: No such file' --wdir /nowhere true
refused "variable's name" -x =1 true
refused 'unknown option --a?b' '--a
b' true
finish 'options: spellings, values, refusals'
