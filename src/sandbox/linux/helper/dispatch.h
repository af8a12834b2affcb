/*
 * Puts a filter together. The kernel runs a filter once for every system call when it is installed, and for many calls
 * afterwards, so the call is looked up in a tree rather than compared with one number after the other.
 */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "kernel.h"

void dispatch_begin(void);

/* Adds an instruction: before the first block, for every call; within a block, for that call. */
void emit(u16 code, u8 if_true, u8 if_false, u32 value);

/* `begin` … `end` enclose what is done for one system call, which must have one block and answer in every case. */
void begin(int number);
void end(void);

/* The whole filter. A call without a block is answered with `otherwise`. */
struct bpf_program dispatch_end(u32 otherwise);

#endif
