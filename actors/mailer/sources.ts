/** The sources of mail, and how the queue treats the mails of each. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const minutes = (...counts: readonly number[]): readonly number[] => counts.map((each) => each * minuteMs);

/** The mail goes to an address that the account chose. Nothing has checked that the owner of the account owns it. */
type CountedAs = 'to-others' | 'to-account';

export interface SourceRules {
  /** How long to wait after each of the first failed attempts. */
  readonly waitsMs: readonly number[];
  /** How long to wait after each further one. Absent: the mail is dead then. */
  readonly thenEveryMs?: number;
  /** A mail is dead when this old, unless it brings an expiry of its own. Absent: it never is. */
  readonly ageMaxMs?: number;
  /** A person waits for the mail, so it goes before others. */
  readonly isUrgent: boolean;
  /** The mail brings a large file, so it goes after all others, and one at a time. */
  readonly isBulk?: true;
  /**
   * Whether a mail is sent again, under the same `Message-ID`, if it is unknown whether a relay took it. Otherwise it is dead then,
   * and an administrator decides.
   */
  readonly repeatsUncertain: boolean;
  /** Whether a mailbox that has stopped mail does not get it. Mails that protect an account are sent all the same. */
  readonly mayBeStopped: boolean;
  /** The daily limit that the mail counts for. Absent if the account does not decide how many such mails there are. */
  readonly countedAs?: CountedAs;
}

const usual: SourceRules = {
  waitsMs: minutes(1, 5, 30, 120, 720),
  ageMaxMs: dayMs,
  isUrgent: false,
  repeatsUncertain: false,
  mayBeStopped: true,
};

const rules = {
  'magic-link': { ...usual, ageMaxMs: 10 * minuteMs, isUrgent: true, mayBeStopped: false },
  'security-notice': { ...usual, isUrgent: true, mayBeStopped: false },
  invite: { ...usual, countedAs: 'to-others' },
  'email-reminder': {
    ...usual,
    waitsMs: minutes(1, 5, 15, 60),
    thenEveryMs: hourMs,
    ageMaxMs: 7 * dayMs,
    repeatsUncertain: true,
    countedAs: 'to-account',
  },
  'dead-man-switch': {
    waitsMs: minutes(5, 30, 120, 360, 1_440, 4 * 1_440, 8 * 1_440, 30 * 1_440, 180 * 1_440),
    thenEveryMs: 180 * dayMs,
    isUrgent: false,
    repeatsUncertain: true,
    mayBeStopped: true,
    countedAs: 'to-others',
  },
  /** The next one comes anyway, so none is sent twice. */
  'email-backup': { ...usual, isBulk: true, countedAs: 'to-account' },
  /** Mails the owner about a dead man's switch: before its deadline, and once it has fired. */
  'dead-man-switch-notice': { ...usual, countedAs: 'to-account' },
  'published-reminder': {
    ...usual,
    waitsMs: minutes(1, 5, 15, 60, 360),
    ageMaxMs: 7 * dayMs,
    countedAs: 'to-others',
  },
  other: usual,
} satisfies Record<string, SourceRules>;

export type MailSource = keyof typeof rules;
export const mailSources = Object.keys(rules) as [MailSource, ...MailSource[]];
export const rulesOf = (source: MailSource): SourceRules => rules[source];

/** Undefined if retries never end. */
export function attemptsMaxOf({ waitsMs, thenEveryMs }: SourceRules): number | undefined {
  return thenEveryMs === undefined ? waitsMs.length + 1 : undefined;
}

/** The pause after this number of failures; undefined if there is no further attempt. */
export function waitMsAfter({ waitsMs, thenEveryMs }: SourceRules, attempts: number): number | undefined {
  return waitsMs[attempts - 1] ?? thenEveryMs;
}
