/** The shared vaults of a user, as the rows of the vaults say at this moment. */
import { crossOwner, type View } from '../../../runtime/command.ts';
import { vaultResponse } from '../../vault/responses.ts';
import { membershipsMax } from '../../vault/settings.ts';
import { memberTable, vaultTable } from '../../vault/tables.ts';
import { signedInRead } from '../signed-in.ts';
import { Vaults } from './contract.ts';
import { membershipsOf } from './memberships.ts';

/** A vault gives its rows only to members. */
export const membershipFor = ({ self }: Pick<View, 'self'>) => ({ table: memberTable, member: self.id });

export const fromStart = (vaultUuids: Iterable<string>) =>
  [...vaultUuids].map((owner) => ({ owner, after: 0 }));

export const ownVaultsPlan = (view: View) => ({
  vaults: crossOwner(vaultTable, {
    membership: membershipFor(view),
    owners: fromStart(membershipsOf(view).keys()),
    limit: membershipsMax,
  }),
});

export const listVaults = signedInRead(Vaults.commands.listVaults, {
  reads: ownVaultsPlan,
  answer: (_view, _request, { vaults }) => {
    const rows = vaults.owners.flatMap(({ rows }) => rows);
    return {
      sharedVaults: rows.map(vaultResponse),
      designatedSurvivors: rows.flatMap(({ vault, survivor_uuid }) =>
        survivor_uuid === null ? [] : [{ sharedVaultUuid: vault, userUuid: survivor_uuid }],
      ),
    };
  },
});
