/** The captcha that guards sign-in and registration (docs/protocol/authentication.md, "Attempts and lock-out"). */
import { dependency } from '../../runtime/dependency.ts';

export interface CaptchaVerifier {
  /** Whether this token, as the client got it for a solved captcha, passes. */
  passes(token: string | undefined): Promise<boolean>;
}
export const CaptchaVerifier = dependency<CaptchaVerifier>('the captcha verifier');

/** Without a captcha server every caller passes. */
export const noCaptcha: CaptchaVerifier = { passes: async () => true };

/** Asks `GET <serverUrl>/verify?token=…` for `{"status":"pass"}`. Whatever else happens is a failure. */
export function createCaptchaVerifier(serverUrl: string, timeoutMs = 5_000): CaptchaVerifier {
  return {
    async passes(token) {
      if (token === undefined || token === '') return false;
      const url = new URL(`${serverUrl.replace(/\/$/, '')}/verify`);
      url.searchParams.set('token', token);
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
        const answer: unknown = await response.json();
        return (
          typeof answer === 'object' && answer !== null && 'status' in answer && answer.status === 'pass'
        );
      } catch {
        return false;
      }
    },
  };
}
