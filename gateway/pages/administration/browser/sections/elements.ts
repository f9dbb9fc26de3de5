/** Makes the elements of the page. What the server says goes in as text, never as markup. */

type Child = Node | string;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  fields: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  Object.assign(made, fields);
  made.append(...children);
  return made;
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

/** A button that cannot be pressed again before its work is done. */
export function button(text: string, work: () => Promise<void>): HTMLButtonElement {
  const made = element('button', { type: 'button', textContent: text });
  made.addEventListener('click', () => void whileDisabled(made, work));
  return made;
}

async function whileDisabled(pressed: HTMLButtonElement, work: () => Promise<void>): Promise<void> {
  pressed.disabled = true;
  try {
    await work();
  } finally {
    pressed.disabled = false;
  }
}

/** A field with its label. */
export function field(label: string, input: HTMLInputElement): HTMLLabelElement {
  return element('label', {}, label, input);
}

/** A form of these fields, whose button is pressed by Enter, too. */
export function form(fields: readonly Child[], action: string, work: () => Promise<void>): HTMLFormElement {
  const submit = element('button', { type: 'submit', textContent: action });
  const made = element('form', {}, ...fields, submit);
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileDisabled(submit, work);
  });
  return made;
}

export function tableElement(columns: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  if (rows.length === 0) return element('p', { className: 'none', textContent: 'None.' });
  const head = element(
    'tr',
    {},
    ...columns.map((text) => element('th', { scope: 'col', textContent: text })),
  );
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell))));
  return element(
    'div',
    { className: 'wide' },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)),
  );
}
