/** The actions of people besides syncing: with the vaults that they share, and with files. */
export const permissions = ['read', 'write', 'admin'] as const;
export type Permission = (typeof permissions)[number];

interface Does<D extends string> {
  readonly does: D;
}

interface InVault {
  readonly vault: string;
}

/** The owner of a file is an account or a vault, by its uuid. */
interface OfFile {
  readonly file: string;
  readonly collection: string;
}

export type Operation =
  | Does<'make-vault'>
  | (Does<'invite'> & InVault & { readonly whom: string; readonly permission: Permission })
  | (Does<'change-invite'> & InVault & { readonly invite: string; readonly permission: Permission })
  /** `permission`: the value of the invite when it was listed. */
  | (Does<'accept'> & InVault & { readonly invite: string; readonly permission: Permission })
  | (Does<'decline'> & InVault & { readonly invite: string })
  /** On oneself: to leave. */
  | (Does<'remove'> & InVault & { readonly whom: string })
  | (Does<'designate'> & InVault & { readonly whom: string })
  | (Does<'end-vault'> & InVault)
  | Does<'delete-account'>
  /** From its token to its close. */
  | (Does<'upload'> & OfFile & { readonly bytes: number })
  | (Does<'read'> & OfFile)
  | (Does<'erase'> & OfFile)
  | (Does<'move'> & OfFile & { readonly to: string });

export type OperationOf<D extends Operation['does']> = Extract<Operation, Does<D>>;
