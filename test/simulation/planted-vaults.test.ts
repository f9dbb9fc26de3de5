import { bugs } from './planted/vaults.ts';
import { declarePlantedTests } from './planted-tests.ts';

declarePlantedTests(bugs);
