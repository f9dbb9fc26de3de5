/** How requests name an account. An impossible name is refused before it reaches the database. */
import { z } from 'zod';
import type { SignInAddress } from '../../actors/identity/signin-keys.ts';
import { normaliseUsername, normaliseWorkspace } from '../../actors/identity/usernames.ts';
import type { AccountSettings } from '../../actors/settings.ts';
import { isStorableText } from '../../runtime/table.ts';

export const emailField = z.string().max(1_024).refine(isStorableText);
export const workspaceField = z.string().max(256).refine(isStorableText).nullish();

/** The refusal of a request that names no address, or a blank one. */
export const missingEmail = { status: 400, message: 'Please provide an email address.' } as const;

/** The identifier of an account at sign-in, from the name in a request. */
export function addressOf(
  { workspacesPerEmail }: Pick<AccountSettings, 'workspacesPerEmail'>,
  email: string,
  workspace: string | null | undefined,
): SignInAddress {
  return { email: normaliseUsername(email), workspace: normaliseWorkspace(workspace, workspacesPerEmail) };
}
