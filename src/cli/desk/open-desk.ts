/** The desk that is open on a registry, as another `registry desk` finds it (docs/desk.md#the-link). */
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** What the file beside the registry says of it. Only the user who runs the desk can read it. */
interface OpenDesk {
  readonly port: number;
  readonly secret: string;
}

/**
 * Says where the desk is found. It belongs to whoever runs it, root too: who reads it may open the desk.
 * @param file `deskFile` of the storage
 * @returns what takes it back
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
 * Asks the desk that is open for a link.
 * @param user under whom the changes of its session are recorded
 * @returns undefined when none is open, or it is somebody else's
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
    // It was killed: whatever has its port now is no desk of this registry.
    return undefined;
  }
}

/** The user whose desk is open, where this one may not ask it. */
export function otherOwner(file: string): number | undefined {
  try {
    const { uid } = statSync(file);
    return uid === process.getuid?.() ? undefined : uid;
  } catch {
    return undefined;
  }
}
