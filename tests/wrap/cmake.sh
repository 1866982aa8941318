#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: CMake takes oshcc and oshc++ as its compilers, and finds the
# package Sluice in a build tree and in a prefix with a space, moved or not.
# Timeout: 120
set -u
. "$(dirname "$0")/wrap.inc"
have cmake || skip 'no cmake'
cxx=$("$bin/oshc++" --showme:command)
have "${cxx%% *}" || skip 'no C++ compiler'
generate='Unix Makefiles'

# --- As the compiler. ---
mkdir plain
cp "$hello" plain/hello.c
cp "$hello" plain/hello.cc
cat >plain/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(plain C CXX)
include(CheckFunctionExists)
check_function_exists(shmem_init HAVE_INIT)
check_function_exists(shmem_nosuch HAVE_NOSUCH)
if(NOT HAVE_INIT OR HAVE_NOSUCH)
    message(FATAL_ERROR "functions: '${HAVE_INIT}' '${HAVE_NOSUCH}'")
endif()
add_executable(c hello.c)
add_executable(cxx hello.cc)
add_library(so SHARED hello.c)
END
works 'CMake with oshcc' cmake -G "$generate" -S plain -B 'p l' \
    -DCMAKE_C_COMPILER="$bin/oshcc" -DCMAKE_CXX_COMPILER="$bin/oshc++" &&
    works 'its build' cmake --build 'p l' && greets 3 'p l/c' 'CMake, C' &&
    greets 2 'p l/cxx' 'CMake, C++'
works 'CC in PATH' env PATH="$bin:$PATH" CC=oshcc CXX=oshc++ cmake \
    -G "$generate" -S plain -B env &&
    grep -q 'CMAKE_C_COMPILER:[A-Z]*=.*/oshcc$' env/CMakeCache.txt ||
    fail 'CC=oshcc is not what CMake takes'

if [ -n "$sanitizer" ]; then
    echo 'skip: the package is tested without a sanitizer'
    finish 'CMake with oshcc'
fi

# --- As a package. ---
mkdir user
cp "$hello" user/hello.c
cat >user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(Sluice 0.1 REQUIRED)
foreach(kind shmem shmem_static)
    add_executable(${kind} hello.c)
    target_link_libraries(${kind} Sluice::${kind})
endforeach()
add_executable(variables hello.c)
target_include_directories(variables PRIVATE ${OPENSHMEM_INCLUDE_DIRS})
target_link_libraries(variables ${OPENSHMEM_LIBRARIES})
foreach(file OPENSHMEM_C_COMPILER OPENSHMEM_CXX_COMPILER OSHRUN_EXECUTABLE)
    if(NOT EXISTS "${${file}}")
        message(FATAL_ERROR "${file}: no ${${file}}")
    endif()
endforeach()
install(TARGETS shmem DESTINATION .)
END
# package DIR: found and used from there.
package()
{
    rm -rf build
    works "package in $1" cmake -G "$generate" -S user -B build \
        -DCMAKE_PREFIX_PATH="$1" &&
        works "its build, $1" cmake --build build || return
    greets 2 build/shmem "package in $1"
    greets 2 build/variables "variables of the package in $1"
    greets 2 build/shmem_static "static library of the package in $1"
    ldd build/shmem >"$out"
    grep -q "=> $1/lib/libshmem.so.1 " "$out" ||
        fail "package in $1: $(grep shmem "$out")"
    ! ldd build/shmem_static | grep -q libshmem ||
        fail "package in $1: the static target is shared"
}
package "$(readlink -f "$BUILD")"
installs "$PWD/my prefix"
package "$PWD/my prefix"
mv 'my prefix' moved
package "$PWD/moved"
sed 's/Sluice 0.1/Sluice 99/' user/CMakeLists.txt >CMakeLists.txt
try cmake -G "$generate" -S . -B newer -DCMAKE_PREFIX_PATH="$PWD/moved"
[ $status -ne 0 ] && grep -q 'version: 0\.' "$err" ||
    fail "a newer version is found: $(cat "$err")"
finish 'CMake'
