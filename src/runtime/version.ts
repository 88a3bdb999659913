/** The version of this package, which is not the version of the API. */
import { readFileSync } from 'node:fs';

/** As package.json has it; the path is the same from `src/` and from `dist/`. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
