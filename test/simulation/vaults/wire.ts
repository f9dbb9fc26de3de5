/** The requests and answers of members, as far as the simulation reads them. */
export interface SentToVault {
  readonly uuid: string;
  readonly content: string | null;
  readonly deleted: boolean;
  readonly updated_at_timestamp: number;
  readonly shared_vault_uuid: string | null;
}

export interface ReceivedOfVault {
  readonly uuid: string;
  readonly updated_at_timestamp: number;
  readonly deleted: boolean;
  readonly content?: string | null;
  readonly shared_vault_uuid: string | null;
  readonly user_uuid: string;
}

export interface MemberAnswer {
  readonly sync_token: string;
  readonly cursor_token?: string;
  readonly shared_vaults: readonly { readonly uuid: string; readonly user_uuid: string }[];
  readonly retrieved_items: readonly ReceivedOfVault[];
  readonly saved_items: readonly ReceivedOfVault[];
  readonly conflicts: readonly {
    readonly type: string;
    readonly server_item?: ReceivedOfVault;
    readonly unsaved_item?: { readonly uuid: string };
  }[];
}

/** The replica of a member who knows nothing but their answers. */
export interface MemberCopy {
  readonly version: number;
  readonly content: string | null;
  readonly deleted: boolean;
}
