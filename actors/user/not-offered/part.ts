import { userPart } from '../hooks.ts';
import { adminRequired } from '../profile.ts';
import { mayAdminister } from '../sessions/session.ts';
import { signedInRead } from '../signed-in.ts';
import { NotOffered, notOffered } from './contract.ts';

const { showNothing, doNothing, showAdministratorsNothing, doNothingForAdministrators } = NotOffered.commands;

export const notOfferedPart = userPart(NotOffered, {
  name: 'not-offered',
  commands: {
    showNothing: signedInRead(showNothing, () => ({})),
    doNothing: signedInRead(doNothing, () => notOffered),
    showAdministratorsNothing: signedInRead(showAdministratorsNothing, (view, _asked, _reads, by) =>
      mayAdminister(view, by) ? {} : adminRequired,
    ),
    doNothingForAdministrators: signedInRead(doNothingForAdministrators, (view, _asked, _reads, by) =>
      mayAdminister(view, by) ? notOffered : adminRequired,
    ),
  },
});
