#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# oshcc - compile and link OpenSHMEM programs.  man oshcc has the options.
#
# Its other names are links to it; the name it is called by chooses the
# language.  It adds words for the headers and the library to the user's and
# becomes the compiler.  The user's words are never split or joined.
set -uf

prefix='@prefix@'
bindir='@bindir@'
libdir='@libdir@'
includedir='@includedir@'
static_libs='@STATIC_LIBS@'
full_libs='@FULL_LIBS@'
sanitizer='@SAN@'

me=${0##*/}

fail() { # code, text
    # One line, whatever the words hold.
    printf '%s: %s [S-E-%s]' "$me" "$2" "$1" | tr '[:cntrl:]' '?' >&2
    echo >&2
    exit 1
}

usage() {
    cat <<USAGE
Usage: $me [OPTION of the compiler or of these]... FILE...
Compiles and links OpenSHMEM programs, as the compiler would.

  --showme            print the command in place of running it; also -showme
                      --show -show
  --showme:PART       print a part of it: command compile link incdirs libdirs
                      libs libdirs_static libs_static version help
  -showlibs           the same as --showme:link
  -static-shmem       link libshmem.a; what it needs stays shared
  -static             link libshmem.a, and everything else static too
  --no-rpath          do not record where libshmem.so lies
  --help              this text

Compiler: $compiler
  another: the first of $variables
  that is set, as in ${variables%% *}='ccache clang' or ${variables%% *}=nvcc
USAGE
}

# ------------------------------------------------------------ compiler ----

case $me in
    *fort*) fail FORTRAN "OpenSHMEM 1.6 has no Fortran interface; bind the C \
routines with iso_c_binding and link with what oshcc --showme:link prints" ;;
    *++* | *cxx* | *CC*)
        variables='OSH_CXX SHMEM_CXX SMA_CXX OSHMEM_CXX'
        compiler='@CXX@' language=C++ ;;
    *)
        variables='OSH_CC SHMEM_CC SMA_CC OSHMEM_CC'
        compiler='@CC@' language=C ;;
esac
: "${compiler:=c++}"

chosen='configure'
for variable in $variables; do
    eval "word=\${$variable-}"
    if [ -n "$word" ]; then
        compiler=$word chosen=$variable
        break
    fi
done

# nvcc, also behind ccache or below a directory, does not know -Wl and the
# like.
nvcc=no
for word in $compiler; do
    case ${word##*/} in nvcc | nvcc-[0-9]*) nvcc=yes ;; esac
done

# ------------------------------------------------------------ location ----

# The file itself, whatever links lead to it.
case $0 in
    */*) self=$(readlink -f -- "$0") ;;
    *) self=$(readlink -f -- "$(command -v -- "$0")") ;;
esac
here=${self%/*}

usable() { # libdir, includedir
    [ -e "$1/libshmem.so" ] || [ -e "$1/libshmem.a" ] || return 1
    [ -e "$2/shmem.h" ] && libdir=$1 includedir=$2
}

# DIR moved from prefix to root.
moved() {
    case $1 in
        "$prefix"/*) printf %s "$root${1#"$prefix"}" ;;
        *) printf %s "$1" ;;
    esac
}

# An installed wrapper uses the directories as configured, for they may be
# links that outlive an upgrade.  A prefix that was moved or staged keeps its
# shape; a build tree has bin, lib and include side by side.
find_library() {
    # shellcheck disable=SC3013  # -ef: every sh of Linux has it
    if [ "$self" -ef "$bindir/oshcc" ]; then
        usable "$libdir" "$includedir" && return
    fi
    case $bindir in
        "$prefix"/*)
            root=${here%"${bindir#"$prefix"}"}
            if [ "$root" != "$here" ]; then
                usable "$(moved "$libdir")" "$(moved "$includedir")" && return
            fi ;;
    esac
    root=${here%/*}
    usable "$root/lib" "$root/include" || usable "$libdir" "$includedir" ||
        fail PREFIX "no libshmem and shmem.h below $root or in $libdir and \
$includedir; keep bin, lib and include together, or install again"
}

# --------------------------------------------------------------- words ----

# Says in kind what a word of the command line is, and in value whether the
# next one belongs to it, which may then look like any option.
value=no language_named=no
classify() {
    if [ $value = yes ]; then
        value=no kind=flag
        return
    fi
    case $1 in
        -show | -showme | --show | --showme | -showlibs | --showlibs | \
            -show:* | -showme:* | --show:* | --showme:*)
            kind=show ;;
        -c | -S | -E | -M | -MM | -r | -fsyntax-only | --compile | \
            --assemble | --preprocess | --dependencies | --user-dependencies)
            kind=nolink ;;
        -static | --static | -static-pie) kind=full ;;
        -static-shmem | --no-rpath | --help) kind=own ;;
        -Wl,* | -pthread) kind=linker ;;
        -) kind=input ;;
        -x) kind=flag value=yes language_named=yes ;;
        -o | -I | -L | -l | -D | -U | -A | -B | -F | -G | -T | -e | -u | \
            -z | -include | -imacros | -isystem | -idirafter | -iquote | \
            -iprefix | -iwithprefix | -iwithprefixbefore | -isysroot | \
            -imultilib | -MF | -MT | -MQ | -Xlinker | -Xassembler | \
            -Xpreprocessor | -Xclang | -mllvm | -target | --param | \
            -aux-info | -dumpbase | -dumpbase-ext | -dumpdir | -wrapper)
            kind=flag value=yes ;;
        -x*) kind=flag language_named=yes ;;
        -*) kind=flag
            [ $nvcc = no ] || classify_nvcc "$1" ;;
        *.cu | *.hip) kind=input; need_compiler "$1" ;;
        *) kind=input ;;
    esac
}

# For kernels of a GPU, whose language no option has named: any other compiler
# takes them for linker scripts.
need_compiler() {
    case $language_named,$nvcc,$compiler in
        yes,* | no,yes,* | *clang* | *hipcc* | *amdclang* | *nvc*) return ;;
    esac
    case $1 in *.cu) want=nvcc ;; *) want=hipcc ;; esac
    fail KERNELS "$1 has kernels of a GPU, and $compiler compiles none; set \
${variables%% *}=$want"
}

classify_nvcc() {
    case $1 in
        -dc | -dw | -dlink | -ptx | -cubin | -fatbin | -lib | --device-c | \
            --device-w | --device-link | --ptx | --cubin | --fatbin | --lib)
            kind=nolink ;;
        -Xcompiler | -Xptxas | -Xnvlink | -Xfatbin | -Xcudafe | -Xarchive | \
            -arch | -code | -gencode | -ccbin | -odir | -std | -cudart | \
            -rdc | -maxrregcount | --compiler-options | --linker-options)
            value=yes ;;
    esac
}

# nvcc hands the words of -Xlinker to a shell.
for_shell() {
    case $1 in
        *[!A-Za-z0-9_@%+=:,./-]*) printf '"%s"' "$1" ;;
        *) printf %s "$1" ;;
    esac
}

# A word as one would type it.
typed() {
    case $1 in
        '' | *[!A-Za-z0-9_@%+=:,./-]*)
            printf "'"
            printf %s "$1" | sed "s/'/'\\\\''/g"
            printf "'" ;;
        *) printf %s "$1" ;;
    esac
}

print() {
    between=
    for word do
        printf %s "$between"
        typed "$word"
        between=' '
    done
    echo
}

show() { # text
    printf '%s\n' "$1" 2>/dev/null ||
        fail OUTPUT 'cannot write standard output'
    exit 0
}

# Those of the words that begin so, without it.
pick() { # beginning, word...
    begin=$1 between=
    shift
    for word do
        case $word in
            "$begin"*)
                printf %s "$between"
                typed "${word#"$begin"}"
                between=' ' ;;
        esac
    done
    echo
}

# -------------------------------------------------------------- static ----

# Whether a program that calls the function links with the libraries, as the
# command would link it.
probe() { # function, libraries, command...
    cat >"$dir/t.c" <<C
#ifdef __cplusplus
extern "C"
#endif
int $1(void);
int main(void) { return $1(); }
C
    libs=$2 keep=no
    shift 2
    for word do
        shift
        case $keep$word in
            yes* | no-static* | no--static | no-[BLm]* | no-isysroot | \
                no--sysroot* | no-target | no--target=* | no-fuse-ld=* | \
                no-fsanitize=* | no-specs=*)
                set -- "$@" "$word" ;;
        esac
        case $word in
            -B | -L | -mllvm | -isysroot | --sysroot | -target) keep=yes ;;
            *) keep=no ;;
        esac
    done
    set -- "$dir/t.c" -o "$dir/t" "$@" $libs
    if [ "$first" = "$compiler" ]; then
        "$compiler" "$@"
    else
        $compiler "$@"
    fi >/dev/null 2>&1
}

# Names every archive that is not there; before the compiler runs, so that it
# is one line.
check_archives() { # command...
    probe getpid "$full_libs" "$@" && return
    probe getpid '' "$@" || fail STATIC "'$compiler' makes no static program, \
not even without libshmem.a: libc.a may not be installed; \
-static-shmem links libshmem.a alone"
    absent=
    for lib in $full_libs; do
        case $lib in
            -l:*) name=${lib#-l:} ;;
            -l*) name=lib${lib#-l}.a ;;
            *) continue ;;
        esac
        probe getpid "$lib" "$@" || absent="${absent:+$absent, }$name"
    done
    [ -z "$absent" ] || fail STATIC "-static needs archives that are not \
there: $absent; oshcc(1) says under \"Static programs\" where they come from, \
and -static-shmem links libshmem.a alone"
}

link_static() { # command...
    full_libs="-l:libshmem.a $full_libs"
    dir=$(mktemp -d "${TMPDIR:-/tmp}/oshcc.XXXXXX") || exec "$@"
    trap 'rm -rf "$dir"' EXIT
    trap 'exit 1' HUP INT TERM
    check_archives "$@"
    "$@"
    status=$?
    [ $status = 0 ] || probe shmem_init "$full_libs" "$@" ||
        fail STATIC "libshmem.a does not link with -static: the archives of \
PMIx and hwloc need further libraries, which ./configure LIBS=-lNAME names; \
-static-shmem links libshmem.a alone"
    exit $status
}

# ---------------------------------------------------------------- scan ----

show=no part='' input=no rewrite=$nvcc
compile=yes link=yes archive=no all_static=no rpath=yes
for word do
    classify "$word"
    case $kind in
        input) input=yes ;;
        nolink) link=no ;;
        full) archive=yes all_static=yes ;;
        show)
            show=yes rewrite=yes
            case $word in
                *:*) part=${word#*:} ;;
                *libs) part='link' ;;
            esac ;;
        own)
            rewrite=yes
            case $word in
                -static-shmem) archive=yes ;;
                --no-rpath) rpath=no ;;
                --help) show=yes part=help ;;
            esac ;;
    esac
done

# Without a file there is nothing to add words for: -v, --version and other
# questions to the compiler.
[ $input = yes ] || [ $show = yes ] || compile=no link=no

case $part in
    help) show "$(usage)" ;;
    version) show "$me (Sluice) @VERSION@, OpenSHMEM 1.6, $language" ;;
esac

[ $compile = no ] || find_library
[ -e "$libdir/libshmem.so" ] || archive=yes

case $part in
    '') ;;
    command) compile=no link=no; set -- ;;
    compile) link=no; set -- ;;
    link) compile=no link=yes; set -- ;;
    incdirs) show "$(print "$includedir")" ;;
    libdirs) show "$(print "$libdir")" ;;
    libs) show "$(print shmem m)" ;;
    libdirs_static) show "$(pick -L "-L$libdir" $full_libs)" ;;
    libs_static) show "$(pick -l -lshmem $full_libs)" ;;
    *) fail ARGS "--showme has no part '$part'; see $me --help" ;;
esac

# ------------------------------------------------------------- command ----

if [ $link = yes ]; then
    if [ $archive = yes ]; then
        [ $all_static = no ] || static_libs=$full_libs
        # Not by its path, which -x would take for a source.
        # shellcheck disable=SC2086  # words
        set -- "$@" "-L$libdir" -l:libshmem.a $static_libs
    else
        set -- "$@" "-L$libdir"
        case $rpath$nvcc$libdir in
            no*) ;;
            yesyes*)
                set -- "$@" -Xlinker -rpath -Xlinker "$(for_shell "$libdir")" \
                    -Xlinker --enable-new-dtags ;;
            *,*)
                set -- "$@" -Xlinker -rpath -Xlinker "$libdir" \
                    -Wl,--enable-new-dtags ;;
            *) set -- "$@" "-Wl,-rpath,$libdir" -Wl,--enable-new-dtags ;;
        esac
        # Programs of this field take libm for granted.
        set -- "$@" -lshmem -lm
    fi
fi

# Takes our words away, and tells nvcc what is meant for others.  Only then,
# for thousands of words it takes a second.
if [ $rewrite = yes ]; then
    for word do
        shift
        classify "$word"
        case $nvcc$kind in
            *show | *own) continue ;;
            yeslinker)
                case $word in
                    -pthread) set -- "$@" -Xcompiler ;;
                    *)
                        set -- "$@" -Xlinker
                        word=$(for_shell "${word#-Wl,}") ;;
                esac ;;
        esac
        set -- "$@" "$word"
    done
fi

[ $compile = no ] || set -- "-I$includedir" "$@"
[ $compile$link = nono ] || [ -z "$sanitizer" ] ||
    set -- "-fsanitize=$sanitizer" "$@"

# A compiler below a directory with spaces is one word.
if [ -f "$compiler" ] && [ -x "$compiler" ]; then
    first=$compiler
    [ -z "$part" ] || [ "$part" = command ] && set -- "$compiler" "$@"
else
    first=$(set -- $compiler && printf %s "${1-}")
    [ -z "$part" ] || [ "$part" = command ] && set -- $compiler "$@"
fi

[ $show = no ] || show "$(print "$@")"

path=$(command -v -- "$first") ||
    fail CC "$chosen chose '$first', which is not in PATH; set \
${variables%% *} to a compiler"
case ${path##*/} in
    *osh* | *shmem*)
        # shellcheck disable=SC3013
        [ ! "$path" -ef "$self" ] ||
            fail CC "$chosen chose $me itself; set it to a compiler" ;;
esac

[ $all_static$link != yesyes ] || link_static "$@"
exec "$@"
