/** Stores compiled code for the next start, because most of the start-up time is spent compiling. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Folder of compiled code, beside the installed packages: only users who may change the program may change
 * code that it executes. Node's default folder, for temporary files, has weaker permissions. The path is
 * correct from `src/` and from `dist/`.
 */
export const COMPILED_CODE = fileURLToPath(
  new URL('../../node_modules/.cache/compiled-code', import.meta.url),
);

/** Caches the code that Node compiles from now on. Embedding programs make their own choice. */
export function cacheCompiledCode(): void {
  enableCompileCache(COMPILED_CODE);
}
