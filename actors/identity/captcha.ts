/** The captcha that guards sign-in and registration (docs/protocol/authentication.md, "Attempts and lock-out"). */
import { dependency } from '../../runtime/dependency.ts';
import type { OutboundHttp } from '../outbound/http.ts';

export interface CaptchaVerifier {
  /** Whether the token that the client got for a solved captcha passes. */
  passes(token: string | undefined): Promise<boolean>;
}
export const CaptchaVerifier = dependency<CaptchaVerifier>('the captcha verifier');

/** Used without a captcha server: every caller passes. */
export const noCaptcha: CaptchaVerifier = { passes: async () => true };

const timeoutMs = 5_000;
const answerBytesMax = 16_384;
const redirectsMax = 5;

/** Asks `GET <serverUrl>/verify?token=…` for `{"status":"pass"}`. Anything else is a failure. */
export function createCaptchaVerifier(serverUrl: string, http: OutboundHttp): CaptchaVerifier {
  return {
    async passes(token) {
      if (token === undefined || token === '') return false;
      const url = new URL(`${serverUrl.replace(/\/$/, '')}/verify`);
      url.searchParams.set('token', token);
      try {
        const { body } = await http.send({
          destination: 'fixed',
          url,
          timeoutMs,
          answerBytesMax,
          redirectsMax,
        });
        const answer: unknown = JSON.parse(body.toString());
        return (
          typeof answer === 'object' && answer !== null && 'status' in answer && answer.status === 'pass'
        );
      } catch {
        return false;
      }
    },
  };
}
