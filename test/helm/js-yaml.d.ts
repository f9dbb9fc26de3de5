declare module 'js-yaml' {
  export function safeLoadAll(text: string): unknown[];
  export function safeDump(value: unknown): string;
}
