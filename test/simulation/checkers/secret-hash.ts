import { createHash } from 'node:crypto';

export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
