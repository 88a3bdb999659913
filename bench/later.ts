/** A registry whose clock is 20 days ahead: deliveries have expired since the read model was computed. */
import { openRegistry } from '../src/index.ts';

const AHEAD_MS = 20 * 86_400_000;

const registry = openRegistry({
  db: process.env.REGISTRY_DB ?? '',
  logLevel: 'info',
  clock: { now: () => Date.now() + AHEAD_MS, monotonicMs: () => performance.now() },
});
const { address } = await registry.listen();
process.stderr.write(`Serving on http://127.0.0.1:${address.port}\n`);
process.once('SIGTERM', () => registry.close());
