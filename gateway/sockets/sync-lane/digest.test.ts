import test from 'ava';
import fc from 'fast-check';
import { canonicalJson, commandDigestOf } from './digest.ts';

const vectors: readonly (readonly [name: string, body: string, bytes: number, digest: string])[] = [
  [
    'a save',
    '{"api":"20200115","items":[{"uuid":"note-1","content":"ciphertext","content_type":"Note","deleted":false}],"sync_token":"token"}',
    128,
    'e4c8512aab76dd9aca235be947afc7829b5ea652db89f93f672f69648a5e885e',
  ],
  [
    'a save to a vault',
    '{"api":"20240226","items":[{"uuid":"note-1","content":"ciphertext","content_type":"Note","deleted":false,"created_at":"2026-08-18T12:34:56.789Z","updated_at_timestamp":1787056496789}],"sync_token":"token","limit":150,"shared_vault_uuids":["vault-1"]}',
    250,
    'ad38335b0a6e0a2ca113211f95ae13922faad67d066ba7b3ede390125f470f61',
  ],
  ['an empty body', '{}', 2, '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'],
  [
    'keys out of order',
    '{"b":1,"a":2}',
    13,
    'd3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772',
  ],
  [
    'a pull',
    '{"items":[],"limit":150,"api":"20240226","compute_integrity":false}',
    67,
    '6d7e452095cd2fa98c7dca084cf9a825ca83040eb7bad0b588545fd748873c9d',
  ],
  [
    'integer-like keys and numbers in other notations',
    String.raw`{"z":null,"10":1,"9":2,"é":"\u00e9","e":"😀","Z":[1.0,1e3,0.1,-0,{"b":[],"a":{}}]}`,
    79,
    '14775efb15f23c857dd7b014f24fb676e96ef73663a4a945e5bfc69dc50642d4',
  ],
  [
    'escapes',
    String.raw`{"s":"a\"\\\/\b\f\n\r\t\u0001\u2028\ud800","t":true}`,
    48,
    '8287f3a08614b9478e6f1f5bc3cc4820a21d82409363dc8a715f5ffddcd86dcd',
  ],
  [
    'keys in order of code units',
    String.raw`{"\ufb33":1,"\ud83d\ude00":2}`,
    18,
    'ec4e7d8c2963caa38dccc3d42693719ac9c6ecd783891b583d333565620ac2be',
  ],
  [
    'numbers at their limits',
    '{"n":[1.7976931348623157e308,5e-324,1e21,123456789012345680000,0.000001,1e-7,9007199254740993]}',
    97,
    'dc791218d397dc76c9ebe5b8f00c08da5861757f19d16d9356d488d63b29243e',
  ],
];

for (const [name, body, bytes, digest] of vectors) {
  test(`the digest of ${name} is the one that clients make`, (t) => {
    const parsed: unknown = JSON.parse(body);
    t.is(Buffer.byteLength(canonicalJson(parsed)), bytes);
    t.is(commandDigestOf(parsed), digest);
    // A client that has normalised its body before sending gets the same digest.
    t.is(commandDigestOf(JSON.parse(canonicalJson(parsed))), digest);
  });
}

test('canonical JSON says the same, in whatever order the keys came', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
      const sent: unknown = JSON.parse(JSON.stringify(body));
      const reversed = Object.fromEntries(Object.entries(sent as object).reverse());
      t.deepEqual(JSON.parse(canonicalJson(sent)), sent);
      t.is(canonicalJson(reversed), canonicalJson(sent));
    }),
  );
});
