/** The page for people who open the server's address, or the link of a public share, in a browser. */
import { z } from 'zod';
import { htmlType } from '../http/responder.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { viewerPage } from '../viewer/page.ts';

const page = `<!doctype html>
<html lang="en"><title>Scriptorium</title>
<p>This is a Scriptorium server for end-to-end encrypted notes. Put its address into your client as the sync server.
</html>
`;

export const frontPageRoute: AnyRoute = route({
  method: 'GET',
  path: '/',
  safe: true,
  access: 'public',
  summary:
    'A page for people who open the address in a browser; with `shared`, the one that opens public shares.',
  tag: 'Health and metadata',
  enveloped: false,
  request: z.object({ shared: z.string().optional() }),
  replies: { 200: z.string() },
  handle: async (_context, { shared }) => {
    if (shared === undefined) return { status: 200, contentType: htmlType, body: page };
    const { html, policy } = await viewerPage();
    return { status: 200, contentType: htmlType, body: html, headers: { 'Content-Security-Policy': policy } };
  },
});
