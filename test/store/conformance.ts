import type { MakeSubject } from "./conformance_bench.ts";
import { commitsConform } from "./conformance_commits.ts";
import { inboxConforms } from "./conformance_inbox.ts";
import { keepingConforms } from "./conformance_keeping.ts";
import { questionsConform } from "./conformance_questions.ts";
import { readingConforms } from "./conformance_reading.ts";

/** What every adapter of the store port does. Stated once, run for each, unchanged. */
export function conformance(name: string, makeSubject: MakeSubject): void {
  commitsConform(name, makeSubject);
  inboxConforms(name, makeSubject);
  readingConforms(name, makeSubject);
  keepingConforms(name, makeSubject);
  questionsConform(name, makeSubject);
}
