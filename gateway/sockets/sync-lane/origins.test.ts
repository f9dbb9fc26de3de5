import test from 'ava';
import { isLaneAdvertised } from './origins.ts';

test('the lane is advertised to the page of a server whose name came with capitals, as the upgrade admits it', (t) => {
  const settings = { origins: [], sameOrigin: true };
  t.true(isLaneAdvertised(settings, 'https://notes.example.org', 'Notes.Example.org'));
  t.false(isLaneAdvertised(settings, 'https://other.example.org', 'Notes.Example.org'));
});
