/**
 * The page for administrators. It signs in as a client does, and uses only the endpoints for administrators. It stores nothing,
 * so its token is gone when the page is closed or loaded again.
 */
import { button, byId, element, field, form } from './sections/elements.ts';
import { mailSection } from './sections/mail.ts';
import { registrationSection } from './sections/registration.ts';
import { usersSection } from './sections/users.ts';
import { Server } from './server.ts';

/** The answer of a server that wants its access key. */
const restricted = 'Access to this server is restricted.';

const message = byId('message');
const content = byId('content');

const server = new Server();
server.onSignedOut = () => showSignIn();

function say(sentence: string): void {
  message.textContent = sentence;
  message.hidden = sentence === '';
}

function showSignIn(): void {
  const email = element('input', { type: 'email', required: true, autocomplete: 'username' });
  const password = element('input', { type: 'password', required: true, autocomplete: 'current-password' });
  const code = element('input', { type: 'text', inputMode: 'numeric', autocomplete: 'one-time-code' });
  const codeField = field('Code of the second factor', code);
  codeField.hidden = true;
  const key = element('input', { type: 'password', autocomplete: 'off' });
  const keyField = field('Access key of this server', key);
  keyField.hidden = true;

  async function signIn(): Promise<void> {
    say('Signing in…');
    server.accessKey = key.value;
    const answer = await server.signIn(email.value, password.value, code.value.trim());
    if (!('refused' in answer)) return showAdministration();
    codeField.hidden &&= answer.refused.tag !== 'mfa-required';
    keyField.hidden &&= answer.refused.message !== restricted;
    say(answer.refused.message);
  }

  content.replaceChildren(
    form(
      [field('E-mail address', email), field('Password', password), codeField, keyField],
      'Sign in',
      signIn,
    ),
  );
  email.focus();
}

async function showAdministration(): Promise<void> {
  const allowed = await server.call('GET', 'v1/admin/registration');
  if ('refused' in allowed) {
    const isOther = allowed.refused.tag === 'admin-required';
    await server.signOut();
    say(isOther ? 'This account is no administrator.' : allowed.refused.message);
    return;
  }
  say('');
  const page = { server, say };
  const signOut = button('Sign out', async () => {
    await server.signOut();
    say('Signed out.');
  });
  content.replaceChildren(registrationSection(page), usersSection(page), mailSection(page), signOut);
}

showSignIn();
