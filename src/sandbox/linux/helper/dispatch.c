#include "dispatch.h"

#include "report.h"

#define MOST_INSTRUCTIONS 1024
#define MOST_BLOCKS 256 /* as many as their places in `order` can name */
/* Conditional jumps have 8 bits. */
#define LONGEST_JUMP 255

struct block {
  int number, start, length;
};

/* What is done before any look at the number, then the blocks in the order of their writing. */
static struct bpf_instruction written[MOST_INSTRUCTIONS];
static int written_length, before_length;
static struct block blocks[MOST_BLOCKS];
static int block_count;
/* The blocks by their numbers, lowest first. */
static u8 order[MOST_BLOCKS];
static bool in_block;

static struct bpf_instruction program[MOST_INSTRUCTIONS];
static int length;

void dispatch_begin(void) {
  written_length = before_length = block_count = length = 0;
  in_block = false;
}

void emit(u16 code, u8 if_true, u8 if_false, u32 value) {
  if (written_length == MOST_INSTRUCTIONS) refuse("filter_size", -E2BIG, 0);
  /* Behind the first block nothing stands outside of one: it would never be reached. */
  if (!in_block && block_count) refuse("filter_order", -EINVAL, 0);
  written[written_length++] = (struct bpf_instruction){code, if_true, if_false, value};
  if (!in_block) before_length = written_length;
}

void begin(int number) {
  if (block_count == MOST_BLOCKS) refuse("filter_size", -E2BIG, 0);
  int at = block_count;
  for (; at > 0 && blocks[order[at - 1]].number >= number; at--) {
    /* Of two blocks for one call the second would never be reached. */
    if (blocks[order[at - 1]].number == number) refuse("filter_twice", -EINVAL, 0);
    order[at] = order[at - 1];
  }
  order[at] = (u8)block_count;
  blocks[block_count++] = (struct block){number, written_length, 0};
  in_block = true;
}

void end(void) {
  struct block *block = &blocks[block_count - 1];
  block->length = written_length - block->start;
  in_block = false;
}

static int add(struct bpf_instruction instruction) {
  if (length == MOST_INSTRUCTIONS) refuse("filter_size", -E2BIG, 0);
  program[length] = instruction;
  return length++;
}

static void copy(int start, int count) {
  for (int i = start; i < start + count; i++) add(written[i]);
}

/* Calls from a number on that are all answered alike: up to the next range. */
struct range {
  int from, start, length; /* as in a block; a length of 0 is for calls without one */
};

static struct range ranges[2 * MOST_BLOCKS + 1];
static int range_count;

static bool is_same_answer(const struct range *range, const struct block *block) {
  return range->length == 1 && block->length == 1 && written[range->start].value == written[block->start].value;
}

static void find_ranges(void) {
  range_count = 0;
  int next = 0;
  for (int i = 0; i < block_count; i++) {
    const struct block *block = &blocks[order[i]];
    if (block->number > next || i == 0) ranges[range_count++] = (struct range){next, 0, 0};
    bool joins = block->number == next && is_same_answer(&ranges[range_count - 1], block);
    if (!joins) ranges[range_count++] = (struct range){block->number, block->start, block->length};
    next = block->number + 1;
  }
  ranges[range_count++] = (struct range){next, 0, 0};
}

/* `count` ranges, the number being loaded. Every way through ends in an answer. */
static void lay_out(const struct range *first, int count, u32 otherwise) {
  if (count == 1) {
    if (first->length) copy(first->start, first->length);
    else add((struct bpf_instruction){BPF_RETURN, 0, 0, otherwise});
    return;
  }
  const struct range *upper = first + count / 2;
  int at = add((struct bpf_instruction){BPF_AT_LEAST, 0, 0, (u32)upper->from});
  lay_out(first, count / 2, otherwise);
  int distance = length - at - 1;
  if (distance > LONGEST_JUMP) {
    /* Makes room for a jump of its own; those within the lower half are relative, so it can be moved. */
    add(program[length - 1]);
    for (int i = length - 2; i > at + 1; i--) program[i] = program[i - 1];
    program[at].if_false = 1;
    program[at + 1] = (struct bpf_instruction){BPF_JUMP, 0, 0, (u32)distance};
  } else {
    program[at].if_true = (u8)distance;
  }
  lay_out(upper, count - count / 2, otherwise);
}

struct bpf_program dispatch_end(u32 otherwise) {
  copy(0, before_length);
  find_ranges();
  lay_out(ranges, range_count, otherwise);
  return (struct bpf_program){(u16)length, program};
}
