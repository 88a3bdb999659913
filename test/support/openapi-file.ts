/** The committed openapi.json: its text as the routes declare it, and the program that writes it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RateLimiter } from '../../src/access/rate-limiter.ts';
import { ADDED } from '../../src/compose.ts';
import type { Route } from '../../src/http/declare/route.ts';
import type { RegistryStore } from '../../src/open-registry.ts';
import { describeApi } from '../../src/reference/openapi.ts';
import { createRoutes } from '../../src/routes.ts';
import type { Config } from '../../src/runtime/config.ts';
import { systemClock } from '../../src/runtime/scheduler.ts';
import type { Storage } from '../../src/sqlite/storage.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { WEBHOOKS_DESCRIBED } from '../../src/webhooks/webhook-reference.ts';

export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.json', import.meta.url));

/** Of a registry without storage: declaring routes touches none. */
export const routeDependencies = {
  storage: { zone: KIGALI } as Storage,
  store: {} as RegistryStore,
  limiter: new RateLimiter(systemClock),
  clock: systemClock,
  findUnready: async () => undefined,
  parts: ADDED.map((add) => add({} as Config)),
};

/** Every route. */
export const declaredRoutes = (): Route[] => createRoutes(routeDependencies);

/** Without white space: the formatter of the project adds its own. */
export const openApiText = (): string => JSON.stringify(describeApi(declaredRoutes(), WEBHOOKS_DESCRIBED));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(OPENAPI_FILE, openApiText());
