/** Who runs the command: the person, where one is named, and the user of the operating system. */
import { userInfo } from 'node:os';
import type { Config } from '../../config.ts';

/** Such as `root`, or `N. N. (root)`; what is recorded with an import or correction. */
export const describeUser = ({ operator }: Config): string =>
  operator === undefined ? systemUser() : `${operator} (${systemUser()})`;

/** A container may run under an id that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
