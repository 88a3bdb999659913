/** Routes that export all rows of a kind from one snapshot (docs/api.md#exports). */

import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { type StoreOf, type Visible, visibleCooperatives } from '../access/api-keys.ts';
import type { EventStore } from '../events/event-store.ts';
import type { QueryParameters } from '../http/declare/query.ts';
import { BodyParts } from '../http/declare/response.ts';
import { acceptsGzip, defineRoute, type Route, SHOWS_PERSONS, showing } from '../http/declare/route.ts';
import type { AddToService } from '../module.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import { COOPERATIVE_FILTER } from '../registry/routes/cooperative-routes.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import type { Storage } from '../sqlite/storage.ts';
import { RegistryError } from '../values/errors.ts';
import { choiceOf } from '../values/schema.ts';
import { parseChoice } from '../values/text.ts';
import { openSpool } from './disk-buffer.ts';
import { EXPORTED } from './export-columns.ts';
import { type ExportRequest, TEXT_FORMATS, type TextFormat } from './export-formats.ts';
import type { ExportTasks } from './export-thread.ts';

// A thread writes each export to a spool, which the service then sends (docs/decisions/0026-exports.md).

/** Maximum number of exports that are queued, written or sent. */
const AT_ONCE = 2;
/** Limits of the thread's heap. Exports make short-lived objects, so a larger heap would have no use. */
const HEAP = { youngMib: 6, oldMib: 48 };

type Exporter = ReturnType<typeof createExporter>;

export function createExporter(storage: Storage) {
  const thread = new TaskThread<ExportTasks>({
    module: moduleBeside(import.meta.url, 'export-thread'),
    setup: { location: storage.location, zone: storage.zone },
    maxWaiting: AT_ONCE,
    heap: HEAP,
  });
  let running = 0;
  return {
    /**
     * @param whenLeft registers a callback for the end of the response or of the connection
     * @throws RegistryError (as a rejection) `unavailable` if too many exports run or the disk is full
     */
    async run(request: ExportRequest, whenLeft: (leave: () => void) => void) {
      if (running >= AT_ONCE)
        throw new RegistryError('unavailable', `${AT_ONCE} exports run already. Try again.`, {
          reason: 'too_many_exports',
          retryAfterSeconds: 30,
        });
      const { descriptor, parts, close } = openSpool(storage);
      running++;
      parts.once('close', () => {
        running--;
      });
      const isLeft = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const written = thread.run('spool', { request, descriptor, isLeft });
      whenLeft(() => {
        Atomics.store(isLeft, 0, 1);
        // Closing earlier would let the system reuse the descriptor for another file while the thread writes.
        written.then(close, close);
      });
      try {
        return { ...(await written), parts };
      } catch (error) {
        close();
        throw error;
      }
    },
    running: () => running,
    close: () => thread.close(),
  };
}

const MEDIA_TYPES: { readonly [format in TextFormat]: string } = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

const FORMAT = {
  description: 'One JSON object a line, or CSV that can be imported.',
  schema: choiceOf(TEXT_FORMATS, { default: 'ndjson' }),
  parse: (value: string) => parseChoice(value, TEXT_FORMATS),
};

interface SubmittedQuery {
  readonly format?: TextFormat;
  readonly cooperative?: number;
  readonly status?: string;
}

interface ExportDependencies {
  readonly exporter: Exporter;
  readonly eventsOf: StoreOf<Pick<EventStore, 'read'>>;
}

interface ExportedResource {
  readonly kind: ImportKind;
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly access: Extract<Route['access'], object>;
}

const exportRoute = (
  { kind, path, operationId, tag, access }: ExportedResource,
  filters: QueryParameters,
  { exporter, eventsOf }: ExportDependencies,
): Route =>
  defineRoute({
    method: 'GET',
    path: `/${path}/export`,
    operationId,
    summary: `Export all ${path.replaceAll('-', ' ')}`,
    description:
      'All rows that the key sees, as they were at one moment, in order of id. X-Snapshot-Sequence is ' +
      'the last event that the rows include: pass it to /events as `after` to continue.',
    tag,
    access: { ...access, isExport: true },
    // Lookup-only keys may not export cooperatives either, although these are not personal data.
    narrowed: SHOWS_PERSONS,
    personal: showing('all', EXPORTED[kind].groups),
    query: { ...filters, format: FORMAT },
    requestHeaders: ['Accept-Encoding'],
    responses: {
      200: {
        description: `All ${path.replaceAll('-', ' ')}.`,
        schema: EXPORTED[kind].schema,
        isExport: true,
        headers: {
          'Content-Disposition': 'required',
          'X-Snapshot-Sequence': 'required',
          'X-Snapshot-Epoch': 'required',
          Vary: 'required',
          'Content-Encoding': 'optional',
        },
      },
    },
    refusals: [400, 503],
    async handle(request) {
      const { format = 'ndjson', cooperative: cooperativeId, status } = request.query as SubmittedQuery;
      const { visible, incoming } = request;
      const exported =
        incoming.method === 'HEAD'
          ? exportWithoutContent(eventsOf(visible))
          : await exporter.run({ kind, format, filter: { visible, cooperativeId, status } }, (leave) =>
              request.whenClosed(leave),
            );
      const { epoch, sequence, bytes, parts } = exported;
      const isGzipped = acceptsGzip(incoming.headers['accept-encoding']);
      const cooperativeIds = visibleCooperatives(visible, cooperativeId) ?? null;
      return {
        status: 200,
        subject: { all: { asOfSequence: sequence, cooperativeIds } },
        body: new BodyParts(isGzipped ? gzipped(parts) : parts, MEDIA_TYPES[format]),
        headers: {
          'Content-Disposition': `attachment; filename="${kind}.${format}"`,
          'X-Snapshot-Sequence': String(sequence),
          'X-Snapshot-Epoch': epoch,
          Vary: 'Accept-Encoding',
          ...(isGzipped ? { 'Content-Encoding': 'gzip' } : {}),
          ...(isGzipped || bytes === undefined ? {} : { 'Content-Length': String(bytes) }),
        },
      };
    },
  });

/** Compresses in another thread. @param parts each part is read after the previous part is compressed */
export async function* gzipped(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // The callback may ignore an error: the pipeline destroys `gzip` with the error, so the reader receives it.
  pipeline(parts, gzip, () => {});
  yield* gzip;
}

function exportWithoutContent(events: Pick<EventStore, 'read'>) {
  const { epoch, lastSequence } = events.read({ after: undefined, limit: 1, epoch: undefined });
  return { epoch, sequence: lastSequence, bytes: undefined, parts: [] };
}

/** Exports of entries require access to entries and to members, because their rows contain both. */
const OF_ENTRIES = {
  tag: 'members',
  access: { scope: 'members:read', alsoScope: 'members:financials' },
} as const;

const ENTRIES: readonly ExportedResource[] = [
  { ...OF_ENTRIES, kind: 'production', path: 'deliveries', operationId: 'exportDeliveries' },
  { ...OF_ENTRIES, kind: 'savings', path: 'savings-transactions', operationId: 'exportSavingsTransactions' },
];

export const serveExports: AddToService = () => {
  let exporter: Exporter | undefined;
  return {
    routes(storage, store) {
      exporter = createExporter(storage);
      const exports = { exporter, eventsOf: (visible: Visible) => store.narrowedTo(visible).events };
      return {
        // An export needs the same scope as the list.
        more: ({ tag, title }, filters) => [
          exportRoute(
            {
              ...{ kind: tag, path: tag, tag },
              operationId: `export${title}s`,
              access: { scope: `${tag}:read` },
            },
            filters,
            exports,
          ),
        ],
        ofEntries: ENTRIES.map((resource) =>
          exportRoute(resource, { cooperative: COOPERATIVE_FILTER }, exports),
        ),
      };
    },
    metrics: () => ({ registry_exports_running: exporter?.running() }),
    close: () => exporter?.close(),
  };
};
