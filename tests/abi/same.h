/* SPDX-License-Identifier: BSD-3-Clause */
/* same.h - do two declarations of a call agree in the binary interface?
 * A vendor's enumerations, handles and structures have other names here, but
 * the same size, and travel in the same way. */
#ifndef ABI_SAME_H
#define ABI_SAME_H
#ifdef __cplusplus

#include <cstddef>
#include <type_traits>

namespace abi {

template <class A> constexpr bool record()
{
    return std::is_class<A>::value || std::is_union<A>::value;
}

template <class A, class B> constexpr bool alike()
{
    using namespace std;
    constexpr bool number_a = is_integral<A>::value || is_enum<A>::value;
    constexpr bool number_b = is_integral<B>::value || is_enum<B>::value;

    if (is_pointer<A>::value || is_pointer<B>::value)
        return is_pointer<A>::value && is_pointer<B>::value;
    if (is_integral<A>::value && is_integral<B>::value)
        return sizeof(A) == sizeof(B) &&
               is_signed<A>::value == is_signed<B>::value;
    if (is_floating_point<A>::value || is_floating_point<B>::value)
        return is_same<A, B>::value;
    if (number_a || number_b)
        return number_a && number_b && sizeof(A) == sizeof(B);
    return record<A>() && record<B>() && sizeof(A) == sizeof(B) &&
           is_trivial<A>::value;
}

/* What a pointer leads to, where that is known on both sides. */
template <class A, class B> struct target {
    static constexpr bool fits() { return alike<A, B>(); }
};
template <class A, class B> struct target<A *, B *> {
    typedef typename std::remove_cv<A>::type a;
    typedef typename std::remove_cv<B>::type b;
    static constexpr bool opaque = std::is_void<a>::value ||
        std::is_void<b>::value || std::is_function<a>::value ||
        std::is_function<b>::value;
    template <class C, class D, bool> struct find {
        static constexpr bool fits() { return target<C, D>::fits(); }
    };
    template <class C, class D> struct find<C, D, true> {
        static constexpr bool fits() { return true; }
    };
    static constexpr bool fits() { return find<a, b, opaque>::fits(); }
};
/* A handle is a pointer to a structure without a definition. */
template <class A, class B> constexpr bool parameter()
{
    return target<A, B>::fits();
}

template <class F, class G> struct compare {
    static constexpr bool fits = false;
};
template <class R, class S, class... A, class... B>
struct compare<R (*)(A...), S (*)(B...)> {
    template <class... T> struct list {};
    template <class X, class Y> struct walk {
        static constexpr bool fits = false;
    };
    template <class Z> struct walk<list<>, Z> {
        static constexpr bool fits = std::is_same<Z, list<>>::value;
    };
    template <class C, class... Cs, class D, class... Ds>
    struct walk<list<C, Cs...>, list<D, Ds...>> {
        static constexpr bool fits =
            parameter<C, D>() && walk<list<Cs...>, list<Ds...>>::fits;
    };
    static constexpr bool fits =
        alike<R, S>() && walk<list<A...>, list<B...>>::fits;
};

template <class F, class G> constexpr bool same()
{
    return compare<F, G>::fits;
}

}

#endif
#endif
