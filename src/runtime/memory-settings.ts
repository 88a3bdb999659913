/** What limits the memory of a service, and can only be said as a process begins. */

const YOUNG_OBJECTS = '--max-semi-space-size';
/** MiB for each half of V8's young objects: with Node's 16 the process grows by a third more under load. */
const YOUNG_MIB = 8;
/** Pools of malloc; otherwise eight for each processor, each of which keeps what its thread has freed. */
const POOLS = { MALLOC_ARENA_MAX: '2' };

/**
 * Replaces this process by the same program with these settings, whoever has started it and however
 * (docs/decisions/0015-how-it-is-started.md): it keeps its id, its files and its settings. Those that were
 * given stay. A program that talks to its parent goes on as it is, as the channel would be lost.
 */
export function limitMemory(): void {
  const { execArgv, env, execPath, argv } = process;
  if ([...execArgv, env.NODE_OPTIONS ?? ''].some((options) => options.includes(YOUNG_OBJECTS))) return;
  if (process.send !== undefined || process.platform !== 'linux') return;
  const args = [execPath, ...execArgv, `${YOUNG_OBJECTS}=${YOUNG_MIB}`, ...argv.slice(1)];
  process.execve?.(execPath, args, { ...POOLS, ...env });
}
