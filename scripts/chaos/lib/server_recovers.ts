import { type Answer, ask } from "./ask.ts";
import { pause, type Started } from "./process.ts";
import type { ServerCampaign } from "./server_campaign.ts";

/** Within ten seconds messages are taken again. */
export async function recovers(campaign: ServerCampaign, server: Started): Promise<void> {
  const until = performance.now() + 10_000;
  let last: Answer | undefined;
  while (performance.now() < until) {
    last = await tell(campaign, "again");
    if (last?.status === 202) return;
    await pause(100);
  }
  campaign.violated(
    `it takes no messages any more: ${last?.status} ${last?.body} ${server.stdout().slice(-200)}`,
  );
}

/** Sends one message to a session that no sender uses. */
export function tell({ world }: ServerCampaign, text: string): Promise<Answer | undefined> {
  const message = { to: { port: world.port }, path: "/api/sessions/other/messages", body: { text } };
  return ask(message).catch(() => undefined);
}

export async function becomesReady({ world, violated }: ServerCampaign): Promise<void> {
  const until = performance.now() + 15_000;
  let last = "";
  while (performance.now() < until) {
    const ready = await ask({ to: { port: world.port }, path: "/readyz" }).catch(() => undefined);
    if (ready?.status === 200) return;
    last = `${ready?.status} ${ready?.body}`;
    await pause(200);
  }
  violated(`it does not become ready again: ${last}`);
}
