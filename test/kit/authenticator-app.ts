/** The authenticator app of a test's user: a second factor with codes by the test's clock. */
import { generateSync } from 'otplib';
import type { Device } from './device.ts';
import type { TestServer } from './server.ts';

export const appCode = ({ clock }: Pick<TestServer, 'clock'>, secret: string, stepsLater = 0): string =>
  generateSync({ secret, epoch: Math.floor(clock.nowMs() / 1_000) + 30 * stepsLater });

/** Turns the factor on, and returns the app's secret. */
export async function addAuthenticatorApp(server: TestServer, device: Device): Promise<string> {
  const path = `/v1/users/${device.account.userUuid}`;
  const { secret } = (await device.call('GET', `${path}/mfa-secret`)).body;
  const body = { name: 'MFA_SECRET', value: secret, totpToken: appCode(server, secret) };
  const on = await device.call('PUT', `${path}/settings`, { body });
  if (on.status !== 200) throw new Error(on.text);
  return secret;
}
