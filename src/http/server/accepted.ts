/** What a client accepts (RFC 9110, section 12.5). */

const PART = /^\s*([!#$%&'*+.^_`|~0-9a-z/-]+)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/** @returns the weight of each name, in lower case; a part that cannot be read counts for nothing */
function weightsOf(header: string | string[] | undefined): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of String(header ?? '').split(',')) {
    const [, name, weight = '1'] = PART.exec(part) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  return weights;
}

/** @param header the value of Accept-Encoding */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}

/**
 * Browsers name HTML. Whoever does not, as curl by default, is a program.
 * @param header the value of Accept
 */
export function prefersHtml(header: string | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('text/html') ?? 0;
  return weight > 0 && weight >= (weights.get('application/json') ?? 0);
}
