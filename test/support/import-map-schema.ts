/** The committed import-map.schema.json: what the columns declare, and the program that writes it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ENCODINGS } from '../../src/import/files/records.ts';
import { DATE_ORDERS } from '../../src/import/reading/cell-context.ts';
import { DECIMAL_MARKS, type MAP_KEYS, MAX_HEADER_LINE } from '../../src/import/reading/file-layout.ts';
import { IMPORT_COLUMNS, type ImportColumn } from '../../src/import/table/columns.ts';
import { IMPORT_KINDS, type ImportKind } from '../../src/registry/file-columns.ts';

export const IMPORT_MAP_SCHEMA_FILE = fileURLToPath(new URL('../../import-map.schema.json', import.meta.url));

type Schema = Record<string, unknown>;

const NOT_BLANK = { pattern: '\\S' };
const choiceOf = (choices: readonly string[], description?: string): Schema => ({
  ...(description === undefined ? {} : { description }),
  enum: choices,
});

const DESCRIPTIONS: { readonly [key in (typeof MAP_KEYS)[number]]: Schema } = {
  kind: choiceOf(IMPORT_KINDS, 'What the file holds.'),
  columns: {
    description:
      'By heading of the file, without regard to case, accents and punctuation, the column that it is ' +
      'read as; null ignores it. {"column": …, "round": true} rounds its numbers. Other headings are ' +
      'read as without a map.',
    type: 'object',
  },
  constants: {
    description: 'By column that the file does not have, the value that every row has.',
    type: 'object',
  },
  values: { description: 'By column, by word of the file, the value that it means.', type: 'object' },
  dates: choiceOf(DATE_ORDERS, 'The order of day, month and year in dates such as 3/4/2024.'),
  decimal: choiceOf(DECIMAL_MARKS, 'What separates the decimals of a number.'),
  encoding: choiceOf(ENCODINGS, 'How the characters of a text file are written.'),
  header_row: {
    ...{ description: 'The line of the headings.', type: 'integer' },
    ...{ minimum: 1, maximum: MAX_HEADER_LINE },
  },
  sheet: { description: 'The name of the sheet of a workbook.', type: 'string', ...NOT_BLANK },
};

function columnsSchema(columns: readonly ImportColumn[]): Schema {
  const names = columns.map(({ name }) => name);
  const decimals = columns.filter(({ decimal }) => decimal !== undefined).map(({ name }) => name);
  const others = names.filter((name) => !decimals.includes(name));
  const object = (choices: readonly string[], round: Schema): Schema => ({
    type: 'object',
    properties: { column: { enum: choices }, round },
    required: ['column'],
    additionalProperties: false,
  });
  return {
    propertyNames: NOT_BLANK,
    additionalProperties: {
      anyOf: [
        { enum: [...names, null] },
        ...(decimals.length > 0 ? [object(decimals, { type: 'boolean' })] : []),
        object(others, { const: false }),
      ],
    },
  };
}

function constantsSchema(columns: readonly ImportColumn[]): Schema {
  const constants = columns.map(({ name, choices }): [string, Schema] => [
    name,
    choices === undefined ? { type: 'string', ...NOT_BLANK } : choiceOf(choices),
  ]);
  return { properties: Object.fromEntries(constants), additionalProperties: false };
}

function valuesSchema(columns: readonly ImportColumn[]): Schema {
  const words = columns.flatMap(({ name, choices }): [string, Schema][] =>
    choices === undefined
      ? []
      : [[name, { type: 'object', propertyNames: NOT_BLANK, additionalProperties: choiceOf(choices) }]],
  );
  return { properties: Object.fromEntries(words), additionalProperties: false };
}

function whenKindIs(kind: ImportKind): Schema {
  const columns = IMPORT_COLUMNS[kind];
  return {
    if: { properties: { kind: { const: kind } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema; nothing awaits this object.
    then: {
      properties: {
        columns: columnsSchema(columns),
        constants: constantsSchema(columns),
        values: valuesSchema(columns),
      },
    },
  };
}

export const importMapSchema = (): Schema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Import map',
  description: 'How one cooperative writes its files, for cooperative-registry import --map.',
  type: 'object',
  required: ['kind'],
  properties: DESCRIPTIONS,
  additionalProperties: false,
  allOf: IMPORT_KINDS.map(whenKindIs),
});

export const importMapSchemaText = (): string => `${JSON.stringify(importMapSchema(), undefined, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(IMPORT_MAP_SCHEMA_FILE, importMapSchemaText());
