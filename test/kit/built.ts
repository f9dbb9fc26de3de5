/**
 * Built sources, for what a test runs in a separate process or loads by name. Paths begin at the root of the project.
 */
import { pathToFileURL } from 'node:url';
import { buildSources, builtFile } from '../../tools/built-sources.js';

// In a test, AVA has built them. The simulator and the mutants also run without AVA.
await buildSources();

/** The arguments with which Node.js runs this source. */
export const runs = (source: string): readonly string[] => ['--enable-source-maps', builtFile(source)];

export const builtUrl = (source: string): string => pathToFileURL(builtFile(source)).href;

export const importBuilt = <T>(source: string): Promise<T> => import(builtUrl(source));
