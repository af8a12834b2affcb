/* System call numbers. They are written down here so that a build depends on the compiler alone, not on kernel headers. */
#ifndef NUMBERS_H
#define NUMBERS_H

#if defined(__x86_64__)
#include "numbers_x86_64.h"
#elif defined(__aarch64__)
#include "numbers_aarch64.h"
#endif

/* From 424 on every architecture has the same numbers. */
#define NR_pidfd_send_signal 424
#define NR_io_uring_setup 425
#define NR_io_uring_enter 426
#define NR_io_uring_register 427
#define NR_open_tree 428
#define NR_move_mount 429
#define NR_fsopen 430
#define NR_fsconfig 431
#define NR_fsmount 432
#define NR_fspick 433
#define NR_pidfd_open 434
#define NR_clone3 435
#define NR_close_range 436
#define NR_openat2 437
#define NR_pidfd_getfd 438
#define NR_process_madvise 440
#define NR_mount_setattr 442
#define NR_quotactl_fd 443
#define NR_landlock_create_ruleset 444
#define NR_landlock_add_rule 445
#define NR_landlock_restrict_self 446
#define NR_process_mrelease 448
#define NR_fchmodat2 452
#define NR_setxattrat 463
#define NR_removexattrat 466
#define NR_open_tree_attr 467
#define NR_file_setattr 469

/* The last call whose effect was judged when this was written; later ones are answered as if they did not exist. */
#define NR_LAST_KNOWN 469

#endif
