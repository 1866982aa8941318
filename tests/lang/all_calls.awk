# SPDX-License-Identifier: BSD-3-Clause
# all_calls.awk - expands prototypes.txt.  With -v names=1: the names alone;
# else the prototypes, and call_all(), which calls each that is not called by
# hand.
BEGIN {
    amo_base = "int|int long|long longlong|long~long uint|unsigned " \
        "ulong|unsigned~long ulonglong|unsigned~long~long"
    i8 = "int8|int8_t int16|int16_t"; u8 = "uint8|uint8_t uint16|uint16_t"
    i32 = "int32|int32_t int64|int64_t"; u32 = "uint32|uint32_t uint64|uint64_t"
    sized = "size|size_t ptrdiff|ptrdiff_t"
    floats = "float|float double|double"
    set["amo"] = amo_base " " i32 " " u32 " " sized
    set["ext"] = floats " " set["amo"]
    set["bit"] = "uint|unsigned ulong|unsigned~long " \
        "ulonglong|unsigned~long~long " i32 " " u32
    set["rma"] = floats " longdouble|long~double char|char schar|signed~char " \
        "short|short uchar|unsigned~char ushort|unsigned~short " \
        amo_base " " i8 " " i32 " " u8 " " u32 " " sized
    complexes = " complexf|float~_Complex complexd|double~_Complex"
    set["sum"] = set["rma"] complexes
    set["redbit"] = "uchar|unsigned~char ushort|unsigned~short uint|unsigned " \
        "ulong|unsigned~long ulonglong|unsigned~long~long " i8 " " i32 " " \
        u8 " " u32 " size|size_t"
    set["oldint"] = "int|int long|long longlong|long~long"
    set["old"] = floats " " set["oldint"]
    set["wait"] = "short|short " set["oldint"]
    set["toallbit"] = set["wait"]
    set["toall"] = set["wait"] " " floats " longdouble|long~double"
    set["toallsum"] = set["toall"] complexes
    set["short"] = "short|short ushort|unsigned~short"
    set["more"] = "uint|unsigned ulong|unsigned~long " \
        "ulonglong|unsigned~long~long " i32 " " u32 " " sized
    set["size"] = "8|void 16|void 32|void 64|void 128|void"
    set["-"] = set["*"] = "|void"
    # What a parameter of that type is called with.
    value["size_t"] = value["ptrdiff_t"] = value["count"] = "1"
    value["int"] = "0"; value["pe"] = "me"; value["cmp"] = "SHMEM_CMP_NE"
    value["set"] = "0, 0, n_pes"; value["const int *"] = "zeros"
    value["size_t *"] = "indices"; value["uint64_t *"] = "&signal_word"
    value["const uint64_t *"] = "&signal_word"; value["uint64_t"] = "1"
    value["long *"] = "longs"; value["long"] = "1"
    value["shmem_team_t"] = "SHMEM_TEAM_WORLD"; value["shmem_ctx_t"] = "ctx"
    value["int, ..."] = "0"; value["stream"] = "stream"
    value["uint64_t(*)(void)"] = "NULL"
}
/^#/ || NF == 0 { next }
{
    kind = $1
    sub(/^[^ ]+ +/, "")
    if (!(kind in set)) {
        print "no set " kind >"/dev/stderr"
        exit 1
    }
    ctx = sub(/ \[ctx\]$/, "")
    spread($0)
}
# One line for each word of the first braces.
function spread(line,    a, b, words, n, i) {
    if (!(a = index(line, "{"))) {
        each(line)
        return
    }
    b = index(line, "}")
    n = split(substr(line, a + 1, b - a - 1), words, ",")
    for (i = 1; i <= n; i++)
        spread(substr(line, 1, a - 1) words[i] substr(line, b + 1))
}
function each(line,    at, head, begin, name, result, args, types, n, i, part,
              T) {
    at = index(line, "(")
    args = substr(line, at + 1, length(line) - at - 1)
    head = substr(line, 1, at - 1)
    match(head, /[A-Za-z_0-9]+$/)
    begin = RSTART
    n = split(set[kind], types, " ")
    for (i = 1; i <= n; i++) {
        split(types[i], part, "|")
        T = part[2]
        gsub(/~/, " ", T)
        name = substr(head, begin)
        result = substr(head, 1, begin - 1)
        put_in(result, name, args, part[1], T)
        if (ctx) {
            sub(/^shmemx?_/, "&ctx_", name)
            put_in(result, name, "shmem_ctx_t, " args, part[1], T)
        }
    }
}
function put_in(result, name, args, N, T,    types, n, i, t, list) {
    if (N != "" && !sub(/_N_/, "_" N "_", name))
        sub(/N/, N, name)
    if (names) {
        print name
        return
    }
    n = split(args, types, /, /)
    pointers = 0
    for (i = 1; i <= n && kind != "*"; i++)
        list = list (i > 1 ? ", " : "") argument(types[i])
    args = typed(args, T)
    result = typed(result, T)
    print result "(" name ")(" args ");"
    if (kind != "*")
        calls[++n_calls] = "    fresh(); " (name ~ /_on_stream$/ ? \
            "NEED((" name ")(" list ") == 0);" : "(" name ")(" list ");")
}
function typed(text, T,    out, word) {
    while (match(text, /[A-Za-z_0-9]+/)) {
        word = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1) (word == "T" ? T : \
            word ~ /^(pe|cmp|count)$/ ? "int" : \
            word == "set" ? "int, int, int" : \
            word == "stream" ? "shmemx_stream_t" : word)
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}
# Pointers to T are buffers, one after the other; a T is 1.
function argument(type) {
    if (type == "void") return ""
    if (type == "...") return "0"
    if (type ~ /^(const )?(T|void) \*$/) return "buffer[" pointers++ "]"
    if (type == "T") return "1"
    if (!(type in value)) {
        print "no value for " type " (all_calls.awk): is it misspelt in a " \
            "prototype?" >"/dev/stderr"
        exit 1
    }
    return value[type]
}
END {
    if (names) exit
    print "static void call_all(void)\n{"
    for (i = 1; i <= n_calls; i++)
        print calls[i]
    print "}\nenum { CALLS = " n_calls + 0 " };"
}
