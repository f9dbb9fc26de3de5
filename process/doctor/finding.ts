/** What `scriptorium doctor` found out about one thing. */
export interface Finding {
  /** What was looked at, such as `database durability`. */
  readonly check: string;
  /** `problem`: the server does not work as promised. `warning`: it does, for now or with a limit. */
  readonly state: 'ok' | 'warning' | 'problem';
  /** One sentence, without secrets. */
  readonly found: string;
  /** What to do; absent where nothing is to be done. */
  readonly remedy?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found });
export const warning = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: 'warning',
  found,
  remedy,
});
export const problem = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: 'problem',
  found,
  remedy,
});
