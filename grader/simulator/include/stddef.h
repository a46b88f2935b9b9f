#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
typedef struct {
    long long whole __attribute__((aligned(__alignof__(long long))));
    long double real __attribute__((aligned(__alignof__(long double))));
} max_align_t;
#ifndef NULL
#define NULL 0
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
