#include "refusals.h"

const struct refusal refusals[] = {
    /* Flags stand behind a pointer, where a filter cannot see them: programs fall back to clone. */
    {NR_clone3, REFUSED_ABSENT},
    /* Does file and network calls that no filter sees. */
    {NR_io_uring_setup, REFUSED_ABSENT},
    {NR_io_uring_enter, REFUSED_ABSENT},
    {NR_io_uring_register, REFUSED_ABSENT},

    /* Other processes: memory, descriptors, tracing. */
    {NR_ptrace, REFUSED_KERNEL},
    {NR_process_vm_readv, REFUSED_KERNEL},
    {NR_process_vm_writev, REFUSED_KERNEL},
    {NR_process_madvise, REFUSED_KERNEL},
    {NR_process_mrelease, REFUSED_KERNEL},
    {NR_pidfd_getfd, REFUSED_KERNEL},
    {NR_kcmp, REFUSED_KERNEL},
    {NR_migrate_pages, REFUSED_KERNEL},
    {NR_move_pages, REFUSED_KERNEL},
    /* Large parts of the kernel that a hook has no use for. */
    {NR_bpf, REFUSED_KERNEL},
    {NR_perf_event_open, REFUSED_KERNEL},
    {NR_userfaultfd, REFUSED_KERNEL},
    {NR_keyctl, REFUSED_KERNEL},
    {NR_add_key, REFUSED_KERNEL},
    {NR_request_key, REFUSED_KERNEL},
    {NR_lookup_dcookie, REFUSED_KERNEL},
    {NR_nfsservctl, REFUSED_KERNEL},
    {NR_syslog, REFUSED_KERNEL},
    /* Another view of the file system would make the rules mean something else. */
    {NR_mount, REFUSED_KERNEL},
    {NR_umount2, REFUSED_KERNEL},
    {NR_pivot_root, REFUSED_KERNEL},
    {NR_chroot, REFUSED_KERNEL},
    {NR_open_tree, REFUSED_KERNEL},
    {NR_open_tree_attr, REFUSED_KERNEL},
    {NR_move_mount, REFUSED_KERNEL},
    {NR_fsopen, REFUSED_KERNEL},
    {NR_fsconfig, REFUSED_KERNEL},
    {NR_fsmount, REFUSED_KERNEL},
    {NR_fspick, REFUSED_KERNEL},
    {NR_mount_setattr, REFUSED_KERNEL},
    {NR_unshare, REFUSED_KERNEL},
    {NR_setns, REFUSED_KERNEL},
    /* Opens by inode, past every path; fanotify reports what others open. */
    {NR_open_by_handle_at, REFUSED_KERNEL},
    {NR_fanotify_init, REFUSED_KERNEL},
    /* The machine as a whole. */
    {NR_swapon, REFUSED_KERNEL},
    {NR_swapoff, REFUSED_KERNEL},
    {NR_reboot, REFUSED_KERNEL},
    {NR_kexec_load, REFUSED_KERNEL},
    {NR_kexec_file_load, REFUSED_KERNEL},
    {NR_init_module, REFUSED_KERNEL},
    {NR_finit_module, REFUSED_KERNEL},
    {NR_delete_module, REFUSED_KERNEL},
    {NR_quotactl, REFUSED_KERNEL},
    {NR_quotactl_fd, REFUSED_KERNEL},
    {NR_acct, REFUSED_KERNEL},
    {NR_vhangup, REFUSED_KERNEL},
    {NR_settimeofday, REFUSED_KERNEL},
    {NR_clock_settime, REFUSED_KERNEL},
    {NR_adjtimex, REFUSED_KERNEL},
    {NR_clock_adjtime, REFUSED_KERNEL},
    {NR_sethostname, REFUSED_KERNEL},
    {NR_setdomainname, REFUSED_KERNEL},
    /* IPC that is neither a file nor a socket, so that neither axis would cover it. */
    {NR_msgget, REFUSED_KERNEL},
    {NR_semget, REFUSED_KERNEL},
    {NR_shmget, REFUSED_KERNEL},
    {NR_mq_open, REFUSED_KERNEL},
    {NR_mq_unlink, REFUSED_KERNEL},
#if defined(__x86_64__)
    {NR_iopl, REFUSED_KERNEL},
    {NR_ioperm, REFUSED_KERNEL},
    {NR_modify_ldt, REFUSED_KERNEL},
    {NR__sysctl, REFUSED_KERNEL},
    {NR_uselib, REFUSED_KERNEL},
    {NR_ustat, REFUSED_KERNEL},
    {NR_create_module, REFUSED_KERNEL},
    {NR_get_kernel_syms, REFUSED_KERNEL},
    {NR_query_module, REFUSED_KERNEL},
#endif

    {NR_fchmod, REFUSED_METADATA},
    {NR_fchmodat, REFUSED_METADATA},
    {NR_fchmodat2, REFUSED_METADATA},
    {NR_fchown, REFUSED_METADATA},
    {NR_fchownat, REFUSED_METADATA},
    {NR_utimensat, REFUSED_METADATA},
    {NR_setxattr, REFUSED_METADATA},
    {NR_lsetxattr, REFUSED_METADATA},
    {NR_fsetxattr, REFUSED_METADATA},
    {NR_setxattrat, REFUSED_METADATA},
    {NR_removexattr, REFUSED_METADATA},
    {NR_lremovexattr, REFUSED_METADATA},
    {NR_fremovexattr, REFUSED_METADATA},
    {NR_removexattrat, REFUSED_METADATA},
    {NR_file_setattr, REFUSED_METADATA},
#if defined(__x86_64__)
    {NR_chmod, REFUSED_METADATA},
    {NR_chown, REFUSED_METADATA},
    {NR_lchown, REFUSED_METADATA},
    {NR_utime, REFUSED_METADATA},
    {NR_utimes, REFUSED_METADATA},
    {NR_futimesat, REFUSED_METADATA},
#endif
};

const int refusal_count = sizeof refusals / sizeof *refusals;

const struct refusal *refusal_of(int number) {
  for (int i = 0; i < refusal_count; i++)
    if (refusals[i].number == number) return &refusals[i];
  return 0;
}
