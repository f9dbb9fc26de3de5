/** The checker of a history. It knows the promises to clients and nothing about how the server keeps them. */
import type { Timed } from '../history.ts';
import { checkBystanders } from './bystanders.ts';
import { walk } from './calls.ts';
import { checkCommands } from './commands.ts';
import { checkConflicts } from './conflicts.ts';
import { checkFiles } from './files.ts';
import { Lineage } from './lineage.ts';
import { Memberships } from './memberships.ts';
import { Replicas } from './replicas.ts';
import { checkSessions } from './sessions.ts';
import { checkSockets } from './sockets.ts';
import { checkVaults } from './vaults.ts';
import type { Report, Violation } from './violation.ts';

/** Enough to see what went wrong. */
const violationsMax = 200;

export function check(entries: readonly Timed[]): readonly Violation[] {
  const violations: Violation[] = [];
  const report: Report = (kind, user, detail) => {
    if (violations.length < violationsMax) violations.push({ kind, user, detail });
  };
  const memberships = new Memberships(entries);
  const lineage = new Lineage(entries, memberships, report);
  new Replicas(entries, { lineage, memberships }, report);
  checkConflicts(entries, { lineage, memberships }, report);
  checkCommands(entries, report);
  checkSessions(entries, report);
  checkVaults(entries, memberships, report);
  checkFiles(entries, memberships, report);
  checkSockets(entries, memberships, report);
  checkBystanders(entries, report);
  for (const { entry, call } of walk(entries)) {
    if (entry.event === 'failed') report('failed', call?.user ?? '', `${entry.status}: ${entry.text}`);
  }
  return violations;
}
