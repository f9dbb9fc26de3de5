/** What the settings of shared vaults (`actors/settings.ts`) can be turned up to. */

/** Each is an entry in memory of the user's actor. */
export const membershipsMax = 500;
/** All of them are read, and told, when something concerns them all: in one commit, when the vault ends. */
export const membersMax = 1_000;
export const invitesMax = 500;
