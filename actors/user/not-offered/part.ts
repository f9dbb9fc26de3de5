import { User } from '../contract.ts';
import { adminRequired, mayAdminister } from '../rank.ts';
import { signedInRead } from '../signed-in.ts';
import { notOffered } from './contract.ts';

const { showNothing, doNothing, showAdministratorsNothing, doNothingForAdministrators } = User.commands;

export const notOfferedCommands = {
  showNothing: signedInRead({ ...showNothing, answer: () => ({}) }),
  doNothing: signedInRead({ ...doNothing, answer: () => notOffered }),
  showAdministratorsNothing: signedInRead({
    ...showAdministratorsNothing,
    answer: (view, _asked, _reads, by) => (mayAdminister(view, by) ? {} : adminRequired),
  }),
  doNothingForAdministrators: signedInRead({
    ...doNothingForAdministrators,
    answer: (view, _asked, _reads, by) => (mayAdminister(view, by) ? notOffered : adminRequired),
  }),
};
