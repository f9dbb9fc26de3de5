import type { CaptchaVerifier } from '../services.ts';

/** Without a captcha server every caller passes. */
export async function passesCaptcha(
  captcha: CaptchaVerifier | undefined,
  token: string | undefined,
): Promise<boolean> {
  if (captcha === undefined) return true;
  return token !== undefined && token !== '' && (await captcha.verify(token));
}

/** Asks `GET <serverUrl>/verify?token=…` for `{"status":"pass"}` (auth.md 5.4). Whatever else happens is a failure. */
export function createCaptchaVerifier(serverUrl: string, timeoutMs = 5_000): CaptchaVerifier {
  return {
    async verify(token) {
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
