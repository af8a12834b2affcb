import type { Confinement } from "../../../src/sandbox/macos/profile.ts";

const HOME = "/Users/ada";
const CONTROL = "/Users/ada/site";

/** As a hook without grants has it. */
export const FLOOR: Confinement = {
  subprocess: false,
  network: false,
  writable: [],
  denied: [`${HOME}/.ssh`, `${HOME}/.docker/config.json`, "/etc/master.passwd", `${CONTROL}/.reyn/state`],
  readOnly: [`${CONTROL}/.reyn`, `${CONTROL}/reyn.yaml`],
};

/** The widest grant that there is: here every denial of a path matters. */
export const WIDEST = ["/"];

/** Every axis open, with grants above guarded paths and beside them. */
export const LIFTED: Confinement = {
  ...FLOOR,
  subprocess: true,
  network: true,
  writable: [HOME, "/tmp/out"],
};
