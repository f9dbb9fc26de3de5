import type { View } from '../../../runtime/command.ts';
import { type Refused, refuse } from '../../reply.ts';
import { MailSettings } from '../settings.ts';

const notAvailable = refuse.notImplemented(
  'This server sends by its settings alone. Only the test is available.',
  'email-delivery-not-available',
);

/** The operator has turned the administration off and uses the relay of the settings. */
export const notInDirectMode = (view: Pick<View, 'use'>): Refused | undefined =>
  view.use(MailSettings).mode === 'direct' ? notAvailable : undefined;
