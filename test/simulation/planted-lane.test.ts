import { bugs } from './planted/lane.ts';
import { declarePlantedTests } from './planted-tests.ts';

declarePlantedTests(bugs);
