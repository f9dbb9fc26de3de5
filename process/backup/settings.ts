/** Settings of backups: docs/backup.md. */
import {
  address,
  entriesOf,
  flag,
  integer,
  list,
  type SettingsOf,
  secret,
  section,
  setting,
  text,
  WrongValue,
} from '../../runtime/setting.ts';

export const backupSettings = section('Backups', {
  target: text({
    name: 'BACKUP_TARGET',
    description:
      'Where backups go: a folder of this server alone, or `s3://bucket` or `s3://bucket/prefix`. `scriptorium backup`, `restore` and `backup verify` use it if they are given no other.',
  }),
  recipients: list({
    name: 'BACKUP_RECIPIENTS',
    default: '',
    description:
      'The age recipients (`age1…`) to whom backups are encrypted, separated by commas. Without one, they are written as they are.',
  }),
  keep: integer({
    name: 'BACKUP_KEEP',
    unit: 'backups',
    min: 1,
    max: 10_000,
    default: 14,
    description:
      'How many backups are kept. Older ones go when a new one is written, and with them the files that no other names.',
  }),
  schedule: setting(timesOfDay, {
    name: 'BACKUP_SCHEDULE',
    bounds: 'times of the day',
    defaultText: 'none: the server makes no backups by itself',
    description:
      'The times of the day, in UTC, at which a server without `NATS_URL` backs itself up: `03:15`, or several separated by commas. It needs `BACKUP_TARGET`. A time that was missed while the server was down is made up for after its start.',
  }),
  s3: {
    endpoint: address({
      name: 'BACKUP_S3_ENDPOINT',
      defaultText: 'that of AWS for `BACKUP_S3_REGION`',
      description: 'The address of the S3 server of `BACKUP_TARGET`, without the bucket.',
    }),
    region: text({
      name: 'BACKUP_S3_REGION',
      pattern: /^[a-z0-9-]{1,32}$/,
      form: 'up to 32 small letters, digits and dashes',
      default: 'us-east-1',
      description: 'The region of that bucket.',
    }),
    accessKeyId: text({
      name: 'BACKUP_S3_ACCESS_KEY_ID',
      pattern: /^[\x21-\x7e]{1,128}$/,
      form: '1 to 128 characters without spaces',
      description:
        'The key that may get, put, list and delete there. Needed for a bucket, and so is its secret.',
    }),
    isPathStyle: flag({
      name: 'BACKUP_S3_PATH_STYLE',
      defaultText: '`true` with `BACKUP_S3_ENDPOINT`',
      description: 'Whether addresses have the bucket in their path, and not in their host.',
    }),
  },
});
export interface BackupSettings extends SettingsOf<typeof backupSettings> {}

export const backupSecrets = secret(
  section('Backups', {
    backupS3SecretAccessKey: text({
      name: 'BACKUP_S3_SECRET_ACCESS_KEY',
      description: 'The secret of `BACKUP_S3_ACCESS_KEY_ID`.',
    }),
  }),
);

/** Minutes since midnight, in their order. */
function timesOfDay(text: string): readonly number[] {
  const times = entriesOf(text).map((entry) => {
    const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(entry) ?? [];
    if (hours === undefined || minutes === undefined)
      throw new WrongValue('is not a list of times like 03:15');
    return Number(hours) * 60 + Number(minutes);
  });
  if (times.length === 0) throw new WrongValue('is not a list of times like 03:15');
  return [...new Set(times)].toSorted((one, other) => one - other);
}
