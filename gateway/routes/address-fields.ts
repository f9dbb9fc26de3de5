/** How requests name an account: a name that no account can have is refused before it reaches the database. */
import { z } from 'zod';
import { isStorableText } from '../../actors/storable-text.ts';

export const emailField = z.string().max(1_024).refine(isStorableText);
export const workspaceField = z.string().max(256).refine(isStorableText).nullish();
