import { bugs } from './planted/actors.ts';
import { declarePlantedTests } from './planted-tests.ts';

declarePlantedTests(bugs);
