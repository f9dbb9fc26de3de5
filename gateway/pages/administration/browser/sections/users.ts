/** One user at a time, found by their address: ban and feature flags. */
import { button, element, field, form, tableElement } from './elements.ts';
import type { PageTools } from './page.ts';

interface Ban {
  readonly uuid: string;
  readonly email: string;
  readonly banned: boolean;
  readonly bannedAt: string | null;
  readonly banReason: string | null;
}

interface Flags {
  readonly flags: Readonly<Record<string, string | null>>;
}

export function usersSection({ server, say }: PageTools): HTMLElement {
  const email = element('input', { type: 'email', required: true, autocomplete: 'off' });
  const found = element('div');

  async function find(): Promise<void> {
    found.replaceChildren();
    const answer = await server.call<Ban>(
      'GET',
      `v1/admin/users/${encodeURIComponent(email.value.trim())}/ban-status`,
    );
    if ('refused' in answer) return say(answer.refused.message);
    const flags = await server.call<Flags>('GET', `v1/admin/users/${answer.ok.uuid}/feature-flags`);
    if ('refused' in flags) return say(flags.refused.message);
    say('');
    found.replaceChildren(...banOf(answer.ok), ...flagsOf(answer.ok.uuid, flags.ok));
  }

  function banOf({ uuid, banned, bannedAt, banReason }: Ban): readonly HTMLElement[] {
    const reason = element('input', { type: 'text', maxLength: 500, value: banReason ?? '' });
    const set = async (ban: object) => {
      const answer = await server.call('PUT', `v1/admin/users/${uuid}/ban-status`, ban);
      if ('refused' in answer) say(answer.refused.message);
      else await find();
    };
    const state = banned ? `Banned since ${bannedAt ?? 'some time'}.` : 'Not banned.';
    return [
      element('p', {}, 'Account ', element('code', { textContent: uuid }), `. ${state}`),
      banned
        ? button('End the ban', () => set({ banned: false, banReason: null }))
        : form([field('Reason, for administrators only', reason)], 'Ban, and end all sessions', () =>
            set({ banned: true, banReason: reason.value || null }),
          ),
    ];
  }

  function flagsOf(uuid: string, { flags }: Flags): readonly HTMLElement[] {
    const rows = Object.entries(flags).map(([name, value]) => {
      const input = element('input', {
        type: 'text',
        value: value ?? '',
        ariaLabel: name,
        placeholder: 'not set',
      });
      const set = async () => {
        const answer = await server.call('PUT', `v1/admin/users/${uuid}/feature-flags`, {
          name,
          value: input.value.trim() || null,
        });
        say('refused' in answer ? answer.refused.message : `${name} is set.`);
      };
      return [element('code', { textContent: name }), input, button('Set', set)];
    });
    return [element('h3', { textContent: 'Feature flags' }), tableElement(['Flag', 'Value', ''], rows)];
  }

  return element(
    'section',
    {},
    element('h2', { textContent: 'A user' }),
    form([field('E-mail address', email)], 'Find', find),
    found,
  );
}
