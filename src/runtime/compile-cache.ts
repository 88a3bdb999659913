/** Compiled code kept between runs: most of the time of a start goes into compiling the same files again. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Beside the installed packages, not in the system's folder for temporary files where Node would keep it:
 * what is read from the cache is executed, so only those who may change the program may write there.
 * The path is the same from `src/` and from `dist/`.
 */
export const COMPILED_CODE = fileURLToPath(
  new URL('../../node_modules/.cache/compiled-code', import.meta.url),
);

/**
 * Keeps the code that is compiled from now on, and TypeScript with its types removed. Where the folder cannot
 * be written, each start compiles again and nothing else changes. For the executable only: an embedding
 * program decides for itself.
 */
export function cacheCompiledCode(): void {
  enableCompileCache(COMPILED_CODE);
}
