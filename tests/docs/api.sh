#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the library exports and the headers declare the functions of
# OpenSHMEM 1.6 and the listed extensions, each with its twin, and nothing else;
# what the library defines beside them is found, and a call without a page.
set -u
: "${SRC:?the source directory}" "${BUILD:?the build directory}"
sh "$SRC/scripts/api-check" "$BUILD" >found 2>&1 || { cat found; exit 1; }
# The check itself notices: a name too many in its list, and one too few.
mkdir -p tree/scripts tree/docs
cp "$SRC/scripts/api-check" tree/scripts/
cp -R "$SRC/include" tree/
sed '/^shmem_barrier_all$/d; s/^shmem_quiet$/&_all/' \
    "$SRC/docs/openshmem-1.6.txt" >tree/docs/openshmem-1.6.txt
cp "$SRC/docs/extensions.txt" tree/docs/
cp "$SRC/scripts/man-links" tree/scripts/
cp -R "$SRC/man" tree/man
rm tree/man/shmem_malloc.3
if sh tree/scripts/api-check "$BUILD" >found 2>&1; then
    echo 'FAIL: wrong lists pass'
    exit 1
fi
grep -q 'shmem_calloc: in no manual page' found || {
    echo 'FAIL: a call without a page passes'
    exit 1
}
# A search for a public name leads to its definition, also where a macro pastes
# the name.
sh "$SRC/scripts/api-names" "$BUILD" >found_names 2>&1 ||
    { cat found_names; exit 1; }
mkdir -p tree/src
cp -R "$SRC/src/api" tree/src/
cp "$SRC/scripts/api-names" tree/scripts/
sed 's/shmem_TYPENAME_put_signal_nbi//' "$SRC/src/api/api_signal.c" \
    >tree/src/api/api_signal.c
if sh tree/scripts/api-names "$BUILD" >found_names 2>&1; then
    echo 'FAIL: a name that no comment holds passes'
    exit 1
fi
grep -q 'api_signal.c.*shmem_int_put_signal_nbi\|api_signal.c.*shmem_TYPENAME_put_signal_nbi' \
    found_names || { cat found_names; exit 1; }
# A definition that no header declares is hidden in the library.
mkdir -p build/lib build/obj/src/api
cp -RP "$BUILD"/lib/libshmem* build/lib/
cp "$BUILD"/obj/src/api/*.o build/obj/src/api/
echo 'void shmem_forgotten(void); void shmem_forgotten(void) { }' >forgotten.c
"${CC:-cc}" -fvisibility=hidden -c forgotten.c -o build/obj/src/api/forgotten.o
if sh "$SRC/scripts/api-check" "$PWD/build" >said 2>&1; then
    echo 'FAIL: a definition that is not exported passes'
    exit 1
fi
grep -qw shmem_forgotten said || { cat said; exit 1; }
for name in pshmem_barrier_all shmem_quiet pshmem_quiet shmem_quiet_all; do
    grep -qw "$name" found || { echo "FAIL: $name is not found"; exit 1; }
done
