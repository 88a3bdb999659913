/** What a release promises to programs: the API, the commands, the settings, and what the package exports. */

import type { Command } from 'commander';
import { IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import * as exported from '../../src/index.ts';
import { createProgram } from '../../src/program.ts';
import { describeApi } from '../../src/reference/openapi.ts';
import { SETTINGS } from '../../src/runtime/config.ts';
import { EXIT } from '../../src/terminal/context.ts';
import { WEBHOOKS_DESCRIBED } from '../../src/webhooks/webhook-reference.ts';
import { testClock } from '../support/app.ts';
import { declaredRoutes } from '../support/openapi-file.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
type Described = any;

/** A line for each promise, in order; a later release may add lines, and takes none away unannounced. */
export async function readInterface(): Promise<string[]> {
  const lines = [
    ...listApi(describeApi(declaredRoutes(), WEBHOOKS_DESCRIBED)),
    ...(await listCommands()),
    ...Object.keys(SETTINGS).map((name) => `setting ${name}`),
    ...Object.entries(EXIT).map(([name, status]) => `exit status ${status} ${name}`),
    ...Object.keys(exported).map((name) => `export ${name}`),
    ...Object.entries(IMPORT_COLUMNS).flatMap(([kind, columns]) =>
      columns.map(({ name }) => `column ${kind} ${name}`),
    ),
  ];
  return [...new Set(lines)].sort();
}

function listApi(api: Described): string[] {
  return Object.entries<Described>(api.paths).flatMap(([path, operations]) =>
    Object.entries<Described>(operations).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const parameters = (operation.parameters ?? []).map((given: Described) => resolve(api, given));
      const body = operation.requestBody?.content?.['application/json']?.schema;
      return [
        name,
        ...parameters.map((each: Described) => `${name} parameter ${each.in} ${each.name}`),
        ...propertiesOf(api, body).map((each) => `${name} body ${each}`),
        ...Object.entries<Described>(operation.responses).flatMap(([status, response]) => [
          `${name} response ${status}`,
          ...Object.values<Described>(resolve(api, response).content ?? {}).flatMap(({ schema }) =>
            propertiesOf(api, schema).map((each) => `${name} response ${status} ${each}`),
          ),
        ]),
      ];
    }),
  );
}

/** What a reference leads to. */
function resolve(api: Described, value: Described): Described {
  const at: string | undefined = value?.$ref;
  if (at === undefined) return value;
  return at
    .slice(2)
    .split('/')
    .reduce((found, key) => found[key.replaceAll('~1', '/')], api);
}

/** The names of all properties, those inside others with a dot between. */
function propertiesOf(api: Described, given: Described, within = '', depth = 0): string[] {
  const schema = resolve(api, given);
  if (schema === undefined || depth > 6) return [];
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return [
    ...parts.flatMap((each: Described) => propertiesOf(api, each, within, depth + 1)),
    ...(schema.items === undefined ? [] : propertiesOf(api, schema.items, within, depth + 1)),
    ...Object.entries<Described>(schema.properties ?? {}).flatMap(([name, property]) => [
      within + name,
      ...propertiesOf(api, property, `${within}${name}.`, depth + 1),
    ]),
  ];
}

async function listCommands(): Promise<string[]> {
  const silent = () => undefined;
  const context = { env: {}, clock: testClock(0), out: silent, err: silent, terminal: undefined };
  const listed = (command: Command, path: string): string[] => [
    `command ${path}`,
    ...command.registeredArguments.map((argument) => `command ${path} argument ${argument.name()}`),
    ...command.options.map(({ long }) => `command ${path} ${long}`),
    ...command.commands.flatMap((each) => listed(each, `${path} ${each.name()}`.trim())),
  ];
  return listed(await createProgram(context), '');
}
