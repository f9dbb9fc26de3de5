/** Starts the child of BACKUP_SCHEDULE once, as the server does with its own settings, and prints what became of it. */
import { runBackupCommand } from '../../process/backup/schedule.ts';

console.log(JSON.stringify(await runBackupCommand(new AbortController().signal)));
