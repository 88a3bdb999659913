/** The committed openapi.json: its text as the routes declare it, and the program that writes it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KIGALI } from '../../src/domain/values/date-time.ts';
import type { Exporter } from '../../src/export/exporter.ts';
import type { Route } from '../../src/http/declare/route.ts';
import { InProcessRateLimiter } from '../../src/http/middleware/in-process-rate-limiter.ts';
import { describeApi } from '../../src/http/openapi/openapi.ts';
import { API_VERSION, createRoutes } from '../../src/http/routes.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { RegistryStore } from '../../src/store/contract/registry.ts';

export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.json', import.meta.url));

/** Of a registry without storage: declaring routes touches none. */
export const routeDependencies = {
  exporter: {} as Exporter,
  store: {} as RegistryStore,
  limiter: new InProcessRateLimiter(systemClock),
  clock: systemClock,
  zone: KIGALI,
  findUnready: async () => undefined,
};

/** Every route. */
export const declaredRoutes = (): Route[] => createRoutes(routeDependencies);

/** Without white space: the formatter of the project adds its own. */
export const openApiText = (): string => JSON.stringify(describeApi(declaredRoutes(), API_VERSION));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(OPENAPI_FILE, openApiText());
