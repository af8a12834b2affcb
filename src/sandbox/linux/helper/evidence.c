#include "evidence.h"

#include "kernel.h"
#include "text.h"

/* Some dozens of folders; a policy with more is built afresh each time. */
#define MOST_BYTES (24 << 10)

/*
 * File systems give the time of a change in steps of up to 10 ms. A folder that changed this shortly before it was gone through
 * could change again without a sign.
 */
#define YOUNG_NS 20000000L

/* FNV-1a, twice, with two beginnings: what is drawn together comes from the operator, not from a hook. */
#define FNV_PRIME 0x100000001b3ULL
static struct fingerprint drawn = {{0xcbf29ce484222325ULL, 0x9ae16a3b2f90404fULL}};

void fingerprint_add(const void *bytes, size_t length) {
  const u8 *at = bytes;
  for (size_t i = 0; i <= length; i++) {
    /* The length ends each part, so that two parts cannot run into one. */
    u64 next = i < length ? at[i] : 0x100 + length;
    drawn.halves[0] = (drawn.halves[0] ^ next) * FNV_PRIME;
    drawn.halves[1] = (drawn.halves[1] ^ (next + 0x9e37)) * FNV_PRIME;
  }
}

struct fingerprint fingerprint_now(void) { return drawn; }

/* One thing that was looked at, followed by its path with a null. */
struct record {
  u64 inode;
  u32 device_major, device_minor;
  long changed[2], modified[2]; /* seconds and nanoseconds; 0 when only the identity matters */
  u32 size;                     /* of the record with its path, rounded up */
  u32 is_folder;
};

static char records[MOST_BYTES] __attribute__((aligned(8)));
static size_t used;
static bool unusable;
static struct time_span began;

void evidence_begin(void) {
  /* The clock that file systems take their times from. */
  enum { CLOCK_REALTIME_COARSE = 5 };
  SYS(NR_clock_gettime, CLOCK_REALTIME_COARSE, &began);
}

static bool is_young(const long time[2]) {
  long age_seconds = began.seconds - time[0];
  if (age_seconds > 1) return false;
  return age_seconds < 0 || age_seconds * 1000000000L + began.nanoseconds - time[1] < YOUNG_NS;
}

static bool look(long fd, const char *path, bool is_folder, struct record *record) {
  struct file_status status = {0};
  int flags = path[0] ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
  if (SYS(NR_statx, fd, path, flags, STATX_BASIC_STATS, &status) != 0) return false;
  *record = (struct record){.inode = status.inode,
                            .device_major = status.device_major,
                            .device_minor = status.device_minor,
                            .is_folder = is_folder};
  if (!is_folder) return true;
  enum { CHANGED = 2, MODIFIED = 3 };
  record->changed[0] = status.times[CHANGED].seconds;
  record->changed[1] = status.times[CHANGED].nanoseconds;
  record->modified[0] = status.times[MODIFIED].seconds;
  record->modified[1] = status.times[MODIFIED].nanoseconds;
  return true;
}

static void add(long fd, bool is_folder) {
  char link_text[40];
  struct line link = {link_text, sizeof link_text, 0, false};
  proc_path(&link, "/proc/self/fd/", fd, 0, -1);
  struct record record;
  char *path = records + used + sizeof record;
  /* Also room for the null and for rounding up. */
  size_t room = sizeof records - used;
  if (unusable || room < sizeof record + 16 || !look(fd, "", is_folder, &record)) {
    unusable = true;
    return;
  }
  long length = SYS(NR_readlinkat, AT_FDCWD, link_text, path, room - sizeof record - 8);
  if (length <= 0 || path[0] != '/' || (size_t)length >= room - sizeof record - 8) {
    unusable = true;
    return;
  }
  path[length] = 0;
  if (is_folder && (is_young(record.changed) || is_young(record.modified))) unusable = true;
  record.size = (u32)((sizeof record + (size_t)length + 1 + 7) & ~(size_t)7);
  memcpy(records + used, &record, sizeof record);
  used += record.size;
}

void evidence_folder(long fd) { add(fd, true); }
void evidence_object(long fd) { add(fd, false); }

const char *evidence_bytes(size_t *size) {
  *size = used;
  return unusable ? 0 : records;
}

bool evidence_holds(const char *bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    struct record kept, now;
    if (size - at < sizeof kept) return false;
    memcpy(&kept, bytes + at, sizeof kept);
    if (kept.size <= sizeof kept || kept.size > size - at || bytes[at + kept.size - 1]) return false;
    if (!look(AT_FDCWD, bytes + at + sizeof kept, kept.is_folder, &now)) return false;
    now.size = kept.size;
    if (!bytes_equal((const char *)&kept, (const char *)&now, sizeof kept)) return false;
    at += kept.size;
  }
  return size > 0;
}
