/** Upper bounds for the settings of shared vaults (`settings.ts`). */

/** Each is an entry in memory of the user's actor. */
export const membershipsMax = 500;
/** The commit that ends the vault reads all members and tells each of them. */
export const membersMax = 1_000;
export const invitesMax = 500;
