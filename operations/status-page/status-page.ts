import { statusPage } from './page.ts';
import { readStatus, type StatusOptions } from './status.ts';

/** The statements behind a page are counted over the whole cluster, so all who look within this time see one. */
const keptMs = 2_000;

/** Makes the page, at most once in two seconds, however many browsers are left open. */
export function createStatusPage(options: StatusOptions): () => Promise<string> {
  let page: Promise<string> | undefined;
  let keptUntilMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = options.clock.monotonicMs();
    if (page === undefined || nowMs >= keptUntilMs) {
      page = readStatus(options).then(statusPage);
      keptUntilMs = nowMs + keptMs;
    }
    return page;
  };
}
