/** Caches compiled code between runs, because compiling the same files takes most of the start-up time. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Folder of compiled code, next to the installed packages. Node's default is a folder for temporary files;
 * but cached code is executed, so only users who may change the program may write to the cache. The path
 * works from `src/` and from `dist/`.
 */
export const COMPILED_CODE = fileURLToPath(
  new URL('../../node_modules/.cache/compiled-code', import.meta.url),
);

/**
 * Caches code that is compiled from now on, including TypeScript without its types. If the folder is not
 * writable, each start compiles again. Only the executable calls this, because an embedding program decides
 * for itself.
 */
export function cacheCompiledCode(): void {
  enableCompileCache(COMPILED_CODE);
}
