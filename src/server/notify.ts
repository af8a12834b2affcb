import process from "node:process";
import { datagramSender, type SendDatagram } from "../adapter/send_datagram.ts";
import type { Clock } from "../clock/clock.ts";

/** Tells the service manager how the process stands, by its own protocol (sd_notify). */
export interface Notifier {
  /** From now on the watchdog is fed, for as long as the event loop turns. */
  ready(status: string): void;
  stopping(): void;
  close(): void;
}

export interface NotifierOptions {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Told once, when the manager cannot be reached. */
  onProblem: (reason: string) => void;
  /** Default: libc's. */
  sender?: () => Promise<SendDatagram>;
}

const SILENT: Notifier = { ready() {}, stopping() {}, close() {} };

/** What speaks to the manager that NOTIFY_SOCKET names; silent where it names none. Never throws. */
export async function openNotifier(options: NotifierOptions): Promise<Notifier> {
  const { env, clock, onProblem, sender = datagramSender } = options;
  const address = env["NOTIFY_SOCKET"];
  if (!address) return SILENT;
  let told = false;
  const problem = (error: unknown) => {
    if (told) return;
    told = true;
    onProblem(error instanceof Error ? error.message : String(error));
  };
  let send: SendDatagram;
  try {
    send = await sender();
  } catch (error) {
    problem(error);
    return SILENT;
  }
  const say = (text: string) => {
    try {
      send(address, text);
    } catch (error) {
      problem(error);
    }
  };
  let cancel: (() => void) | undefined;
  const every = watchdogMs(env);
  const feed = () => {
    say("WATCHDOG=1\n");
    cancel = clock.after(every ?? 0, feed);
  };
  return {
    ready(status) {
      say(`READY=1\nSTATUS=${status.replace(/\n/g, " ")}\n`);
      if (every !== undefined && !cancel) feed();
    },
    stopping() {
      say("STOPPING=1\n");
    },
    close() {
      cancel?.();
      cancel = undefined;
    },
  };
}

/** Half of what the manager waits for, as it advises; undefined where it waits for nothing or for another process. */
function watchdogMs(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const micros = Number(env["WATCHDOG_USEC"]);
  if (!Number.isFinite(micros) || micros <= 0) return undefined;
  const pid = env["WATCHDOG_PID"];
  if (pid !== undefined && Number(pid) !== process.pid) return undefined;
  return micros / 1000 / 2;
}
