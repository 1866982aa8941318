#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: made keys are sorted in each mode by each variant on any number
# of PEs, are those that the seed says, and a wrong exchange is found.
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"

# --- Each mode by each variant ---

# table PES KEYS_PER_PE SCALING SORTS VARIANT...: what the last run printed.
table()
{
    awk -v pes="$1" -v keys="$2" -v scaling="$3" -v sorts="$4" -v rows="$5" '
    function bad(what) { print "line " NR ", " what ": " $0; wrong = 1 }
    /^# device: / { device++; next }
    /^# GA_ST: slots of / { slots++; next }
    function is_time(x) { return x ~ /^[0-9]+\.[0-9][0-9][0-9][0-9]$/ }
    BEGIN { n = split(rows, want, " ") }
    { at = NR - device - slots }
    at == 1 && !/^# bucketsort: ISx keys, / { bad("title") }
    at == 2 && $2 " " $3 " " $4 " " $5 != "variant PEs keys/PE scaling" {
        bad("head")
    }
    at > 2 && at <= 2 + n {
        if (NF != 12) bad("columns")
        if ($1 != want[at - 2]) bad("variant")
        if ($2 != pes || $3 != keys || $4 != scaling) bad("problem")
        if (pes == 1) {                 # nothing was sent
            if ($5 $6 $7 $8 $12 != "-----") bad("bandwidth")
        } else {
            if (!($5 <= $7 && $7 <= $6 && $8 <= 1)) bad("bandwidth")
            if (want[1] == "HA_HI" ? $12 !~ /^[0-9.]+$/ : $12 != "-")
                bad("ratio")
            if (at == 3 && want[1] == "HA_HI" && $12 != 1) bad("ratio")
        }
        if (!is_time($9) || !is_time($10) || !is_time($11)) bad("times")
    }
    at == 3 + n && index($0, "# verified " sorts " time" (sorts > 1 ? "s" : "") ": ") != 1 {
        bad("checks")
    }
    END {
        if (at != 3 + n || device != (rows ~ /GA_/) ||
            slots != (rows ~ /GA_ST/)) { print NR " lines"; wrong = 1 }
        exit wrong
    }' "$out" >"$dir/why" || fail "the table on $1 PEs, $3: $(cat "$dir/why")"
}

for pes in 1 2 4 7; do
    run $pes --mode strong --keys 4k --iterations 2
    table "$pes" $(((4096 + pes - 1) / pes)) strong 6 'HA_HI HA_HI_OMP'
    run $pes --mode weak --keys 1000 -i 1 --variant all --threads 3
    table "$pes" 1000 weak 16 'HA_HI HA_HI_OMP GA_HI GA_HI_Stream GA_HI_OMP GA_ST GA_KI GA_KT'
    run $pes --mode weak_iso --keys 3000 -i 1 --chunk 128
    table "$pes" 3000 weak_iso 4 'HA_HI HA_HI_OMP'
done
run 4 --keys 2000 --variant HA_HI --seed 3
table 4 2000 weak 4 HA_HI
run 4 --keys 2000 --variant HA_HI_OMP -i 1
table 4 2000 weak 2 HA_HI_OMP
run 4 --keys 1 -i 1
table 4 1 weak 4 'HA_HI HA_HI_OMP'

# --- The keys ---

# isx MODE PES MAX SEED KEYS: with hardly a table, PE 0 says how many came.
isx()
{
    count=$("$keys" isx "$2" "$5" "$3" "$4")
    refused 1 "PE 0: $count keys came for its table" "$2" --mode "$1" \
        --keys "$5" --seed "$4" --table-factor 0.001 -i 1 --variant HA_HI
}
isx weak 4 268435456 0 1000
isx weak 4 268435456 0 1000
isx weak 7 268435456 12345 999
isx weak_iso 2 16384 0 5000
isx weak_iso 7 57344 7 2000
[ "$("$keys" isx 4 1000 268435456 0)" != "$("$keys" isx 4 1000 268435456 1)" ] ||
    fail 'the seed makes no difference to this test'

# generate FILE PES SEED DIST
generate()
{
    run "$2" --generate "$1" --type i32 --count 9001 --seed "$3" --dist "$4"
    [ "$(cat "$out")" = "$1: 9001 keys of i32, $4, seed $3" ] ||
        fail "--generate: said '$(cat "$out")'"
}
for dist in uniform gauss zipf sorted reverse equal few extremes; do
    generate one 0 5 $dist
    generate some 4 5 $dist
    cmp one some || fail "$dist keys depend on the PEs"
    [ "$(wc -c <one)" -eq 36004 ] || fail "$dist: $(wc -c <one) bytes"
    "$keys" sort i32 <one >want
    run 0 --verify-file want --type i32 --against one
    case $dist in
        uniform)
            generate other 4 6 $dist
            cmp -s one other && fail 'another seed makes no other keys' ;;
        sorted) cmp want one || fail 'sorted keys are not' ;;
        equal) "$keys" same i32 9001 42 <one || fail 'equal keys are not' ;;
    esac
done

# --- Checks ---

# found WHAT ARGS...: the fault is seen, in an exchange of any round.
found()
{
    what=$1
    shift
    for variant in HA_HI HA_HI_OMP; do
        with "put:$what" 1 refused 1 'B-E-VERIFY' 3 --variant $variant \
            --threads 2 "$@"
    done
}
"$keys" make u64 3000 mixed >in
found 1:flip --keys 500 -i 1
found 4:flip --keys 500 -i 1
found 2:dup --keys 500 -i 1
found 1:none --keys 500 -i 1
found 2:flip --input in --type u64 -o no
found 1:none --input in --type u64 -o no
[ ! -e no ] || fail 'what is wrong has been written'

# Where one key is below the one before it, within a part and between two.
"$keys" make u32 1000 ascending >up
for at in 1 249 250 251 500 999; do
    {
        head -c $((at * 4)) up
        printf '\0\0\0\0'
        tail -c $((3996 - at * 4)) up
    } >down
    [ $at -gt 1 ] || printf '\377' | dd of=down conv=notrunc 2>/dev/null
    refused 1 "down: not sorted: key $at of 1000 .*ORDER" 4 \
        --verify-file down --type u32
done
finish 'made keys'
