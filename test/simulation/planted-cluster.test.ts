import { bugs } from './planted/cluster.ts';
import { declarePlantedTests } from './planted-tests.ts';

declarePlantedTests(bugs);
