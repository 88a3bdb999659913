/** gzip for those who accept it (RFC 9110, section 12.5.3). */
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

const CODING = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/** @param header the value of Accept-Encoding; a part of it that cannot be read counts for nothing */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of String(header ?? '').split(',')) {
    const [, coding, weight = '1'] = CODING.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  const weight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}

/**
 * Made in another thread, and only as fast as it is read; fast rather than small.
 * @param parts each is asked for when the one before it was compressed
 */
export async function* gzipped(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // An error reaches whoever reads.
  pipeline(parts, gzip, () => {});
  yield* gzip;
}
