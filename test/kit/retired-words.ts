/**
 * Words that names here do not use, and the word that says the same: the term of the field, and one word for one thing
 * (docs/architecture.md, "Words"). `test/words.test.ts` holds every identifier and every file name against this table.
 */

export interface RetiredWord {
  /** Tried on a name in lower case with a blank between its words: `flowsUnderWay` is "flows under way". */
  readonly was: RegExp;
  readonly use: string;
  /** The files in which it is retired; absent, all are. */
  readonly in?: RegExp;
  readonly except?: readonly Exception[];
}

interface Exception {
  readonly name: RegExp;
  readonly in?: RegExp;
  readonly because: string;
}

export const retiredWords: readonly RetiredWord[] = [
  { was: /\b(lay|lays|laid)\b/, use: 'overlay, for state over state' },
  { was: /\bfoundation\b/, use: 'resources' },
  { was: /\bbeats?\b/, use: 'heartbeat' },
  {
    was: /\bflows?\b/,
    use: 'workflow',
    except: [{ name: /^flow( at)?$/, in: /tcp-proxy/, because: 'bytes of a stream flow' }],
  },
  { was: /\brepeating\b/, use: 'retrier' },
  { was: /\b(follow|follows|followed|followers?|following)\b/, use: 'subscribe, subscription or publisher' },
  {
    was: /\b(gather|gathers|gathered|gathering)\b/,
    use: 'pending commit',
    except: [{ name: /^max parallel workers per gather$/, because: 'a setting of PostgreSQL' }],
  },
  { was: /\bunder way\b/, use: 'in flight' },
  { was: /\blook(s|ed|ing)?\b(?! up)/, use: 'reconcile, or check' },
  { was: /\bunheard\b/, use: 'unreachable' },
  { was: /\b(bury|buries|buried)\b/, use: 'tombstone for an actor, expire for a node' },
  { was: /\bbirths?\b/, use: 'generation' },
  {
    was: /\bweights?\b/,
    use: 'size',
    in: /^(runtime|actors)\/|^test\/store\//,
    except: [
      {
        name: /^weight$/,
        in: /^runtime\/ownership\/placement/,
        because: 'hosts are placed by weighted hashing',
      },
      { name: /^weight$/, in: /\.test\.ts$/, because: 'how often a random case is drawn' },
    ],
  },
  { was: /\b(taken rows?|find taken)\b/, use: 'conflicting rows' },
  { was: /\bmishaps?\b/, use: 'fault injector' },
  { was: /\b(judge|judges|judged)\b/, use: 'checker' },
  {
    was: /\b(settle|settles|settled|unsettled)\b/,
    use: 'a word of its own: settled are outcomes of commits whose answer was lost, and nothing else',
    except: [
      { name: /^settle commit$|^unknown settled by read$/, because: 'the outcome of a commit' },
      { name: /^settled?$/, in: /fault-calls\.ts$|faults\.test\.ts$/, because: 'the outcome of a commit' },
      { name: /^(all settled|promise settled result)$/, because: 'of the language' },
    ],
  },
  {
    was: /\b(refusals?|refuse|refused|refuses|refusing)\b/,
    use: 'reject: refusals are answers of the domain and the gateway to a client',
    in: /^runtime\//,
  },
  {
    was: /\w ports$/,
    use: 'options: ports are interfaces that adapters implement',
    except: [{ name: /^free ports$/, because: 'of TCP' }],
  },
  {
    was: /\boperations?\b/,
    use: 'call or method: operations are what operators do',
    in: /^runtime\/|^test\/(store|simulation|.*bad-input)\//,
    except: [
      {
        name: /\boperations\b/,
        in: /^runtime\/(operations|host\/|jobs\/jobs\.test)/,
        because: 'it is what operators do',
      },
    ],
  },
];
