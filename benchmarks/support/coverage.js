/**
 * Loaded into a server by `--import`. At each SIGUSR2 the process writes which functions ran since the last one, as V8
 * counts them, to the file that `COVERAGE_FILE` names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const file = process.env['COVERAGE_FILE'] ?? '';
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('SIGUSR2', () => {
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0));
    writeFileSync(`${file}.part`, JSON.stringify(ran.map(({ url }) => url)));
    renameSync(`${file}.part`, file);
  });
});
