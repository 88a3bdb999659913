/** gzip for those who accept it. */
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

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
