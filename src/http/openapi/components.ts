/** What the description has once, under a name, and refers to wherever it is needed. */

export type Json = { [name: string]: unknown };

type Kind = 'schemas' | 'parameters' | 'headers' | 'responses' | 'pathItems';

export class Components {
  readonly found: { readonly [kind in Kind]: Json } = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    pathItems: {},
  };

  /**
   * @returns a reference to what from now on has this name
   * @throws Error for two different things of one name
   */
  refer(kind: Kind, name: string, value: unknown): Json {
    const known = this.found[kind][name] ?? value;
    if (JSON.stringify(known) !== JSON.stringify(value))
      throw new Error(`Two different ${kind} have the name ${name}.`);
    this.found[kind][name] = known;
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** Leaves references in the place of schemas that have a title. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.schema(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const parts = Object.entries(schema).map(([name, value]) => [name, this.schema(value)]);
    const own: Json = Object.fromEntries(parts);
    return typeof own.title === 'string' ? this.refer('schemas', own.title, own) : own;
  }
}
