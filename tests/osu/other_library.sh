#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the programs of tests/osu and bench that make bench-compare
# uses link with a library that has no extensions of ours, and those run.
# Timeout: 120
set -u
sanitizer=$("$BUILD/bin/oshcc" --showme:compile | grep -o -e '-fsanitize=[a-z,]*')

# A compiler of another library: the standard's header, this library.
mkdir include
cp -R "$SRC"/include/* include/
rm -f include/shmemx*.h
cat >cc <<END
#!/bin/sh
exec ${CC:-cc} $sanitizer -I"$PWD/include" "\$@" -L"$BUILD/lib" -lshmem -lm \\
    -Wl,-rpath,"$BUILD/lib"
END
chmod 755 cc
OSU_CFLAGS=-w sh "$SRC/scripts/osu-build" "$PWD/cc" "$PWD/peer" \
    osu_oshm_put osu_oshm_reduce >said 2>&1 || { head -n 20 said; exit 1; }
"$BUILD/bin/oshrun" -n 2 peer/osu_oshm_put heap -m 8:8 -i 10 -x 1 >said 2>&1 ||
    { cat said; exit 1; }
grep -q '^8 ' said || { cat said; exit 1; }

for program in init_fini gups_host; do
    ./cc -std=gnu11 -O2 -w -o peer/$program "$SRC/bench/$program.c" \
        >said 2>&1 || { head -n 20 said; exit 1; }
    "$BUILD/bin/oshrun" -n 2 peer/$program >said 2>&1 || { cat said; exit 1; }
done
[ "$(grep -c '^gups_host .* 0$' said)" -eq 2 ] || { cat said; exit 1; }
