/** The file by which a second `registry desk` finds the open desk of a registry (docs/desk.md#the-link). */

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Contents of the file beside the registry, which only the user who runs the desk can read. */
interface OpenDesk {
  readonly port: number;
  readonly secret: string;
}

/**
 * Writes the file by which the open desk is found. The file belongs to the user who runs the desk, even root:
 * whoever can read the file can open the desk.
 * @param file `deskFileOf` the database
 * @returns a function that removes the file
 */
export function announceDesk(file: string, desk: OpenDesk): () => void {
  rmSync(file, { force: true });
  const handle = openSync(file, 'wx', 0o600);
  writeFileSync(handle, `${JSON.stringify(desk)}\n`);
  closeSync(handle);
  return () => {
    if (readDesk(file)?.secret === desk.secret) rmSync(file, { force: true });
  };
}

function readDesk(file: string): OpenDesk | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as OpenDesk;
  } catch {
    return undefined;
  }
}

const LINK = /^http:\/\/127\.0\.0\.1:[0-9]{1,5}\/open\/[\w-]+$/;
const ANSWER_MS = 2_000;

/**
 * Asks the open desk for a link.
 * @param user name under which the changes of its session are recorded
 * @returns undefined if no desk is open, or it is another user's
 */
export async function askOpenDesk(file: string, user: string): Promise<string | undefined> {
  const desk = readDesk(file);
  if (desk === undefined) return undefined;
  try {
    const response = await fetch(`http://127.0.0.1:${desk.port}/link`, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: { authorization: desk.secret },
      body: new URLSearchParams({ user }),
    });
    const link = await response.text();
    return response.ok && LINK.test(link) ? link : undefined;
  } catch {
    // The desk was killed: any program that now has its port is not a desk of this registry.
    return undefined;
  }
}

/** Returns the id of the user whose desk is open, if it is not this user's. */
export function otherOwner(file: string): number | undefined {
  try {
    const { uid } = statSync(file);
    return uid === process.getuid?.() ? undefined : uid;
  } catch {
    return undefined;
  }
}

// Opening a link in the browser of this machine's user (docs/desk.md#coming-back)

/** The opener that desktops provide. */
const OPENER = 'xdg-open';
/**
 * Milliseconds after which the link counts as handed over: a failure is faster, and an opener that still runs
 * has become the browser.
 */
const HANDED_OVER_MS = 5_000;

/** @returns the error; undefined once the link was handed over */
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
