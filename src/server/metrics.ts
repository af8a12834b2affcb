import { readdirSync } from "node:fs";
import process from "node:process";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Audit } from "../audit/audit.ts";
import type { Clock } from "../clock/clock.ts";
import { isReynError } from "../errors/reyn_error.ts";
import type { Interventions } from "../interventions/interventions.ts";
import { isOpen, type ListedQuestion } from "../interventions/question_store.ts";
import type { QuestionKind } from "../interventions/question.ts";
import type { Instrument } from "../runtime/instrument.ts";
import type { Store, StoreTotals } from "../store/store.ts";
import { samplesOf } from "./metric_events.ts";
import { createLimiter } from "./metric_labels.ts";
import { type LabelsOf, type MetricName, METRICS } from "./metric_table.ts";

/** What is asked at each rendering. */
export interface MetricSources {
  store: Pick<Store, "totals">;
  sessions: { list(): readonly { active: boolean }[] };
  interventions: Pick<Interventions, "list">;
}

export interface Metrics {
  /** To be handed to the runtime when it is opened. */
  instrument: Instrument;
  /** Tells where to ask; until then gauges of sessions and inboxes are left out. */
  watch(sources: MetricSources): void;
  /** Text for Prometheus. Totals of the store are at most a second old. */
  render(): Promise<{ type: string; text: string }>;
}

/** Counting over the whole store costs a read of all its sessions, so scrapers that come often share one. */
const TOTALS_FRESH_MS = 1000;
const MOST_REMEMBERED = 5000;
const OF_THE_STORE: readonly MetricName[] = [
  "reyn_inbox_messages",
  "reyn_inbox_bytes",
  "reyn_inbox_oldest_seconds",
  "reyn_questions_open",
  "reyn_questions_oldest_seconds",
];

export function createMetrics({ clock }: { clock: Clock }): Metrics {
  const registry = new Registry();
  const made = makeMetrics(registry);
  const limited = createLimiter();
  /** Looking up a series by its labels costs more than adding to it. */
  const series = new Map<string, (value: number) => void>();
  const startedAt = clock.now();
  let sources: MetricSources | undefined;
  let totals: { at: number; of: Promise<[StoreTotals, ListedQuestion[]]> } | undefined;
  let cpuSeen = 0;

  const record = (metric: MetricName, labels: Record<string, string>, value: number) => {
    if (!Number.isFinite(value)) return;
    const key = `${metric}\n${Object.values(labels).join("\n")}`;
    let add = series.get(key);
    if (!add) {
      const found = made.get(metric);
      if (!found) return;
      // Types of events are as many as their table has.
      add = seriesOf(found, metric === "reyn_events_total" ? labels : limited(metric, labels));
      if (series.size >= MOST_REMEMBERED) series.clear();
      series.set(key, add);
    }
    add(value);
  };
  /** Counts, measures or sets, as the metric is made. */
  const note = <M extends MetricName>(metric: M, labels: LabelsOf<M>, value: number) =>
    record(metric, labels, value);

  const sandbox = (state: "not_probed" | "confirmed" | "unconfirmed") => {
    for (const one of ["not_probed", "confirmed", "unconfirmed"]) {
      note("reyn_sandbox_state", { state: one }, one === state ? 1 : 0);
    }
  };
  sandbox("not_probed");

  const event = (type: string, data: unknown) => {
    record("reyn_events_total", { type }, 1);
    for (const { metric, labels, value } of samplesOf(type, data)) record(metric, labels, value);
    const said: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "reason") : undefined;
    if (type === "hook_exec_refused" && said === "sandbox_unconfirmed") sandbox("unconfirmed");
    if (type !== "hook_shell_executed" || typeof data !== "object" || data === null) return;
    if (Reflect.get(data, "outcome") !== "launch_failed") sandbox("confirmed");
  };

  const timed = async <T extends { status: string }>(
    call: "commit" | "put",
    work: () => Promise<T>,
  ): Promise<T> => {
    const since = clock.monotonic();
    try {
      const result = await work();
      const { status } = result;
      note("reyn_store_commit_seconds", { call, status }, (clock.monotonic() - since) / 1000);
      return result;
    } catch (error) {
      failed(error);
      throw error;
    }
  };

  const failed = (error: unknown) =>
    note("reyn_store_errors_total", { code: isReynError(error) ? error.code : "E_INTERNAL" }, 1);

  /** The same call, whose failures are counted. */
  const counted =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) => async (...args: A): Promise<T> => {
      try {
        return await call(...args);
      } catch (error) {
        failed(error);
        throw error;
      }
    };

  const gauges = async (): Promise<void> => {
    note("reyn_start_time_seconds", {}, startedAt / 1000);
    note("reyn_resident_memory_bytes", {}, process.memoryUsage().rss);
    const { user, system } = process.cpuUsage();
    const cpu = (user + system) / 1e6;
    note("reyn_cpu_seconds_total", {}, cpu - cpuSeen);
    cpuSeen = cpu;
    const open = openDescriptors();
    if (open !== undefined) note("reyn_open_descriptors", {}, open);
    if (!sources) return;
    const list = sources.sessions.list();
    note("reyn_sessions", { state: "loaded" }, list.length);
    note("reyn_sessions", { state: "active" }, list.filter(({ active }) => active).length);
    const now = clock.monotonic();
    if (!totals || now - totals.at >= TOTALS_FRESH_MS) {
      totals = { at: now, of: Promise.all([sources.store.totals(), sources.interventions.list()]) };
    }
    try {
      const [{ sessions, waking, passive, bytes, oldestWakingAt }, kept] = await totals.of;
      const open = kept.filter(isOpen);
      for (const kind of ["consent", "valve"] satisfies QuestionKind[]) {
        note("reyn_questions_open", { kind }, open.filter(({ question }) => question.kind === kind).length);
      }
      const ages = open.map(({ askedAt }) => Math.max(0, clock.now() - askedAt) / 1000);
      note("reyn_questions_oldest_seconds", {}, ages.reduce((oldest, age) => Math.max(oldest, age), 0));
      note("reyn_sessions", { state: "stored" }, sessions);
      note("reyn_inbox_messages", { wake: "true" }, waking);
      note("reyn_inbox_messages", { wake: "false" }, passive);
      note("reyn_inbox_bytes", {}, bytes);
      const age = oldestWakingAt === null ? 0 : Math.max(0, clock.now() - oldestWakingAt) / 1000;
      note("reyn_inbox_oldest_seconds", {}, age);
    } catch (error) {
      totals = undefined;
      failed(error);
      // Stale figures would say that all is as it was.
      for (const name of OF_THE_STORE) made.get(name)?.reset();
    }
  };

  return {
    instrument: {
      audit: (log) => countingAudit(log, event),
      store: (store) => ({
        ...store,
        commit: (commit) => timed("commit", () => store.commit(commit)),
        put: (session, message) => timed("put", () => store.put(session, message)),
        claim: counted(store.claim),
        renew: counted(store.renew),
        release: counted(store.release),
        ask: counted(store.ask),
        answer: counted(store.answer),
        settle: counted(store.settle),
        pending: counted(store.pending),
        session: counted(store.session),
        sessions: counted(store.sessions),
      }),
      auditLost: (count, reason) => record("reyn_audit_lost_total", { reason }, count),
      auditProblem: (code) => note("reyn_audit_problems_total", { code }, 1),
      storeNotice: (kind) => note("reyn_store_notices_total", { kind }, 1),
    },
    watch(next) {
      sources = next;
    },
    async render() {
      await gauges();
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Data that is built late is built here, once, and handed on. */
function countingAudit(log: Audit, event: (type: string, data: unknown) => void): Audit {
  return {
    ...log,
    emit(type, session, data) {
      if (typeof data !== "function") {
        event(type, data);
        return log.emit(type, session, data);
      }
      try {
        const built = data();
        event(type, built);
        log.emit(type, session, built);
      } catch {
        // The log says what became of it.
        event(type, undefined);
        log.emit(type, session, data);
      }
    },
  };
}

type Made = Counter | Gauge | Histogram;

function seriesOf(metric: Made, labels: Record<string, string>): (value: number) => void {
  if (metric instanceof Counter) {
    const child = metric.labels(labels);
    return (value) => child.inc(Math.max(0, value));
  }
  if (metric instanceof Histogram) {
    const child = metric.labels(labels);
    return (value) => child.observe(value);
  }
  const child = metric.labels(labels);
  return (value) => child.set(value);
}

function makeMetrics(registry: Registry): ReadonlyMap<MetricName, Made> {
  const made = new Map<MetricName, Made>();
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { kind, says, labels } = METRICS[name];
    const base = { name, help: says, labelNames: Object.keys(labels), registers: [registry] };
    switch (kind) {
      case "counter":
        made.set(name, new Counter(base));
        break;
      case "gauge":
        made.set(name, new Gauge(base));
        break;
      case "histogram":
        made.set(name, new Histogram({ ...base, buckets: [...METRICS[name].buckets] }));
        break;
    }
  }
  return made;
}

function openDescriptors(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}
