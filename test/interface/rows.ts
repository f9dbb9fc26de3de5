/**
 * Every row of the interface that clients know, by area and in reading order, with the file and title of a test that
 * proves it. `beside.ts` has the other endpoints of this server.
 */
import type { Proof } from './promise.ts';

const at =
  (file: string) =>
  (title: string): Proof => [`test/behaviour/${file}.test.ts`, title];
const signIn = at('accounts/sign-in');
const sessions = at('accounts/sessions');
const recovery = at('accounts/recovery');
const credentials = at('accounts/credentials');
const settings = at('accounts/settings');
const factors = at('accounts/second-factor');
const authenticatorApp = at('accounts/authenticator-app');
const devices = at('items/two-devices');
const revisions = at('items/revisions');
const files = at('files/files');
const vaultFiles = at('files/vaults');
const sockets = at('sockets/sockets');
const lane = at('sockets/sync-lane');
const tokens = at('accounts/subscription-tokens');
const invites = at('accounts/subscription-invites');
const securityKeys = at('accounts/security-keys');
const codes = at('accounts/emailed-codes');
const vaults = at('vaults/vaults');
const inbox = at('vaults/notifications');
const messages = at('vaults/messages');
const appPasswords = at('accounts/app-passwords');
const bridges = at('accounts/bridge-tokens');
const trusted = at('accounts/trusted-devices');
const shares = at('accounts/public-shares');
const switches = at('mail/switches');
const reminders = at('mail/reminders');
const delivery = at('mail/reminder-delivery');
const assistant = at('assistant/stream');
const pairing = at('assistant/pairing');
const admin = at('accounts/administration');
const mail = at('mail/administration');
const todos = at('calendar/todos');
const calendarTokens = at('calendar/tokens');
const health = (title: string): Proof => ['gateway/routes/health.test.ts', title];

type Rows = Readonly<Record<string, Proof>>;

const vault = '/v1/shared-vaults/:sharedVaultUuid';

export const rows: Readonly<Record<string, Rows>> = {
  'Health and metadata': {
    'GET /healthcheck': health('the health check is plain text and needs nothing'),
    'GET /healthcheck/readiness': health('readiness names what fails, and a check that throws has failed'),
    'GET /v1/meta': health('the metadata has both forms and the files host'),
  },
  'Sign-in and sessions': {
    'POST /v2/login': signIn('signing in opens a session of its own'),
    'POST /v2/login-params': signIn('key params of unknown addresses look like real ones and never change'),
    'POST /v1/login': at('interface')('the aliases of old clients answer as what they stand for'),
    'GET /v1/login-params': at('interface')('the aliases of old clients answer as what they stand for'),
    'POST /v1/logout': sessions(
      'logout ends the session, clears its cookies, and takes an expired access token',
    ),
    'GET /v1/sessions': sessions('the list shows what a device is, newest refresh first'),
    'DELETE /v1/sessions/:uuid': sessions('a revoked session learns of it on every call, in both styles'),
    'DELETE /v1/sessions': sessions('all other sessions are revoked at once, ephemeral ones too'),
    'POST /v1/sessions/refresh': at('accounts/refresh')(
      'a pair may be refreshed into the other style, and the grace spans the change',
    ),
  },
  'Account recovery': {
    'POST /v1/account-recovery/lookup': recovery(
      'data left for a recovery is found by the user’s uuid alone',
    ),
    'POST /v1/recovery/codes': authenticatorApp(
      'recovery codes come with the factor, are shown for the password alone, and are replaced by new ones',
    ),
    'POST /v1/recovery/login': recovery(
      'recovery codes and the password sign in without the factor, turn it off, and are used up',
    ),
    'POST /v1/recovery/login-params': recovery(
      'recovery codes and the password sign in without the factor, turn it off, and are used up',
    ),
  },
  'Users, settings, features': {
    'POST /v1/users': signIn('an account is registered and its session works at once'),
    'POST /auth': at('interface')('the aliases of old clients answer as what they stand for'),
    'PUT /v1/users/:userUuid/attributes/credentials': credentials(
      'a new password ends every other session without a wipe and opens a lasting one',
    ),
    'DELETE /v1/users/:userUuid': credentials(
      'a deleted account is gone at once, its tokens are invalid and its address is free',
    ),
    'GET /v1/users/:userUuid/settings': settings(
      'a setting with a default is listed, and stays the same entry until it is set',
    ),
    'PUT /v1/users/:userUuid/settings': settings(
      'a setting is stored, shown, listed, changed and removed, in either case of its name',
    ),
    'GET /v1/users/:userUuid/settings/:settingName': settings('a secret is told to be set and never shown'),
    'DELETE /v1/users/:userUuid/settings/:settingName': settings(
      'a setting is stored, shown, listed, changed and removed, in either case of its name',
    ),
    'PUT /v1/users/:userUuid/subscription-settings': settings(
      'settings of the subscription have an endpoint of their own',
    ),
    'GET /v1/users/:userUuid/subscription-settings/:subscriptionSettingName': settings(
      'settings of the subscription have an endpoint of their own',
    ),
    'GET /v1/users/:userUuid/features': [
      'test/browser/subscriptions.test.ts',
      'every feature that the client knows is given, as the client describes it',
    ],
    'GET /v1/users/:userUuid/subscription': settings(
      'every account has the same subscription for a hundred years and all features',
    ),
    'GET /v1/users/:userUuid/mfa-secret': authenticatorApp(
      'a code made from the offered secret turns the factor on',
    ),
    'POST /v1/users/:userUuid/requests': at('accounts/requests')(
      'an export is a file of all items, as ciphertext, with the key params of the account',
    ),
  },
  'Sync and items': {
    'POST /v1/items': devices('an item that one device saves is given to the other, once'),
    'POST /v1/items/check-integrity': devices(
      'integrity names what differs and every item named can be fetched',
    ),
    'GET /v1/items/:uuid': devices('one item is found by its owner only, tombstones included'),
  },
  Revisions: {
    'GET /v2/items/:itemUuid/revisions': revisions('a list and a revision have the fields that clients read'),
    'GET /v2/items/:itemUuid/revisions/:id': revisions(
      'a list and a revision have the fields that clients read',
    ),
    'DELETE /v2/items/:itemUuid/revisions/:id': revisions('a revision is deleted alone, once and for all'),
  },
  Files: {
    'POST /v1/files/valet-tokens': files('a token is asked for with what it needs'),
    'POST /v1/files/upload/create-session': files(
      'a file that was uploaded in chunks is downloaded as it was',
    ),
    'POST /v1/files/upload/chunk': files('a file that was uploaded in chunks is downloaded as it was'),
    'POST /v1/files/upload/close-session': files(
      'an upload is not closed with a gap, without a chunk or without a session',
    ),
    'GET /v1/files': files('ranges are what HTTP says they are'),
    'DELETE /v1/files': files('a deleted file is gone, with its chunks and its bytes'),
    'POST /v1/shared-vault/files/upload/create-session': vaultFiles(
      'a file that one member uploads can be downloaded by the others, and counts for the owner and the vault',
    ),
    'POST /v1/shared-vault/files/upload/chunk': vaultFiles(
      'a file that one member uploads can be downloaded by the others, and counts for the owner and the vault',
    ),
    'POST /v1/shared-vault/files/upload/close-session': vaultFiles(
      'a file that one member uploads can be downloaded by the others, and counts for the owner and the vault',
    ),
    'GET /v1/shared-vault/files': vaultFiles(
      'a file that one member uploads can be downloaded by the others, and counts for the owner and the vault',
    ),
    'DELETE /v1/shared-vault/files': vaultFiles(
      'a file that one member uploads can be downloaded by the others, and counts for the owner and the vault',
    ),
    'POST /v1/shared-vault/files/move': at('files/vault-moves')(
      'a file goes into a vault, to another and home, and counts where it is',
    ),
  },
  Realtime: {
    'POST /v1/sockets/tokens': sockets(
      'an upgrade without a token that is right now is refused, and opens nothing',
    ),
    'POST /v1/sockets/connections': sockets(
      'a front of its own tells of a connection by its token, and of its end without one',
    ),
    'DELETE /v1/sockets/connections': sockets(
      'a front of its own tells of a connection by its token, and of its end without one',
    ),
    'GET /v1/sockets/sync/capabilities': lane('the lane is told of to everybody, without an envelope'),
    'POST /v1/sockets/sync/ticket': lane('a ticket says what clients read, and another device id is refused'),
  },
  'Subscriptions and offline tokens': {
    'POST /v1/subscription-tokens': tokens(
      'a subscription token shows subscription and features of its account, and opens nothing else',
    ),
    'POST /v1/subscription-invites': invites(
      'an invite is sent, listed, accepted, and shares the subscription until it is cancelled',
    ),
    'GET /v1/subscription-invites': invites(
      'an invite is sent, listed, accepted, and shares the subscription until it is cancelled',
    ),
    'DELETE /v1/subscription-invites/:inviteUuid': invites(
      'an invite is sent, listed, accepted, and shares the subscription until it is cancelled',
    ),
    'POST /v1/subscription-invites/:inviteUuid/accept': invites(
      'an invite is sent, listed, accepted, and shares the subscription until it is cancelled',
    ),
    'GET /v1/offline/features': tokens(
      'a subscription token shows subscription and features of its account, and opens nothing else',
    ),
    'POST /v1/offline/subscription-tokens': tokens(
      'a token is mailed to the account of an address, and shown to nobody else',
    ),
    'GET /v1/offline/users/subscription': tokens(
      'a subscription token shows subscription and features of its account, and opens nothing else',
    ),
  },
  'Two-factor': {
    'GET /v1/authenticators': securityKeys('a security key is offered, added, listed and removed'),
    'GET /v1/authenticators/generate-registration-options': securityKeys(
      'a security key is offered, added, listed and removed',
    ),
    'POST /v1/authenticators/verify-registration': securityKeys(
      'a security key is offered, added, listed and removed',
    ),
    'POST /v1/authenticators/generate-authentication-options': factors(
      'an assertion counts once, over the newest challenge, with a counter that grows, by a key of the account',
    ),
    'DELETE /v1/authenticators/:authenticatorId': securityKeys(
      'a security key is offered, added, listed and removed',
    ),
    'POST /v1/mfa/magic-link/request': codes(
      'turned on, a code is asked for in words that have clients ask for the mail, and signs in once',
    ),
    'POST /v1/mfa/magic-link/status': codes(
      'turned on, a code is asked for in words that have clients ask for the mail, and signs in once',
    ),
    'GET /v1/mfa/magic-link/status': codes(
      'turned on, a code is asked for in words that have clients ask for the mail, and signs in once',
    ),
  },
  'Shared vaults, invites, members, messages': {
    'GET /v1/shared-vaults': vaults('the maker of a vault owns it and is its first member'),
    'POST /v1/shared-vaults': vaults('the maker of a vault owns it and is its first member'),
    [`DELETE ${vault}`]: vaults('a vault that is deleted has ended for everybody'),
    [`POST ${vault}/valet-tokens`]: vaultFiles('a token is given to those alone who may use it'),
    [`POST ${vault}/invites`]: vaults('an invite reaches the invitee, and lets them in once they accept it'),
    [`PATCH ${vault}/invites/:inviteUuid`]: vaults(
      'a new invite takes the place of the one before, and a changed one comes again',
    ),
    [`POST ${vault}/invites/:inviteUuid/accept`]: vaults(
      'an invite reaches the invitee, and lets them in once they accept it',
    ),
    [`POST ${vault}/invites/:inviteUuid/decline`]: vaults(
      'declined, cancelled or all at once: an invite is gone for both, and the invitee is told',
    ),
    'GET /v1/shared-vaults/invites': inbox(
      'inbound invites are listed and given by syncs, as they were changed last, until they are gone',
    ),
    'GET /v1/shared-vaults/invites/outbound': vaults(
      'declined, cancelled or all at once: an invite is gone for both, and the invitee is told',
    ),
    [`GET ${vault}/invites`]: vaults('an invite reaches the invitee, and lets them in once they accept it'),
    [`DELETE ${vault}/invites/:inviteUuid`]: vaults(
      'declined, cancelled or all at once: an invite is gone for both, and the invitee is told',
    ),
    [`DELETE ${vault}/invites`]: vaults(
      'declined, cancelled or all at once: an invite is gone for both, and the invitee is told',
    ),
    'DELETE /v1/shared-vaults/invites/inbound': vaults(
      'declined, cancelled or all at once: an invite is gone for both, and the invitee is told',
    ),
    'DELETE /v1/shared-vaults/invites/outbound': vaults(
      'declined, cancelled or all at once: an invite is gone for both, and the invitee is told',
    ),
    [`GET ${vault}/users`]: vaults('the maker of a vault owns it and is its first member'),
    [`DELETE ${vault}/users/:userUuid`]: vaults(
      'a member who is removed or leaves has lost the vault at once, and all members are told',
    ),
    [`POST ${vault}/users/:userUuid/designate-survivor`]: vaults(
      'an admin designates the survivor, and the owner is told',
    ),
    'GET /v1/messages': messages(
      'a message is sent, listed on both sides, given by a sync, and gone on both once it is deleted',
    ),
    'GET /v1/messages/outbound': messages(
      'a message is sent, listed on both sides, given by a sync, and gone on both once it is deleted',
    ),
    'POST /v1/messages': messages(
      'a message is sent, listed on both sides, given by a sync, and gone on both once it is deleted',
    ),
    'DELETE /v1/messages/inbound': messages(
      'all inbound messages go at once, for their senders too, and none of those that were sent',
    ),
    'DELETE /v1/messages/:messageUuid': messages(
      'a message that its sender deletes is gone for the recipient, and nobody else can delete it',
    ),
  },
  'App passwords': {
    'GET /v1/app-passwords': appPasswords(
      'an app password is shown once, listed without the password, and deleted',
    ),
    'POST /v1/app-passwords': appPasswords(
      'an app password is shown once, listed without the password, and deleted',
    ),
    'DELETE /v1/app-passwords/:appPasswordId': factors(
      'an app password and a trusted device that were revoked stand in for the factor no more',
    ),
  },
  'Bridge tokens': {
    'GET /v1/mcp-tokens': bridges(
      'a bridge signs in with its token alone and gets the keys that were wrapped for it',
    ),
    'POST /v1/mcp-tokens': bridges('scopes are known by the names that other clients give them, too'),
    'DELETE /v1/mcp-tokens/:mcpTokenId': bridges(
      'a deleted token ends the sessions it has opened, and no others',
    ),
    'GET /v1/mcp-tokens/keys/:mcpTokenId': bridges(
      'a bridge signs in with its token alone and gets the keys that were wrapped for it',
    ),
    'POST /v1/mcp-tokens/authenticate': bridges(
      'a bridge signs in with its token alone and gets the keys that were wrapped for it',
    ),
  },
  'Trusted devices and push approvals': {
    'POST /v1/trusted-devices': trusted('a device is trusted for a month by a token that is shown once'),
    'GET /v1/trusted-devices': trusted('a device is trusted for a month by a token that is shown once'),
    'DELETE /v1/trusted-devices/:deviceId': factors(
      'an app password and a trusted device that were revoked stand in for the factor no more',
    ),
    'GET /v1/pending-mfa-approvals': factors(
      'every waiting device is announced once, and a network that asks without end is not',
    ),
    'POST /v1/pending-mfa-approvals/:challengeId/resolve': factors(
      'once another device approves, the waiting one repeats its sign-in as usual and is in, once, and it alone',
    ),
    'GET /v1/pending-mfa-approvals/:challengeId/status': factors(
      'a signed-in device sees what became of a sign-in by the id in its list',
    ),
  },
  'Public shares': {
    'POST /v1/shares': shares(
      'a share is listed by its owner and opened by anyone with the link, as often as they like',
    ),
    'GET /v1/shares': shares('shares are listed newest first, and nobody else’s'),
    'DELETE /v1/shares/:shareId': shares(
      'a revoked share is gone when its owner is answered, and so is its ciphertext',
    ),
    'GET /v1/shares/:shareId': shares('a one-time share is opened once, and its ciphertext goes'),
  },
  "Dead man's switches": {
    'POST /v1/dead-man-switches': switches('a switch is shown as it was made, and its link is not'),
    'GET /v1/dead-man-switches': switches('a switch is shown as it was made, and its link is not'),
    'POST /v1/dead-man-switches/:switchId/check-in': switches('a check-in before the deadline wins'),
    'DELETE /v1/dead-man-switches/:switchId': switches('a deleted switch sends nothing'),
  },
  'Email reminders': {
    'POST /v1/email-reminders': reminders(
      'a reminder is mailed to the account when it is due, once, and is then shown as sent',
    ),
    'GET /v1/email-reminders': reminders('one that was sent leaves the list after thirty days'),
    'DELETE /v1/email-reminders/:reminderId': reminders(
      'nothing is sent of what was deleted, or for an account that is banned or gone',
    ),
  },
  'Published reminder delivery': {
    'GET /v1/reminder-delivery/config': delivery(
      'feature flags are read with every request; only the ways to look at them and to leave are open',
    ),
    'POST /v1/reminder-delivery/opt-out': [
      'test/races/reminder-delivery.test.ts',
      'an opt-out while the queue has the mail: it is all gone, and nothing is sent',
    ],
    'GET /v1/reminder-delivery/delivery-config': delivery(
      'where reminders go is shown as it was set, and replaced as a whole',
    ),
    'PUT /v1/reminder-delivery/delivery-config': delivery(
      'where reminders go is shown as it was set, and replaced as a whole',
    ),
    'GET /v1/reminder-delivery': delivery(
      'a reminder goes to the messenger when it is due, once, and is accepted, then sent',
    ),
    'POST /v1/reminder-delivery': delivery(
      'publishing again: the same changes nothing, a change makes another occurrence, and both keep when it was made',
    ),
    'DELETE /v1/reminder-delivery/:id': [
      'test/races/reminder-delivery.test.ts',
      'a deletion while the queue has the mail: once that is answered nothing is sent',
    ],
  },
  'Assistant proxy': {
    'GET /v1/assistant/config': assistant(
      'everybody is told which providers are set up, and signed-in users their models',
    ),
    'GET /v1/assistant/models': assistant(
      'everybody is told which providers are set up, and signed-in users their models',
    ),
    'GET /v1/assistant/usage': assistant(
      'a day has so many answers, and an administrator may set another number for a user',
    ),
    'POST /v1/assistant/stream': assistant(
      'a conversation with tools reaches each provider in its own form, within what may be asked',
    ),
  },
  'Assistant subscription pairing': {
    'GET /v1/assistant/subscription/status': pairing(
      'an administrator pairs a subscription in the browser, and the assistant answers on it',
    ),
    'GET /v1/assistant/subscription/list': pairing(
      'an administrator pairs a subscription in the browser, and the assistant answers on it',
    ),
    'POST /v1/assistant/subscription/start': pairing(
      'an administrator has 16 attempts at once, and the server 256 subscriptions',
    ),
    'POST /v1/assistant/subscription/complete': pairing(
      'a pairing is completed by hand by the administrator who started it, and by nobody else',
    ),
    'GET /v1/assistant/subscription/callback': pairing('the callback is an inert page whatever refuses it'),
    'POST /v1/assistant/subscription/unpair': pairing(
      'a pairing that profiles use is removed when that is confirmed, and they answer nobody then',
    ),
    'POST /v1/assistant/subscription/unpair-all': pairing('all pairings go by exactly one sentence'),
    'GET /v1/assistant/subscription/usage': pairing(
      'an administrator pairs a subscription in the browser, and the assistant answers on it',
    ),
  },
  'Code-host publishing': {
    'POST /v1/integrations/codehost/publish': [
      'test/behaviour/code-host/contract.ts',
      `\${name}: a file is made, and replaced, by either path`,
    ],
  },
  Admin: {
    'GET /v1/admin/lookup-user/:email': admin(
      'an administrator looks up, bans and unbans a user, and is shown when and why',
    ),
    'GET /v1/admin/users/:userUuid/feature-flags': admin(
      'flags are set and removed by administrators, and what cannot be is refused',
    ),
    'PUT /v1/admin/users/:userUuid/feature-flags': admin(
      'flags are set and removed by administrators, and what cannot be is refused',
    ),
    'GET /v1/admin/users/:email/ban-status': admin(
      'an administrator looks up, bans and unbans a user, and is shown when and why',
    ),
    'PUT /v1/admin/users/:userUuid/ban-status': admin(
      'an administrator looks up, bans and unbans a user, and is shown when and why',
    ),
    'GET /v1/admin/registration': admin(
      'an administrator closes the registration of the whole server and opens it again',
    ),
    'PUT /v1/admin/registration': admin(
      'an administrator closes the registration of the whole server and opens it again',
    ),
  },
  'Email delivery administration': {
    'GET /v1/admin/email-delivery/relays': mail(
      'relays are listed in their order and without credentials, and replaced as a whole',
    ),
    'PUT /v1/admin/email-delivery/relays': mail(
      'relays are listed in their order and without credentials, and replaced as a whole',
    ),
    'POST /v1/admin/email-delivery/test': mail(
      'a test says a class and nothing else, to one address, and few times a minute',
    ),
    'GET /v1/admin/email-delivery/queue': mail(
      'an administrator sees what became of each mail, and never what it says',
    ),
    'GET /v1/admin/email-delivery/logs': mail('queue and log come in pages, and a wrong question is refused'),
    'POST /v1/admin/email-delivery/queue/:id/retry': mail(
      'a dead mail and a waiting one are tried again; what is sent, being sent or too late is not',
    ),
    'DELETE /v1/admin/email-delivery/queue/:id': mail('a mail that was thrown away is not sent any more'),
  },
  'Calendar feed': {
    'GET /v1/caldav/todos': todos('a to-do that is published is listed, replaced as a whole and taken back'),
    'POST /v1/caldav/todos': todos('a to-do that is published is listed, replaced as a whole and taken back'),
    'DELETE /v1/caldav/todos/:uid': todos(
      'a to-do that is published is listed, replaced as a whole and taken back',
    ),
    'GET /v1/caldav/tokens/config': calendarTokens('making a token needs both flags on; all else does not'),
    'GET /v1/caldav/tokens': calendarTokens('a token is shown once, listed without its secret, and revoked'),
    'POST /v1/caldav/tokens': calendarTokens('a token is shown once, listed without its secret, and revoked'),
    'DELETE /v1/caldav/tokens/:uuid': calendarTokens(
      'a token is shown once, listed without its secret, and revoked',
    ),
    'DELETE /v1/caldav/tokens': calendarTokens(
      'a token is shown once, listed without its secret, and revoked',
    ),
  },
};
