/** The id of a subscription. Administrators choose it, and profiles of the assistant name it. */
const pattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;

export const defaultSubscriptionId = 'default';
export const isSubscriptionId = (text: unknown): text is string =>
  typeof text === 'string' && pattern.test(text);
