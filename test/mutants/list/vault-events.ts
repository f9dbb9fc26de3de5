import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/sockets/vaults.test.ts'];
const audiences = ['gateway/sockets/audiences.test.ts'];
const notices = ['gateway/sockets/vault-notices.test.ts'];
const attacks = ['test/attacks/vault-events.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-frame-for-each-save',
    harm: 'A vault in which many work at once sends each of its members a frame for every save.',
    file: 'gateway/sockets/vault-notices.ts',
    find: 'if (pause === undefined) this.#tellAndPause(vaultUuid, change);',
    replace: 'if (pause === undefined || true) this.#tellAndPause(vaultUuid, change);',
    tests: notices,
  },
  {
    name: 'a-change-lost-in-a-pause',
    harm: 'Members are not told of what was saved right after something else.',
    file: 'gateway/sockets/vault-notices.ts',
    find: 'if (pending !== undefined) this.#tellAndPause(vaultUuid, pending);',
    replace: '',
    tests: notices,
  },
  {
    name: 'a-vault-that-strangers-hear',
    harm: 'Whoever names a vault learns when its members work.',
    file: 'actors/vault/sockets.ts',
    find: 'return row === undefined ? [] : [[each, row.membership] as const];',
    replace: 'return [[each, row?.membership ?? 1] as const];',
    tests: attacks,
  },
  {
    name: 'a-removed-member-who-hears',
    harm: 'Who was removed goes on learning when the others work.',
    file: 'actors/vault/roster.ts',
    find: "  turn.publish(Vault, { event: 'member-removed', userUuid: member, membership });\n",
    replace: '',
    tests: behaviour,
  },
  {
    name: 'a-gateway-that-believes-hints',
    harm: 'Frames of a vault reach who was its member once.',
    file: 'gateway/sockets/audiences.ts',
    find: '      if (isAdmitted) yield userUuid;',
    replace: '      if (isAdmitted || true) yield userUuid;',
    tests: audiences,
  },
  {
    name: 'an-answer-from-before',
    harm: 'Who was removed while his socket opened hears the vault until it closes.',
    file: 'gateway/sockets/audiences.ts',
    find: 'if (listener === undefined || listener !== named.get(userUuid)) continue;',
    replace: 'if (listener === undefined) continue;',
    tests: audiences,
  },
  {
    name: 'an-end-of-an-earlier-membership',
    harm: 'Who was removed and came back hears nothing.',
    file: 'gateway/sockets/audiences.ts',
    find: 'listener.membership <= membership',
    replace: 'membership > 0',
    tests: audiences,
  },
  {
    name: 'members-nobody-asks-about-again',
    harm: 'Who was removed while an event was lost hears the vault for as long as his socket is open.',
    file: 'gateway/sockets/audiences.ts',
    find: 'if (membership === undefined) this.#drop(audience.vaultUuid, userUuid);',
    replace: 'if (membership === undefined) continue;',
    tests: audiences,
  },
  {
    name: 'memberships-without-bound',
    harm: 'Users of many vaults fill the memory of the gateway.',
    file: 'gateway/sockets/audiences.ts',
    find: '!mayTakeOneMore(held, free, share)',
    replace: 'free + held < 0',
    tests: audiences,
  },
  {
    name: 'memberships-that-are-never-given-up',
    harm: 'A gateway stays subscribed to every vault it ever heard of.',
    file: 'gateway/sockets/hub.ts',
    find: '    this.#audiences.leave(userUuid);\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'sessions-of-others',
    harm: 'Members learn the uuids of the sessions of other members.',
    file: 'gateway/sockets/hub.ts',
    find: 'itemsChanged(by ?? vaultUuid, timestamp));',
    replace: 'itemsChanged(by ?? vaultUuid, timestamp, session));',
    tests: behaviour,
  },
  {
    name: 'a-device-that-is-told-of-itself',
    harm: 'A device syncs after each of its own saves.',
    file: 'gateway/sockets/hub.ts',
    find: '      if (userUuid !== by) this.#sendText(userUuid, text);\n      else if',
    replace: '      this.#sendText(userUuid, text);\n      if',
    tests: behaviour,
  },
  {
    name: 'joining-that-nobody-hears-of',
    harm: 'Who joins a vault while his socket is open polls until he opens another.',
    file: 'actors/user/vaults/memberships.ts',
    find: "  turn.publish(User, { event: 'vault-joined', vaultUuid, membership });\n",
    replace: '',
    tests: behaviour,
  },
];
