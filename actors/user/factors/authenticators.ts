/**
 * Security keys and passkeys, by WebAuthn (docs/protocol/account.md, "Security keys").
 *
 *     offered     options with a challenge, which counts once and for a few minutes
 *     added       by an attestation over that challenge; verified outside any turn
 *     used        by an assertion over a challenge of the `signin` actor; its counter never goes backwards
 *
 * The commit that adds a key removes its challenge, so a response counts once.
 */
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import type { Turn } from '../../../runtime/command.ts';
import { slice, sliceMap } from '../../../runtime/slice.ts';
import type { PseudoCredential } from '../../identity/signin-keys.ts';
import { refuse } from '../../reply.ts';
import { WebAuthnSettings } from '../../settings.ts';
import { restartSignIns } from '../account/password-guard.ts';
import { audit } from '../audit/trail.ts';
import { profileSlice } from '../profile.ts';
import { anotherUsers, signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { Factors } from './contract.ts';

export const authenticatorsMax = 20;
const challengeBytes = 32;
const challengeMs = 300_000;
/** How long the client waits for the user to touch the key. */
const timeoutMs = 60_000;
/** EdDSA, ES256 and RS256, by their COSE numbers. */
const algorithms = [-8, -7, -257];

const storedSchema = z.object({
  uuid: z.string(),
  /** Base64url, as clients have it. */
  credentialId: z.string(),
  publicKey: z.instanceof(Uint8Array),
  counter: z.number(),
  transports: z.array(z.string()),
  createdAtMs: z.number(),
  lastUsedAtMs: z.number().nullable(),
});
type Authenticator = z.infer<typeof storedSchema>;

/** Loaded with the first use of a security key: the library is 250 files, which most servers never need. */
const webAuthn = () => import('@simplewebauthn/server');
const webAuthnHelpers = () => import('@simplewebauthn/server/helpers');

/** Keyed by uuid. */
export const authenticatorMap = sliceMap<Authenticator>({
  family: 'authenticator',
  entriesMax: authenticatorsMax,
  schema: storedSchema,
});

/** The challenge that a pending registration has to sign. */
export const authenticatorOfferSlice = slice<{ challenge: string; untilMs: number } | null>({
  name: 'authenticator-offer',
  schema: z.object({ challenge: z.string(), untilMs: z.number() }).nullable(),
  initial: null,
});

const tooMany = refuse.badRequest(`There are ${authenticatorsMax} security keys already. Remove one first.`);
const notVerified = refuse.badRequest('The security key could not be verified. Please try again.');
const unknown = refuse.notFound('There is no such security key.');

const offerAuthenticator = signedInTurn(Factors.commands.offerAuthenticator, (turn) => {
  const { relyingPartyId, relyingPartyName } = turn.use(WebAuthnSettings);
  const known = [...turn.entries(authenticatorMap).values()];
  if (known.length >= authenticatorsMax) return tooMany;
  const challenge = turn.random.bytes(challengeBytes).toString('base64url');
  turn.set(authenticatorOfferSlice, { challenge, untilMs: turn.nowMs + challengeMs });
  const { email } = turn.get(profileSlice);
  const options = {
    challenge,
    rp: { id: relyingPartyId, name: relyingPartyName },
    user: { id: Buffer.from(turn.self.id).toString('base64url'), name: email, displayName: email },
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
    timeout: timeoutMs,
    attestation: 'none',
    excludeCredentials: known.map(descriptorOf),
    authenticatorSelection: {
      residentKey: 'preferred',
      requireResidentKey: false,
      userVerification: 'preferred',
    },
    extensions: { credProps: true },
  };
  return { options };
});

const addAuthenticator = signedInWorkflow(
  Factors.commands.addAuthenticator,
  async (workflow, { userUuid, attestationResponse }) => {
    const isOwn = userUuid === undefined || userUuid === workflow.self.id;
    const challenge = await workflow.turn({
      // A repeat of the call gets here what its last turn recorded.
      recorded: true,
      turn: (turn) => (isOwn ? (offeredChallenge(turn) ?? notVerified) : anotherUsers),
    });
    const { relyingPartyId, expectedOrigins, requireUserVerification } = workflow.use(WebAuthnSettings);
    const { verifyRegistrationResponse } = await webAuthn();
    const credential = await withoutAttestation(attestationResponse)
      .then((response) =>
        verifyRegistrationResponse({
          response,
          expectedChallenge: challenge,
          expectedOrigin: [...expectedOrigins],
          expectedRPID: relyingPartyId,
          requireUserVerification,
          supportedAlgorithmIDs: algorithms,
        }),
      )
      .then(
        ({ registrationInfo }) => registrationInfo?.credential,
        // The library throws at any mismatch. The client knows what it has sent, so no reason is given.
        () => undefined,
      );
    if (credential === undefined) return notVerified;
    return workflow.lastTurn({
      recorded: true,
      turn: (turn, _reads, { session }) => {
        if (turn.entries(authenticatorMap).size >= authenticatorsMax) return tooMany;
        if (findByCredential(turn, credential.id) !== undefined) return notVerified;
        if (offeredChallenge(turn) !== challenge) return notVerified;
        turn.set(authenticatorOfferSlice, null);
        restartSignIns(turn);
        const uuid = turn.random.uuid();
        turn.setEntry(authenticatorMap, uuid, {
          uuid,
          credentialId: credential.id,
          publicKey: credential.publicKey,
          counter: credential.counter,
          transports: [...(credential.transports ?? [])].slice(0, 8),
          createdAtMs: turn.nowMs,
          lastUsedAtMs: null,
        });
        audit(turn, 'security-key-added', session, uuid);
        return { id: uuid };
      },
    });
  },
);

const listAuthenticators = signedInRead(Factors.commands.listAuthenticators, (view) => ({
  authenticators: [...view.entries(authenticatorMap).values()]
    .toSorted((a, b) => a.createdAtMs - b.createdAtMs)
    .map(({ uuid }) => ({ id: uuid })),
}));

const removeAuthenticator = signedInTurn(
  Factors.commands.removeAuthenticator,
  (turn, { authenticatorUuid }, _reads, { session }) => {
    if (turn.entry(authenticatorMap, authenticatorUuid) === undefined) return unknown;
    turn.removeEntry(authenticatorMap, authenticatorUuid);
    audit(turn, 'security-key-removed', session, authenticatorUuid);
    return { message: 'The security key is removed.' };
  },
);

export const hasAuthenticators = (turn: Pick<Turn, 'entries'>): boolean =>
  turn.entries(authenticatorMap).size > 0;

export function removeAllAuthenticators(turn: Turn): void {
  for (const uuid of turn.entries(authenticatorMap).keys()) turn.removeEntry(authenticatorMap, uuid);
}

/**
 * Removes the proof of the key's maker, which the server does not ask for. Otherwise the library would fetch addresses that the
 * certificates of the proof name, before it has checked who issued them.
 */
async function withoutAttestation(
  registration: Readonly<Record<string, unknown>>,
): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await webAuthnHelpers();
  const sent = registration as unknown as RegistrationResponseJSON;
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(sent.response.attestationObject));
  const none = new Map<string, string | Uint8Array | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, string>()],
    ['authData', attestation.get('authData')],
  ]);
  const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(none));
  return { ...sent, response: { ...sent.response, attestationObject } };
}

/** The form of `allowCredentials` and `excludeCredentials`. */
export const descriptorOf = ({
  credentialId,
  transports,
}: Pick<Authenticator, 'credentialId' | 'transports'>) => ({
  id: credentialId,
  type: 'public-key' as const,
  transports,
});

export interface Assertion {
  /** The response of the authenticator, as the client sent it. */
  readonly response: Readonly<Record<string, unknown>>;
  readonly challenge: string;
}

/** The authenticator of the assertion, with its new counter. Undefined: the assertion does not verify. */
export async function verifyAssertion(
  authenticators: readonly Authenticator[],
  { response, challenge }: Assertion,
  { relyingPartyId, expectedOrigins, requireUserVerification }: WebAuthnSettings,
): Promise<Authenticator | undefined> {
  const used = authenticators.find(({ credentialId }) => credentialId === response['id']);
  if (used === undefined) return undefined;
  const { verifyAuthenticationResponse } = await webAuthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: [...expectedOrigins],
      expectedRPID: relyingPartyId,
      requireUserVerification,
      credential: {
        id: used.credentialId,
        publicKey: new Uint8Array(used.publicKey),
        // `noteAuthenticatorUse` judges the counter, so that a repeat of the call gets what was recorded.
        counter: 0,
        transports: used.transports as AuthenticatorTransport[],
      },
    });
    return verified ? { ...used, counter: authenticationInfo.newCounter } : undefined;
  } catch {
    // The library throws for a wrong origin, a wrong challenge and a broken signature alike.
    return undefined;
  }
}

/** Any point of the curve P-256, as a COSE key. What verifies by it is refused all the same. */
const dummyPublicKey = Buffer.from(
  'a5010203262001' +
    '2158206b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296' +
    '2258204fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
  'hex',
);

/** The key that an unknown address seems to have, to take as long over it as over a real one. */
export const dummyAuthenticator = ({ id, transports }: PseudoCredential): Authenticator => ({
  uuid: '',
  credentialId: id,
  publicKey: dummyPublicKey,
  counter: 0,
  transports: [...transports],
  createdAtMs: 0,
  lastUsedAtMs: null,
});

/** Records the use. False: the key is gone, or a later use is recorded already. */
export function noteAuthenticatorUse(turn: Turn, { uuid, counter }: Authenticator): boolean {
  const stored = turn.entry(authenticatorMap, uuid);
  if (stored === undefined || (stored.counter > 0 && counter <= stored.counter)) return false;
  turn.setEntry(authenticatorMap, uuid, { ...stored, counter, lastUsedAtMs: turn.nowMs });
  return true;
}

function findByCredential(turn: Turn, credentialId: string): Authenticator | undefined {
  return [...turn.entries(authenticatorMap).values()].find((each) => each.credentialId === credentialId);
}

function offeredChallenge(turn: Turn): string | undefined {
  const offer = turn.get(authenticatorOfferSlice);
  return offer !== null && turn.nowMs < offer.untilMs ? offer.challenge : undefined;
}

export const authenticatorCommands = {
  offerAuthenticator,
  addAuthenticator,
  listAuthenticators,
  removeAuthenticator,
};
