import { bugs } from './planted/delivery.ts';
import { declarePlantedTests } from './planted-tests.ts';

declarePlantedTests(bugs);
