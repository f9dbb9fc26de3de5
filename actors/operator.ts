/** What the internal API of operators may know of the domain beyond actors/mod.ts. Closed to the gateway. */
import { Signin } from './signin/signin.ts';
import { User } from './user/user.ts';

export { findUser, OperatedUser } from './user/operator.ts';

/** By which operators name actors. */
export const kindNames: readonly string[] = [User.name, Signin.name];
