/** Dead man's switches (docs/protocol/delivery.md). */
import { Switches } from '../../actors/user/switches/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { endpoint } from './endpoint.ts';

const path = '/v1/dead-man-switches';
const tag = "Dead man's switches";

export const deadManSwitchRoutes: readonly AnyRoute[] = [
  endpoint({
    method: 'POST',
    path,
    tag,
    command: Switches.commands.makeSwitch,
    summary: 'Makes a switch that mails a link to somebody unless its owner checks in.',
    refusals: [400, 409],
  }),
  endpoint({
    method: 'GET',
    path,
    tag,
    command: Switches.commands.listSwitches,
    summary: 'The switches of the account, without their links.',
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:switchId/check-in`,
    tag,
    command: Switches.commands.checkIn,
    summary: 'Moves the deadline of a switch on by its interval, whatever its state.',
    refusals: [404],
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:switchId`,
    tag,
    command: Switches.commands.deleteSwitch,
    summary: 'Deletes a switch, and recalls its mail if that has not left.',
    refusals: [404],
  }),
];
