import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { mountTypeIn, probeFileSystem, refusedFileSystem } from "../../src/store/sqlite/file_system.ts";
import { inTempState, open, openFails } from "./support.ts";

const FUSE = 0x65735546;

describe("the file system of a store", () => {
  const refused: readonly (readonly [string, number])[] = [
    ["NFS", 0x6969],
    ["SMB", 0x517b],
    ["CIFS", 0xff534d42],
    ["SMB2", 0xfe534d42],
    ["9p", 0x01021997],
    ["AFS", 0x5346414f],
    ["Ceph", 0x00c36400],
    ["Lustre", 0x0bd00bd0],
    ["GFS2", 0x01161970],
    ["OCFS2", 0x7461636f],
  ];
  for (const [name, magic] of refused) {
    it(`is refused when it is ${name}`, () => assert.equal(refusedFileSystem({ magic }), name));
  }

  it("is refused also where the runtime gives its number as a negative one", () => {
    assert.equal(refusedFileSystem({ magic: 0xff534d42 | 0 }), "CIFS");
  });

  for (
    const [name, magic] of Object.entries({
      ext4: 0xef53,
      xfs: 0x58465342,
      btrfs: 0x9123683e,
      tmpfs: 0x01021994,
    })
  ) {
    it(`is taken when it is ${name}`, () => assert.equal(refusedFileSystem({ magic }), undefined));
  }

  it("is taken on FUSE only when the mount is of a kind that stays on this machine", () => {
    for (const mountType of ["fuseblk", "virtiofs", "fuse.fuse-overlayfs", "fuse.mergerfs"]) {
      assert.equal(refusedFileSystem({ magic: FUSE, mountType }), undefined);
    }
    for (
      const mountType of ["fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.something-new"]
    ) {
      assert.equal(refusedFileSystem({ magic: FUSE, mountType }), mountType);
    }
    assert.equal(refusedFileSystem({ magic: FUSE }), "a FUSE file system of unknown type");
  });

  it("is that of the innermost mount, and of the last of several at one place", () => {
    const mountinfo = [
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
      "30 22 0:40 / /srv/my\\040share rw shared:2 - fuse.sshfs host:/ rw",
      "31 22 0:41 / /srv rw shared:2 - xfs /dev/vdb rw",
      "32 22 0:42 / /mnt rw - ext4 /dev/vdc rw",
      "33 22 0:43 / /mnt rw - fuse.s3fs bucket rw",
      "",
    ].join("\n");
    assert.equal(mountTypeIn(mountinfo, "/srv/my share/state"), "fuse.sshfs");
    assert.equal(mountTypeIn(mountinfo, "/srv/my sharing"), "xfs");
    assert.equal(mountTypeIn(mountinfo, "/srv"), "xfs");
    assert.equal(mountTypeIn(mountinfo, "/mnt/x"), "fuse.s3fs");
    assert.equal(mountTypeIn(mountinfo, "/srv2"), "ext4");
    assert.equal(mountTypeIn("", "/"), undefined);
  });

  it("is looked at before anything is made, at the nearest folder that exists", () =>
    inTempState(async (dir) => {
      const asked: string[] = [];
      const deep = join(dir, "deeper", "state");
      for (const readOnly of [false, true]) {
        const { error } = await openFails(deep, "E_STATE_FILESYSTEM", {
          readOnly,
          fileSystemType: async (at) => {
            asked.push(at);
            return { magic: 0x6969 };
          },
        });
        assert.match(error.message, /NFS/);
        assert.match(error.fix ?? "", /local disk/);
      }
      assert.deepEqual(asked, [dirname(dir), dirname(dir)]);
      await assert.rejects(stat(dir));
    }));

  it("is known for the temporary folder where it can be known", async () => {
    const found = await probeFileSystem(tmpdir());
    assert.equal(found === undefined, process.platform !== "linux");
    if (found) assert.ok(found.magic > 0);
  });

  it("does not matter where it cannot be known", () =>
    inTempState(async (dir) => {
      await (await open(dir, { fileSystemType: async () => undefined })).close();
    }));
});
