/** The description of the API is derived from the routes, valid, complete and committed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { fullPath } from '../../src/http/route.ts';
import { startApp } from '../support/app.ts';
import { declaredRoutes, OPENAPI_FILE, openApiText } from '../support/openapi-file.ts';

test('openapi.json is what the routes say; `make openapi` writes it', () => {
  assert.equal(readFileSync(OPENAPI_FILE, 'utf8'), openApiText());
});

test('openapi.json is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const outcome = await validator.validate(JSON.parse(openApiText()));
  assert.deepEqual(outcome, { valid: true });
  assert.equal(validator.version, '3.1');
  const broken = JSON.parse(openApiText());
  delete broken.info.title;
  assert.equal((await new Validator().validate(broken)).valid, false);
});

test('the server answers the committed description, with every route in it', async (context) => {
  const app = await startApp(context);
  const { json } = await app.send('//openapi.json', { key: null });
  assert.deepEqual(json, JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')));
  const described = Object.entries(json.paths as { [path: string]: object }).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(
    described.sort(),
    declaredRoutes()
      .map((route) => `${route.method} ${fullPath(route)}`)
      .sort(),
  );
});
