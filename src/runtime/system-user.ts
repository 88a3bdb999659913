/** The user of the operating system that runs this process. */
import { userInfo } from 'node:os';

/** A container may run under an id that has no name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
