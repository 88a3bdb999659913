/** All rows of a kind at once, from one snapshot (docs/api.md#exports). */

import { type Visible, visibleGroups } from '../../domain/access/visible.ts';
import { onlyGiven } from '../../domain/values/given.ts';
import { parseChoice } from '../../domain/values/text.ts';
import { type ExportRequest, TEXT_FORMATS, type TextFormat } from '../../export/export-request.ts';
import type { Export, Exporter } from '../../export/exporter.ts';
import { choiceOf } from '../../json/schema.ts';
import type { EventStore } from '../../store/contract/events.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { StoreOf } from '../../store/contract/registry.ts';
import { SHOWS_PERSONS } from '../declare/narrowing.ts';
import { showing } from '../declare/personal.ts';
import type { QueryParameters } from '../declare/query.ts';
import { type ApiResponse, BodyParts } from '../declare/response.ts';
import { defineRoute, type Route, type RouteRequest } from '../declare/route.ts';
import { acceptsGzip } from '../server/accepted.ts';
import { gzipped } from '../server/compression.ts';
import type { Resource } from './resource.ts';

export interface ExportDependencies {
  readonly exporter: Exporter;
  /** Says where the sequence is when nothing is exported. */
  readonly eventsOf: StoreOf<Pick<EventStore, 'read'>>;
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

/** What is exported: rows of one kind. */
interface Exported extends Pick<Resource<never, unknown>, 'schema' | 'groups'> {
  readonly kind: ImportKind;
  /** What several of them are called, with hyphens. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly access: Extract<Route['access'], object>;
}

/** The rows of a resource, for who may list them. */
export const exportOf = ({
  tag,
  title,
  schema,
  groups,
}: Pick<Resource<never, unknown>, 'tag' | 'title' | 'schema' | 'groups'>): Exported => ({
  ...{ kind: tag, path: tag, tag, schema, groups },
  operationId: `export${title}s`,
  access: { scope: `${tag}:read` },
});

/** What a client asks for, whatever the kind. */
interface Asked {
  readonly format?: TextFormat;
  readonly cooperative?: number;
  readonly status?: string;
}

/** @param filters of `cooperative` and `status` */
export const exportRoute = (
  { kind, path, operationId, tag, access, schema, groups }: Exported,
  filters: QueryParameters,
  { exporter, eventsOf }: ExportDependencies,
): Route =>
  defineRoute({
    method: 'GET',
    path: `/${path}/export`,
    operationId,
    summary: `Export all ${path.replaceAll('-', ' ')}`,
    description:
      'All rows that the key sees, as they were at one moment, in order of id. X-Snapshot-Sequence is the ' +
      'last event that they include: /events goes on after it.',
    tag,
    access: { ...access, isExport: true },
    // A key that only looks up has no way to many rows, not even of those that show no person.
    narrowed: SHOWS_PERSONS,
    personal: showing('all', groups),
    query: { ...filters, format: FORMAT },
    requestHeaders: ['Accept-Encoding'],
    responses: {
      200: {
        description: `All ${path.replaceAll('-', ' ')}.`,
        schema,
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
      const { format = 'ndjson', cooperative: cooperativeId, status } = request.query as Asked;
      const { visible } = request;
      const cooperativeIds = visibleGroups(visible, cooperativeId) ?? null;
      const shown = { kind, format, cooperativeIds } as const;
      if (request.incoming.method === 'HEAD') {
        const latest = { after: undefined, limit: 1, epoch: undefined };
        const { epoch, lastSequence: sequence } = eventsOf(visible).read(latest);
        return respond(request, shown, { epoch, sequence });
      }
      const filter = { visible, ...onlyGiven({ cooperativeId, status }) };
      const run = await exporter.run({ kind, format, filter }, (leave) => request.whenClosed(leave));
      return respond(request, shown, run);
    },
  });

type Known = Pick<Export, 'epoch' | 'sequence'> & Partial<Pick<Export, 'bytes' | 'read'>>;

/** @param found without content for HEAD */
function respond(
  { incoming }: Pick<RouteRequest, 'incoming'>,
  { kind, format, cooperativeIds }: Pick<ExportRequest, 'kind' | 'format'> & { cooperativeIds: Visible },
  { epoch, sequence, bytes, read }: Known,
): ApiResponse {
  const isGzipped = acceptsGzip(incoming.headers['accept-encoding']);
  const parts = read?.() ?? [];
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
}
