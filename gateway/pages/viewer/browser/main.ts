/**
 * The page of a public share. It asks before it opens the share, because opening may use it up and the page cannot
 * know in advance. It shows the content as text and never as markup.
 */

import { type Rich, richTextOf } from './rich-text.ts';
import { linkKeyOf, type Note, type OpenedShare, unseal } from './sealed.ts';

type FetchResult =
  | { readonly outcome: 'payload'; readonly payload: string }
  | { readonly outcome: 'gone' | 'too-many' | 'refused' | 'unreachable' };

/** Fetches the content of a share from the server, which may give it only once. */
async function fetchShare(shareId: string): Promise<FetchResult> {
  try {
    const answer = await fetch(`v1/shares/${shareId}`, { credentials: 'omit', redirect: 'error' });
    if (answer.status === 404) return { outcome: 'gone' };
    if (answer.status === 429) return { outcome: 'too-many' };
    if (!answer.ok) return { outcome: 'refused' };
    const { encryptedPayload } = (await answer.json()) as { readonly encryptedPayload: unknown };
    return { outcome: 'payload', payload: String(encryptedPayload) };
  } catch {
    return { outcome: 'unreachable' };
  }
}

interface Link {
  readonly shareId: string;
  /** No server may see it. */
  readonly key: Uint8Array;
}

const idForm = /^[0-9a-f-]{36}$/i;

/** Reads the link, and removes its key from the address bar and the history. Undefined if the link is incomplete. */
function takeLink(): Link | undefined {
  const { hash, search } = location;
  history.replaceState(null, '', search);
  const shareId = new URLSearchParams(search).get('shared') ?? '';
  const key = linkKeyOf(hash.slice(1));
  return key === undefined || !idForm.test(shareId) ? undefined : { shareId, key };
}

/** Puts a rich text into the page. Only names of `rich-text.ts` become elements, and texts become text nodes. */
function nodeOf(rich: Rich): Node {
  if (typeof rich === 'string') return document.createTextNode(rich);
  const element = document.createElement(rich.name);
  element.append(...rich.children.map(nodeOf));
  if (element instanceof HTMLAnchorElement && rich.href !== undefined) {
    element.setAttribute('href', rich.href);
    element.rel = 'noopener noreferrer nofollow';
    element.target = '_blank';
  }
  if (element instanceof HTMLInputElement) {
    element.type = 'checkbox';
    element.disabled = true;
    element.checked = rich.checked ?? false;
  }
  return element;
}

type Problem =
  | Exclude<FetchResult['outcome'], 'payload'>
  | Exclude<OpenedShare['opened'], 'notes'>
  | 'incomplete';

const invitation =
  'Somebody has shared something with you. It may be possible to open it only once, so open it when you can read it.';
const problems: Readonly<Record<Problem, string>> = {
  incomplete: 'This link is incomplete. Open the whole link that you received, with the part after the #.',
  gone: 'There is nothing here any more: it was opened already, its time is over, or it was revoked. The link may also be wrong.',
  'too-many': 'Too many shares were opened from your network. Try again in a minute.',
  refused: 'The server does not answer this now. Try again later.',
  unreachable:
    'No answer came. Try again; if it could be opened only once, the answer that was lost may have been that once.',
  'wrong-key':
    'The key in this link does not fit. If you have the whole link, paste it into the address bar now: this page keeps what it was given until you close it.',
  unsupported: 'This was shared in a way that this page does not know. Open the link in a newer app.',
  other:
    'This page cannot display the shared content properly. Here is its raw text; you may not be able to open it again.',
};
const canTryAgain: readonly Problem[] = ['too-many', 'refused', 'unreachable'];

function elementOf(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no ${id}.`);
  return element;
}

const message = elementOf('message');
const button = elementOf('open') as HTMLButtonElement;
const content = elementOf('content');

let link: Link | undefined;
/** Kept, because a one-time share gives it once and the user may paste the key again. */
let payload: string | undefined;

function begin(): void {
  link = takeLink();
  content.replaceChildren();
  if (link === undefined) complain('incomplete');
  else if (payload === undefined) say(invitation, 'Open');
  else reveal(payload, link);
}

async function open(): Promise<void> {
  const opening = link;
  if (opening === undefined) return;
  say('Opening…');
  const answer = await fetchShare(opening.shareId);
  if (answer.outcome !== 'payload') {
    complain(answer.outcome);
    return;
  }
  payload = answer.payload;
  reveal(payload, link ?? opening);
}

function reveal(sealed: string, { key }: Link): void {
  const opened = unseal(sealed, key);
  if (opened.opened !== 'notes') complain(opened.opened);
  if (opened.opened === 'other') content.append(textElement('div', opened.text));
  if (opened.opened !== 'notes') return;
  say('');
  const { title, notes } = opened;
  if (title !== undefined) content.append(textElement('h1', title || 'Without a title'));
  content.append(...notes.map((note) => articleOf(note, title === undefined ? 'h1' : 'h2')));
  content.focus({ preventScroll: true });
}

function articleOf({ title, text }: Note, heading: 'h1' | 'h2'): HTMLElement {
  const article = document.createElement('article');
  article.append(textElement(heading, title || 'Without a title'), bodyOf(text));
  return article;
}

function bodyOf(text: string): HTMLElement {
  const rich = richTextOf(text);
  if (rich === undefined) return textElement('div', text);
  const body = textElement('div', '');
  body.append(...rich.map(nodeOf));
  return body;
}

/** Together with `nodeOf`, the only way for shared content into the page. */
function textElement(name: 'h1' | 'h2' | 'div', text: string): HTMLElement {
  const element = document.createElement(name);
  element.dir = 'auto';
  element.textContent = text;
  return element;
}

function complain(problem: Problem): void {
  say(problems[problem], canTryAgain.includes(problem) ? 'Try again' : undefined);
}

function say(text: string, action?: string): void {
  message.textContent = text;
  message.hidden = text === '';
  button.hidden = action === undefined;
  button.textContent = action ?? '';
}

begin();
button.addEventListener('click', open);
// Pasting a link to the same share into the address bar loads nothing.
addEventListener('hashchange', begin);
