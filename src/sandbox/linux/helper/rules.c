#include "rules.h"

#include "evidence.h"
#include "keeper.h"
#include "kernel.h"
#include "known_folders.h"
#include "path_tree.h"
#include "report.h"
#include "resolve.h"
#include "text.h"

#define READING (LL_EXECUTE | LL_READ_FILE | LL_READ_DIR)
/* No devices: making one needs a capability that nobody here has, and none should be handed out. */
#define WRITING                                                                                       \
  (LL_WRITE_FILE | LL_TRUNCATE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_DIR | LL_MAKE_REG | LL_MAKE_SOCK | \
   LL_MAKE_FIFO | LL_MAKE_SYM | LL_REFER)
/* What can be asked of something that is not a folder; the kernel refuses a rule with more. */
#define OF_FILES (LL_EXECUTE | LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

/* Deeper than any path of PATH_MAX that a person would guard; bounds the stack. */
#define DEEPEST 64

static int rule_set = -1;
static u64 handled_files;
static long rule_count;
static bool was_built;
static struct text_list granted;

long rules_count(void) { return rule_count; }
const struct text_list *rules_granted(void) { return &granted; }

int landlock_version(const struct policy *policy) {
  long version = SYS(NR_landlock_create_ruleset, 0, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) refuse("landlock_abi", version, 0);
  if (policy->assumed_abi && policy->assumed_abi < version) version = policy->assumed_abi;
  return (int)version;
}

static void handle(int version) {
  handled_files = LL_FILES_ABI_1;
  if (version >= 2) handled_files |= LL_REFER;
  if (version >= 3) handled_files |= LL_TRUNCATE;
  if (version >= 5) handled_files |= LL_IOCTL_DEV;
  if (version >= 9) handled_files |= LL_RESOLVE_UNIX;
}

static void create(const struct policy *policy, int version) {
  struct landlock_ruleset attributes = {handled_files, 0, 0};
  size_t size = sizeof attributes.files;
  if (version >= 4) {
    size += sizeof attributes.network;
    if (!policy->network) attributes.network = LL_NET_BIND_TCP | LL_NET_CONNECT_TCP;
  }
  if (version >= 6) {
    size += sizeof attributes.scoped;
    attributes.scoped = LL_SCOPE_ABSTRACT_SOCKET | LL_SCOPE_SIGNAL;
  }
  long fd = SYS(NR_landlock_create_ruleset, &attributes, size, 0);
  if (fd < 0) refuse("landlock_create", fd, 0);
  rule_set = (int)fd;
}

static void allow(long fd, u64 access, const char *name) {
  struct landlock_beneath rule = {access & handled_files, (int)fd};
  if (!rule.access) return;
  long result = SYS(NR_landlock_add_rule, rule_set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  /* A pseudo file system without paths: nothing there can be granted or refused. */
  if (result == -EBADFD) return;
  if (result < 0) refuse("landlock_rule", result, name);
  rule_count++;
}

static bool is_folder(long fd) {
  struct file_status status = {0};
  return SYS(NR_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &status) == 0 && (status.mode & S_IFMT) == S_IFDIR;
}

static void allow_path(const char *path, u64 access) {
  long fd = SYS(NR_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  evidence_object(fd);
  allow(fd, is_folder(fd) ? access : access & OF_FILES, path);
  SYS(NR_close, fd);
}

static void allow_entry(long folder, const char *name, u8 type, u64 access) {
  long fd = SYS(NR_openat, folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  /* Gone, or not for us: nothing is granted. */
  if (fd < 0) return;
  bool is_dir = type == DT_DIR || (type == DT_UNKNOWN && is_folder(fd));
  allow(fd, is_dir ? access : access & OF_FILES, name);
  SYS(NR_close, fd);
}

/* Opens a folder for listing, or at least for passing through. Never follows a symlink. */
static long open_folder(long folder, const char *name) {
  int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  long fd = SYS(NR_openat, folder, name, O_RDONLY | flags);
  return fd == -EACCES ? SYS(NR_openat, folder, name, O_PATH | flags) : fd;
}

static bool is_self_or_parent(const char *name) {
  return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

enum pass { PASS_READ, PASS_WRITE };

static bool is_closed(const struct node *node, enum pass pass) {
  return node->denied || (pass == PASS_WRITE && node->read_only);
}

static bool must_enter(const struct node *node, enum pass pass) {
  return pass == PASS_READ ? node->denied_below : node->guarded_below;
}

/* Allows what is in a folder above guarded paths, entry by entry. */
static void allow_around(long folder, const struct node *node, enum pass pass, u64 access, int depth) {
  if (depth > DEEPEST) refuse("depth", -ELOOP, node->name);
  evidence_folder(folder);
  char buffer[32768];
  bool listed = false;
  long length;
  while ((length = SYS(NR_getdents64, folder, buffer, sizeof buffer)) > 0) {
    listed = true;
    for (long at = 0; at < length;) {
      struct directory_entry *entry = (struct directory_entry *)(buffer + at);
      at += entry->length;
      if (is_self_or_parent(entry->name)) continue;
      /* A symlink's target is judged by its own path. */
      if (entry->type == DT_LNK) continue;
      /* /dev holds raw disks and memory; the few harmless devices are allowed by name. */
      if (node == tree_root() && text_equal(entry->name, "dev")) continue;
      const struct node *child = tree_child(node, entry->name, text_length(entry->name));
      if (child && is_closed(child, pass)) continue;
      if (child && must_enter(child, pass)) {
        long fd = open_folder(folder, entry->name);
        if (fd >= 0) {
          allow_around(fd, child, pass, access, depth + 1);
          SYS(NR_close, fd);
        }
        if (fd != -ENOTDIR) continue;
      }
      allow_entry(folder, entry->name, entry->type, access);
    }
  }
  if (listed) return;
  /* A folder that may be passed but not listed, as /home often is: only known names can be reached. */
  for (const struct node *child = node->children; child; child = child->next) {
    if (is_closed(child, pass) || !must_enter(child, pass)) continue;
    long fd = open_folder(folder, child->name);
    if (fd < 0) continue;
    allow_around(fd, child, pass, access, depth + 1);
    SYS(NR_close, fd);
  }
}

static void allow_reading(void) {
  long fd = SYS(NR_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) refuse("open_root", fd, "/");
  allow_around(fd, tree_root(), PASS_READ, READING, 0);
  SYS(NR_close, fd);
  static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    allow_path(devices[i], LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV);
}

void rules_grant(const struct policy *policy) {
  for (int i = 0; i < policy->writable.count; i++) {
    const char *canonical = resolve_path(policy->writable.texts[i], "write_path", true, 0);
    /* Beside shared memory, what is in /dev is devices. */
    if (path_is_under(canonical, "/dev") && !path_is_under(canonical, "/dev/shm"))
      refuse("write_path_device", -EACCES, canonical);
    enum standing standing = tree_standing(canonical);
    if (standing == STANDS_DENIED) refuse("write_path_denied", -EACCES, canonical);
    if (standing == STANDS_READ_ONLY) refuse("write_path_read_only", -EACCES, canonical);
    granted.texts[granted.count++] = canonical;
  }
}

static void allow_writing(const char *canonical) {
  if (tree_standing(canonical) == STANDS_FREE) {
    allow_path(canonical, READING | WRITING);
    return;
  }
  long fd = SYS(NR_openat, AT_FDCWD, canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) refuse("write_path", fd, canonical);
  allow_around(fd, tree_find(canonical), PASS_WRITE, READING | WRITING, 0);
  SYS(NR_close, fd);
}

void rules_guard(const struct policy *policy) {
  /* Writing to these reaches the whole machine (sysctl, other processes), and uid 0 needs no capability for it. */
  guard_path("/proc", GUARD_READ_ONLY);
  guard_path("/sys", GUARD_READ_ONLY);
  for (int i = 0; i < policy->denied.count; i++) guard_path(policy->denied.texts[i], GUARD_DENIED);
  for (int i = 0; i < policy->read_only.count; i++) guard_path(policy->read_only.texts[i], GUARD_READ_ONLY);
  forget_folders();
}

int rules_make(const struct policy *policy, int version) {
  fingerprint_add(&version, sizeof version);
  fingerprint_add(&policy->network, sizeof policy->network);
  for (int i = 0; i < granted.count; i++) fingerprint_add(granted.texts[i], text_length(granted.texts[i]));
  rule_set = keeper_fetch(policy);
  was_built = rule_set < 0;
  handle(version);
  if (!was_built) return rule_set;
  evidence_begin();
  create(policy, version);
  allow_reading();
  for (int i = 0; i < granted.count; i++) allow_writing(granted.texts[i]);
  return rule_set;
}

bool rules_were_built(void) { return was_built; }

void rules_allow_listing(void) {
  /* A kept one does already. */
  if (!was_built) return;
  long fd = SYS(NR_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
  /* Then nothing above a guarded path can be listed. */
  if (fd < 0) return;
  allow(fd, LL_READ_DIR, "/");
  SYS(NR_close, fd);
}
