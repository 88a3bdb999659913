/** The file with which a second `registry desk` finds the open desk of a registry (docs/desk.md#the-link). */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

interface OpenDesk {
  readonly port: number;
  readonly secret: string;
}

/**
 * Writes a file that only the user who runs the desk can read, because the secret in it opens the desk.
 * `openPrivateFile` is not used: it would give a file of root to the owner of the folder.
 * @returns a function that removes the file
 */
export function announceDesk(file: string, desk: OpenDesk): () => void {
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(desk)}\n`, { flag: 'wx', mode: 0o600 });
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

/** @returns a link; undefined unless this user has an open desk */
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
    // The desk was killed; another program may listen on its port now.
    return undefined;
  }
}

/** Returns the uid of another user who may have an open desk. */
export function otherOwner(file: string): number | undefined {
  try {
    const { uid } = statSync(file);
    return uid === process.getuid?.() ? undefined : uid;
  } catch {
    return undefined;
  }
}

// Opening a link in a browser of this machine (docs/desk.md#coming-back)

const OPENER = 'xdg-open';
/** If the command still runs after this time, it counts as successful, because failures are faster. */
const HANDED_OVER_MS = 5_000;

/** @returns the error; undefined once the browser has the link */
export async function openInBrowser(link: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const child = spawn(OPENER, [link], { env, stdio: 'ignore', detached: true });
  const patience = AbortSignal.timeout(HANDED_OVER_MS);
  try {
    const [status] = await once(child, 'exit', { signal: patience });
    return status === 0 ? undefined : `${OPENER} ended with status ${status ?? 'none'}`;
  } catch (error) {
    return patience.aborted ? undefined : (error as Error).message;
  } finally {
    child.unref();
  }
}
