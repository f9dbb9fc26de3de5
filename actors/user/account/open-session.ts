import { z } from 'zod';
import { command, type TurnCommand } from '../../../runtime/command.ts';
import type { KindRef } from '../../../runtime/kind.ts';
import type { UserServices } from '../../services.ts';
import { profileSlice } from '../profile.ts';
import { type Device, deviceSchema, type Issued, issuedSchema, openSession } from '../sessions/issue.ts';

export interface OpenSessionRequest {
  /** The version and address of the credentials that were found right. */
  readonly credentialsVersion: number;
  readonly email: string;
  readonly workspace: string;
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly device: Device;
}

export type OpenSessionReply =
  | { readonly issued: Issued; readonly protocolVersion: string }
  /** The credentials have changed since they were read, or the account is gone. */
  | { readonly stale: true };

/**
 * The last step of a sign-in, asked by the `signin` actor once the password was found right. The place where a ban
 * will be looked at.
 */
export function openSessionCommand(
  services: UserServices,
): TurnCommand<OpenSessionRequest, OpenSessionReply> {
  return command({
    request: z.object({
      credentialsVersion: z.number(),
      email: z.string(),
      workspace: z.string(),
      apiVersion: z.string(),
      ephemeral: z.boolean(),
      device: deviceSchema,
    }),
    reply: z.union([
      z.object({ issued: issuedSchema, protocolVersion: z.string() }),
      z.object({ stale: z.literal(true) }),
    ]),
    repeat: 'recorded',
    turn: (turn, { credentialsVersion, email, workspace, ...wanted }) => {
      const profile = turn.get(profileSlice);
      const stands =
        profile.state === 'active' &&
        profile.credentialsVersion === credentialsVersion &&
        profile.email === email &&
        profile.workspace === workspace;
      if (!stands) return { stale: true };
      const issued = openSession(turn, services, { ...wanted, readonly: false });
      return { issued, protocolVersion: profile.protocolVersion };
    },
  });
}

/** The `user` kind as the `signin` actor needs it; it cannot import the whole, which imports `signin`. */
export const SessionOpener: KindRef<{ openSession: ReturnType<typeof openSessionCommand> }> = {
  name: 'user',
};
