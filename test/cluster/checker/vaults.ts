/**
 * Checks the vaults at the end, when nobody changes them any more. Every certain member has their vault, and nobody
 * else does. A survivor owns what they were to get, and all members see the same members and items.
 */
import type { Entry, Membership, Timed } from '../history.ts';
import type { Memberships } from './memberships.ts';
import type { Report } from './violation.ts';

type Belongs = Extract<Entry, { event: 'belongs' }>;
type Final = Extract<Entry, { event: 'final' }>;

export function checkVaults(entries: readonly Timed[], memberships: Memberships, report: Report): void {
  const now = entries.length;
  const belongs = entries.filter((entry): entry is Timed & Belongs => entry.event === 'belongs');
  const finals = entries.filter((entry): entry is Timed & Final => entry.event === 'final');
  for (const { user, vaults } of belongs) {
    const listed = new Set(vaults.map(({ vault }) => vault));
    for (const vault of memberships.vaults) {
      const isSurvivor = memberships.survivorOf(vault, now) === user;
      if (!listed.has(vault) && (isSurvivor || memberships.surelyBelongs(user, vault, now, now))) {
        report('vault-lost', user, isSurvivor ? `${vault}, whose owner they survive` : vault);
      }
      if (listed.has(vault) && !memberships.mayBelong(user, vault, now, now))
        report('vault-kept', user, vault);
    }
    for (const { vault, owner } of vaults) {
      const survivor = memberships.survivorOf(vault, now) ?? owner;
      if (owner !== survivor) report('vault-lost', survivor, `${vault} has the owner ${owner}`);
    }
  }
  compare(
    belongs.flatMap(({ user, vaults }) =>
      vaults.map((each) => ({ user, vault: each.vault, says: rosterOf(each) })),
    ),
    report,
  );
  compare(
    belongs.flatMap(({ user, vaults }) => {
      const live = finals.find((final) => final.user === user)?.live ?? [];
      return vaults.map(({ vault }) => {
        // A first sync contains tombstones of vaults if it continues after a page.
        const ofVault = live.filter((seen) => seen.vault === vault && !seen.deleted);
        const items = ofVault.map(({ uuid, version }) => `${uuid}@${version}`);
        return { user, vault, says: items.sort().join(' ') };
      });
    }),
    report,
  );
}

interface VaultAnswer {
  readonly user: string;
  readonly vault: string;
  readonly says: string;
}

function compare(said: readonly VaultAnswer[], report: Report): void {
  const first = new Map<string, VaultAnswer>();
  for (const each of said) {
    const other = first.get(each.vault) ?? each;
    first.set(each.vault, other);
    if (other.says === each.says) continue;
    report('vault-differs', each.user, `${each.vault}: ${each.says}; but ${other.user}: ${other.says}`);
  }
}

function rosterOf({ owner, survivor, members }: Membership): string {
  const all = members.map(({ user, permission }) => `${user} ${permission}`).sort();
  return [`owner ${owner}`, `survivor ${survivor}`, ...all].join(', ');
}
