/** The body of a form. */
import type { IncomingMessage } from 'node:http';
import type { Form } from '../visit/screen.ts';

const MAX_BYTES = 65_536;

/** @returns undefined for what is no form, or too large */
export async function readForm(request: IncomingMessage): Promise<Form | undefined> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  const fields = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  return { get: (name) => fields.get(name)?.trim() ?? '' };
}
