/** Keeps compiled code between runs: most of the start-up time goes into compiling the same files again. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Folder of compiled code: beside the installed packages, not in the system's folder for temporary files
 * where Node would keep it: code in the cache is executed, so only users who may change the program may write
 * there. The path is the same from `src/` and from `dist/`.
 */
export const COMPILED_CODE = fileURLToPath(
  new URL('../../node_modules/.cache/compiled-code', import.meta.url),
);

/**
 * Caches code compiled from now on, and TypeScript with its types removed. If the folder is not writable,
 * each start compiles again and nothing else changes. For the executable only: an embedding program decides
 * for itself.
 */
export function cacheCompiledCode(): void {
  enableCompileCache(COMPILED_CODE);
}
