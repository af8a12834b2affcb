/* System calls without a C library: the helper's behaviour must not depend on what is installed where it runs. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* Gives the kernel's own answer: a negative errno on failure. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "this architecture has no helper"
#endif
}

/*
 * clone for a child that shares our memory: it begins in `function`, which never returns, on a stack of its own. Gives the
 * child's number, or a negative errno.
 */
static inline long start_on_stack(long flags, char *stack_end, int *pidfd, void (*function)(void *), void *argument) {
  /* Where the child, which has lost all registers to the call but its stack, finds what to do. */
  void **top = (void **)stack_end - 2;
  top[0] = (void *)function;
  top[1] = argument;
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n"
                   " xor %%ebp, %%ebp\n pop %%rax\n pop %%rdi\n call *%%rax\n hlt\n 1:"
                   : "=a"(result)
                   : "a"((long)NR_clone), "D"(flags), "S"(top), "d"(pidfd), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = NR_clone;
  register long x0 __asm__("x0") = flags;
  register long x1 __asm__("x1") = (long)top;
  register long x2 __asm__("x2") = (long)pidfd;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = 0;
  __asm__ volatile("svc 0\n cbnz x0, 1f\n"
                   " mov x29, #0\n mov x30, #0\n ldp x9, x0, [sp], #16\n blr x9\n brk #1\n 1:"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                   : "x9", "x30", "memory");
  return x0;
#endif
}

/* SYS(NR_close, fd): arguments that are left out are 0, since the kernel checks unused ones of some calls. */
#define SYS(...) SYS_WITH_ZEROS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define SYS_WITH_ZEROS(number, a, b, c, d, e, f, ...) \
  system_call((long)(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

void exit_now(int code) __attribute__((noreturn));

/* Milliseconds and microseconds that only go forward. */
long now_ms(void);
long now_us(void);

#endif
