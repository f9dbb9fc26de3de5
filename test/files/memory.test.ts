import { createMemoryFileStore } from '../kit/file-store.ts';
import { contractOfFileStores } from './contract.ts';

contractOfFileStores('in memory', async () => createMemoryFileStore());
