/** Whether anybody may register. */
import { button, element } from './elements.ts';
import type { PageTools } from './page.ts';

interface Registration {
  readonly registrationDisabled: boolean;
  readonly enforcedByOperator: boolean;
}

const path = 'v1/admin/registration';

export function registrationSection({ server, say }: PageTools): HTMLElement {
  const panel = element('div');

  async function show(): Promise<void> {
    const answer = await server.call<Registration>('GET', path);
    if ('refused' in answer) return say(answer.refused.message);
    const { registrationDisabled: isClosed, enforcedByOperator } = answer.ok;
    const state = isClosed ? 'Nobody can register.' : 'Anybody who reaches this server can register.';
    const set = async () => {
      const changed = await server.call('PUT', path, { registrationDisabled: !isClosed });
      if ('refused' in changed) say(changed.refused.message);
      else await show();
    };
    panel.replaceChildren(
      element('p', { textContent: enforcedByOperator ? `${state} The operator has decided that.` : state }),
      ...(enforcedByOperator
        ? []
        : [button(isClosed ? 'Open the registration' : 'Close the registration', set)]),
    );
  }

  void show();
  return element('section', {}, element('h2', { textContent: 'Registration' }), panel);
}
