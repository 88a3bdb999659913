/**
 * Looks up the known faults of the locked packages, those of development included: `make advisories`. Where
 * the package registry has no answer, it says so, and the status is 0: the next run looks again.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Advisory {
  readonly title: string;
  readonly severity: string;
  readonly url: string;
}
interface Audit {
  readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (Advisory | string)[] }>>;
}

/** Advisories that do not concern this program, each with its reason, by the end of its address. */
const readAccepted = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL('accepted-advisories.json', import.meta.url), 'utf8'));

/** @returns what `npm audit` prints, whatever its status */
async function audit(): Promise<Audit> {
  const asked = promisify(execFile)(
    'npm',
    ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=20000'],
    {
      cwd: ROOT,
      timeout: 60_000,
      maxBuffer: 2 ** 26,
    },
  );
  const { stdout } = await asked.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }));
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}

const { vulnerabilities } = await audit();
if (vulnerabilities === undefined) {
  process.stdout.write(
    'The package registry did not answer: known faults of the packages were not looked up.\n',
  );
} else {
  const accepted = readAccepted();
  const lines: string[] = [];
  for (const [name, { via }] of Object.entries(vulnerabilities))
    for (const advisory of via) {
      if (typeof advisory === 'string') continue;
      const id = advisory.url.split('/').at(-1) ?? '';
      if (accepted[id] === undefined) lines.push(`${name}: ${advisory.severity}: ${advisory.title} (${id})`);
    }
  if (lines.length === 0) {
    process.stdout.write('No known fault of a locked package is open.\n');
  } else {
    process.stderr.write(`${lines.sort().join('\n')}
Update the package, or accept the advisory with its reason in test/release/accepted-advisories.json.
`);
    process.exitCode = 1;
  }
}
