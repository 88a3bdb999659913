/** Who runs the command: the person, where one is named, and the user of the operating system. */
import type { Config } from '../../config.ts';
import { systemUser } from '../../runtime/system-user.ts';

/** Such as `root`, or `N. N. (root)`; what is recorded with an import or correction. */
export const describeUser = ({ operator }: Config): string =>
  operator === undefined ? systemUser() : `${operator} (${systemUser()})`;
