import { declarePlantedTests } from './planted-tests.ts';

await declarePlantedTests('lane');
