/**
 * Sends one mail through a hosted relay: one HTTP request to a host that is written here. The request turns off everything that
 * could rewrite links or track who opens a mail.
 */
import { OutboundError, type OutboundHttp, type OutboundRequest } from '../outbound/http.ts';
import { namedAddressText } from './address.ts';
import type { HostedRelay } from './relays.ts';
import type { Attachment, MailDelivery, MailMessage, SendResult } from './sender.ts';
import { unsubscribeHeaders } from './unsubscribe-link.ts';

const timeoutMs = 15_000;
const answerBytesMax = 65_536;

export type HostedDelivery = MailDelivery & { readonly relay: HostedRelay };
type HostedRequest = Pick<OutboundRequest, 'url' | 'headers' | 'body'>;

export const createHosted =
  (http: OutboundHttp) =>
  async ({
    relay,
    credential = '',
    message,
    handOver,
    signal,
    ...delivery
  }: HostedDelivery): Promise<SendResult> => {
    const request = await requestOf(relay, credential, message);
    await handOver();
    try {
      const { status } = await http.send({
        destination: 'fixed',
        method: 'POST',
        ...request,
        answerBytesMax,
        signal,
        timeoutMs:
          message.attachment === undefined ? Math.min(timeoutMs, delivery.timeoutMs) : delivery.timeoutMs,
      });
      return resultOf(status);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.mayHaveArrived) return { result: 'uncertain', failure: 'timeout' };
      return { result: 'unable', failure: error.failure === 'timeout' ? 'timeout' : 'connection' };
    }
  };

function resultOf(status: number): SendResult {
  if (status >= 200 && status < 300) return { result: 'sent' };
  if (status === 429) return { result: 'unable', failure: 'rate-limited' };
  if (status === 401 || status === 403) return { result: 'unable', failure: 'authentication' };
  // A gateway in front of the provider does not know the result.
  if (status === 502 || status === 504) return { result: 'uncertain', failure: 'timeout' };
  if (status >= 500) return { result: 'transient', failure: 'provider' };
  return { result: 'rejected', failure: 'rejected' };
}

async function requestOf(relay: HostedRelay, key: string, message: MailMessage): Promise<HostedRequest> {
  switch (relay.kind) {
    case 'sendgrid':
      return sendgrid(key, message);
    case 'mailgun':
      return mailgun(relay, key, message);
    case 'postmark':
      return postmark(key, message);
  }
}

const autoSubmitted = 'auto-generated';
const json = (body: unknown) => JSON.stringify(body);
const fileType = 'application/json';
const base64 = ({ pieces }: Attachment): string => Buffer.concat(pieces).toString('base64');

function sendgrid(key: string, message: MailMessage): HostedRequest {
  const { from, recipient, subject, text, messageId, attachment } = message;
  return {
    url: 'https://api.sendgrid.com/v3/mail/send',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: json({
      personalizations: [{ to: [{ email: recipient }] }],
      from: { email: from.address, ...(from.name !== '' && { name: from.name }) },
      subject,
      content: [{ type: 'text/plain', value: text }],
      ...(attachment !== undefined && {
        attachments: [{ filename: attachment.filename, type: fileType, content: base64(attachment) }],
      }),
      headers: {
        'Message-ID': messageId,
        'Auto-Submitted': autoSubmitted,
        ...unsubscribeHeaders(message.unsubscribeLink),
      },
      tracking_settings: {
        click_tracking: { enable: false, enable_text: false },
        open_tracking: { enable: false },
        subscription_tracking: { enable: false },
      },
    }),
  };
}

type Mailgun = Extract<HostedRelay, { kind: 'mailgun' }>;

async function mailgun(
  { domain, region }: Mailgun,
  key: string,
  message: MailMessage,
): Promise<HostedRequest> {
  const host = region === 'eu' ? 'api.eu.mailgun.net' : 'api.mailgun.net';
  const { 'content-type': contentType, body } = await formOf(message);
  return {
    url: `https://${host}/v3/${domain}/messages`,
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': contentType,
    },
    body,
  };
}

async function formOf(message: MailMessage) {
  const { attachment } = message;
  const fields = {
    from: namedAddressText(message.from),
    to: message.recipient,
    subject: message.subject,
    text: message.text,
    'h:Message-Id': message.messageId,
    'h:Auto-Submitted': autoSubmitted,
    ...Object.fromEntries(
      Object.entries(unsubscribeHeaders(message.unsubscribeLink)).map(([name, value]) => [
        `h:${name}`,
        value,
      ]),
    ),
    'o:tracking': 'no',
  };
  if (attachment === undefined) {
    const body = new URLSearchParams(fields).toString();
    return { 'content-type': 'application/x-www-form-urlencoded', body };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(
    'attachment',
    new Blob([Buffer.concat(attachment.pieces)], { type: fileType }),
    attachment.filename,
  );
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  return { 'content-type': encoded.headers.get('content-type') ?? '', body };
}

function postmark(key: string, message: MailMessage): HostedRequest {
  const { from, recipient, subject, text, messageId, attachment } = message;
  return {
    url: 'https://api.postmarkapp.com/email',
    headers: {
      'x-postmark-server-token': key,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: json({
      From: namedAddressText(from),
      To: recipient,
      Subject: subject,
      TextBody: text,
      ...(attachment !== undefined && {
        Attachments: [{ Name: attachment.filename, ContentType: fileType, Content: base64(attachment) }],
      }),
      Headers: [
        { Name: 'Message-ID', Value: messageId },
        { Name: 'X-PM-KeepID', Value: 'true' },
        { Name: 'Auto-Submitted', Value: autoSubmitted },
        ...Object.entries(unsubscribeHeaders(message.unsubscribeLink)).map(([Name, Value]) => ({
          Name,
          Value,
        })),
      ],
      TrackOpens: false,
      TrackLinks: 'None',
    }),
  };
}
