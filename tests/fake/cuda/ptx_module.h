/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx_module.h - a module that was read, for the files that read it and those
 * that run it. */
#ifndef FAKE_CUDA_PTX_MODULE_H
#define FAKE_CUDA_PTX_MODULE_H

#include "ptx.h"

#include <setjmp.h>

enum type {
    NO_TYPE, PRED, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32,
    S64, F16, F16X2, BF16, BF16X2, F32, F64
};
enum space { GENERIC, GLOBAL, CONST, SHARED, LOCAL, PARAM };
enum rounding { NO_ROUND, RN, RZ, RM, RP, RNI, RZI, RMI, RPI };
enum order { WEAK, VOLATILE, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC };
enum compare {
    NO_COMPARE, EQ, NE, LT, LE, GT, GE, LO, LS, HI, HS, EQU, NEU, LTU, LEU,
    GTU, GEU, NUM, NAN_
};
/* Words that say what an operation does. */
enum word {
    NO_WORD, W_ADD, W_INC, W_DEC, W_EXCH, W_CAS, W_AND, W_OR, W_XOR, W_MIN,
    W_MAX, W_ALL, W_ANY, W_UNI, W_BALLOT, W_IDX, W_UP, W_DOWN, W_BFLY, W_POPC,
    W_F4E, W_B4E, W_RC8, W_ECL, W_ECR, W_RC16, W_FINITE, W_INFINITE,
    W_NUMBER, W_NOTANUMBER, W_NORMAL, W_SUBNORMAL
};
/* Flags of an instruction. */
enum {
    M_LO = 1, M_HI = 2, M_WIDE = 4, M_CC = 8, M_SAT = 0x10, M_FTZ = 0x20,
    M_APPROX = 0x40, M_FULL = 0x80, M_TO = 0x100, M_LEFT = 0x200,
    M_RIGHT = 0x400, M_WRAP = 0x800, M_CLAMP = 0x1000, M_NAN = 0x2000,
    M_SHIFTAMT = 0x4000, M_WARP = 0x8000, M_ARRIVE = 0x10000,
    M_RED = 0x20000, M_SYS = 0x40000, M_SYNC = 0x80000
};

struct thread;
struct insn;
struct func;

/* What an instruction answers. */
enum next { CONTINUE, BLOCKED, ENDED, FAILED };
typedef enum next ptx_exec(struct thread *t, const struct insn *i);

struct var {
    const char *name;
    enum space space;
    size_t size, align, at;     /* at: in its space, or in its frame */
    bool external;
    struct init *init;
};
/* A number of an initialiser, or an address in its place. */
struct init {
    struct init *next;
    size_t at, size;
    uint64_t value;
    const char *symbol;         /* NULL: a number */
    unsigned shift;             /* of the address, for its single bytes */
};

enum operand_kind {
    O_REG, O_NUMBER, O_SPECIAL, O_VAR, O_FUNC, O_VECTOR, O_SINK, O_LABEL
};
struct operand {
    enum operand_kind kind;
    bool mem, unless, real;     /* real: a number in the form of a double */
    int slot, n;                /* register, special; of a vector: parts */
    uint64_t mask;              /* bits of the register */
    uint64_t value;             /* a number, or what is added */
    const struct var *var;
    const struct func *func;
    struct operand *parts;
    const char *label;
};

struct insn {
    ptx_exec *run;
    struct operand *o;
    int n;
    int guard;                  /* a register, or -1 */
    bool unless;
    bool sgn;                   /* of type[0] */
    uint8_t bits, shift;        /* of type[0]; shift: 64 - bits */
    uint8_t type[3], n_types;
    uint8_t space, round, order, compare, word, vec;
    unsigned flags;
    int target;                 /* of a branch */
    int *targets, n_targets;    /* of brx */
    struct call *call;
    int line;
};

struct call {
    struct operand target, *args, *rets;
    int n_args, n_rets;
};

struct func {
    const char *name;
    bool entry, defined, called;
    struct insn *code;
    int n, slots;
    size_t param_size, local_size;
    struct var **params, **rets;
    int n_params, n_rets;
    unsigned need[3], most;     /* threads of a block */
    enum next (*built_in)(struct thread *t, const struct insn *i);
    struct func *next;
    struct ptx_module *module;
};
struct ptx_kernel {
    struct func func;
};

struct ptx_module {
    struct chunk *chunks;
    struct func *funcs;
    struct var **vars;
    int n_vars, room_vars;
    size_t size, shared;        /* of its variables */
    uint64_t base;              /* of these, in the device's memory */
    int device;
};

/* ---- ptx_lex.c ---- */
enum token_kind { T_WORD, T_NUMBER, T_MARK, T_STRING, T_END };
struct token {
    enum token_kind kind;
    const char *text;           /* of a mark: one character */
    int line;
};
struct parse {
    struct ptx_module *m;
    struct token *at;           /* the next */
    jmp_buf failed;
    char *why;
    size_t room;
    struct body *body;          /* of the function that is read, or NULL */
};
/* Zeroed, until the module is unloaded. */
void *ptx_new(struct ptx_module *m, size_t n);
struct token *ptx_lex(struct parse *p, const char *text);
_Noreturn void ptx_fail(struct parse *p, const char *what, const char *word);
/* Is the next token this?  Then it is taken. */
bool ptx_take(struct parse *p, const char *text);
bool ptx_is(const struct parse *p, const char *text);
void ptx_need(struct parse *p, const char *text);
const char *ptx_word(struct parse *p);
/* With its sign; *real: it is a double's bits, or a float's. */
uint64_t ptx_number(struct parse *p, int *real);
long ptx_long(struct parse *p);

/* ---- ptx_vars.c ---- */
enum type ptx_type(const char *word);
extern const uint8_t ptx_type_bits[];
static inline unsigned ptx_bits(enum type t)
{
    return ptx_type_bits[t];
}
static inline bool ptx_signed(enum type t)
{
    return t >= S8 && t <= S64;
}
static inline bool ptx_float(enum type t)
{
    return t >= F16;
}
/* .align, the type, the name, the dimensions. */
struct var *ptx_var(struct parse *p, enum space space);
void ptx_initialiser(struct parse *p, struct var *v);
struct var *ptx_find_var(const struct ptx_module *m, const char *name);
void ptx_add_var(struct ptx_module *m, struct var *v);
size_t ptx_place(size_t *end, const struct var *v);
int ptx_allocate(struct ptx_module *m);

/* ---- ptx_body.c, ptx_operand.c ---- */
struct func *ptx_find_func(const struct ptx_module *m, const char *name);
void ptx_body(struct parse *p, struct func *f);
struct symbol {
    struct symbol *next;
    const char *name;
    enum type type;
    int slot, count;            /* count: of %name<count>, or 0 */
    struct var *var;
    int scope;
};
struct body {
    struct func *f;
    struct symbol *symbols;
    struct label *labels;
    struct target_list *lists;
    int scope, scopes, *up, room, room_up;
};
struct operand ptx_operand(struct parse *p);
/* The operands of an instruction, up to its end. */
void ptx_operands(struct parse *p, struct insn *i);
void ptx_call(struct parse *p, struct insn *i);
int ptx_register(struct parse *p, const char *name);
/* Of that built-in name, or NULL. */
enum next (*ptx_built_in(const char *name))(struct thread *,
                                            const struct insn *);

/* ---- ptx_ops.c ---- */
/* What the words of an instruction mean.  False: not known. */
bool ptx_decode(const char *word, struct insn *i);

#endif
