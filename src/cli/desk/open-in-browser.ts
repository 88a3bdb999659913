/** Opens a link in the browser that the person at this machine uses (docs/desk.md#coming-back). */
import { spawn } from 'node:child_process';

/** The program that desktops have for it. */
const OPENER = 'xdg-open';
/** A failure takes less; without one, it may have become the browser itself, which goes on. */
const HANDED_OVER_MS = 5_000;

/** @returns what went wrong; undefined when the link was handed over */
export const openInBrowser = (link: string, env: NodeJS.ProcessEnv): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(OPENER, [link], { env, stdio: 'ignore', detached: true });
    const patience = setTimeout(() => end(undefined), HANDED_OVER_MS);
    function end(fault: string | undefined): void {
      clearTimeout(patience);
      child.unref();
      resolve(fault);
    }
    child.once('error', ({ message }) => end(message));
    child.once('exit', (status) =>
      end(status === 0 ? undefined : `${OPENER} ended with status ${status ?? 'none'}`),
    );
  });
