/** HTML that cannot be broken out of: what a template is given is escaped, unless it is itself made by `html`. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | readonly HtmlPart[];

export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const rest = parts.map((part, index) => textOf(part) + (texts[index + 1] ?? ''));
  return new Html((texts[0] ?? '') + rest.join(''));
}

function textOf(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join('');
  return escaped(String(part));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
