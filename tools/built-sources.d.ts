export const builtFolder: string;
export function buildSources(): Promise<void>;
export function builtFile(source: string, folder?: string): string;
export function compile(text: string, source: string): Promise<string>;
