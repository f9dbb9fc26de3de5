/** What is served beside the rows of the interface, and why. */
export const beside: Readonly<Record<string, string>> = {
  'GET /': 'says what this is, and is the page that opens public shares',
  'GET /robots.txt': 'keeps crawlers out',
  'GET /health': 'is the liveness that the front of sockets shows',
  'GET /v1/openapi.json': 'describes every endpoint',
  'PUT /v1/users/:userUuid/password': 'is where old clients change the password',
  'POST /v1/subscription-invites/:inviteUuid/decline': 'is what clients ask beside the acceptance',
  'GET /v1/users/:userUuid/requests/:requestUuid': 'is the download of an export',
  'GET /v1/users/:userUuid/audit-trail': 'shows a user what happened to the account',
  'GET /v1/items/sync-command/:commandId': 'says what became of a save that was named',
  'GET /v1/items/:uuid/revisions': 'tells old clients to update',
  'GET /v1/items/:uuid/revisions/:id': 'tells old clients to update',
  'DELETE /v1/items/:uuid/revisions/:id': 'tells old clients to update',
  'GET /v1/admin/email-delivery/audit': 'shows administrators what was done about mail',
  'GET /v1/mail/unsubscribe/:token': 'is where a mail program asks before it unsubscribes',
  'POST /v1/mail/unsubscribe/:token': 'is where a mail program unsubscribes',
  'POST /v1/integrations/github/publish': 'is another name for publishing, which clients use',
};
