/** The operator's credentials of messengers. A channel whose credentials are incomplete is turned off. */
import { type SettingsOf, sameOnAllNodes, secret, section, text } from '../../runtime/setting.ts';

/** The token is sent in a header, so it may contain only these characters. */
const messengerToken = { pattern: /^[\x21-\x7e]{1,1024}$/, form: 'a token' };

export const messengerSettings = sameOnAllNodes(
  section('Timers and delivery', {
    whatsappPhoneId: text({
      name: 'WHATSAPP_PHONE_ID',
      description: 'The id of the number that messages come from, of the same app as `WHATSAPP_TOKEN`.',
      pattern: /^\d{1,32}$/,
      form: 'a number',
    }),
    twilioAccountSid: text({
      name: 'TWILIO_ACCOUNT_SID',
      description:
        'The account at Twilio, with `TWILIO_AUTH_TOKEN` and `TWILIO_WHATSAPP_FROM`: for WhatsApp where `WHATSAPP_TOKEN` is not set.',
      pattern: /^AC[0-9a-f]{32}$/i,
      form: 'the id of an account, beginning with AC',
    }),
    twilioWhatsappFrom: text({
      name: 'TWILIO_WHATSAPP_FROM',
      description: 'The number at Twilio that messages come from.',
      pattern: /^(whatsapp:)?\+?[1-9]\d{6,14}$/,
      form: 'a telephone number with its country code',
    }),
  }),
);

export const messengerSecrets = secret(
  sameOnAllNodes(
    section('Timers and delivery', {
      telegramBotToken: text({
        name: 'TELEGRAM_BOT_TOKEN',
        description: 'The token of the bot that sends published reminders by Telegram.',
        pattern: /^\d{1,20}:[\w-]{20,128}$/,
        form: 'the token of a bot',
      }),
      whatsappToken: text({
        name: 'WHATSAPP_TOKEN',
        description:
          'The access token of the app that sends published reminders by WhatsApp, with `WHATSAPP_PHONE_ID`.',
        ...messengerToken,
      }),
      twilioAuthToken: text({
        name: 'TWILIO_AUTH_TOKEN',
        description: 'The token of the account at Twilio.',
        ...messengerToken,
      }),
    }),
  ),
);

export interface MessengerCredentials
  extends Partial<SettingsOf<typeof messengerSettings>>,
    Partial<SettingsOf<typeof messengerSecrets>> {}
