/** Maps paths to routes, segment by segment on the raw path, with or without the trailing slash. */
import { fullPath, type Method, type Parameter, type Route } from '../declare/route.ts';

export interface Match {
  /** Routes by method; GET also serves HEAD. */
  readonly routes: { readonly [method in Method]?: Route };
  readonly params: { readonly [name: string]: string };
  /** The matched path with `{name}` for parameters. */
  readonly template: string;
  readonly allow: string;
}

interface Node {
  readonly literals: Map<string, Node>;
  parameter: { readonly name: string; readonly takesAnyByte: boolean; readonly node: Node } | undefined;
  readonly routes: { [method in Method]?: Route };
  allow: string;
  template: string;
}

const newNode = (): Node => ({
  literals: new Map(),
  parameter: undefined,
  routes: {},
  allow: '',
  template: '',
});

// The legal bytes of a path (docs/api.md#routes). Nothing is decoded or resolved: `..` is two dots.
const LEGAL_SEGMENT = /^[A-Za-z0-9_.-]+$/;

export type Router = (path: string) => Match | undefined;

/** @throws Error at start-up for two routes of a method and path, or two parameter names at one position */
export function createRouter(routes: readonly Route[]): Router {
  const root = newNode();
  for (const route of routes) add(root, route);
  return (path) => match(root, path);
}

function add(root: Node, route: Route): void {
  let node = root;
  for (const segment of fullPath(route).slice(1).split('/')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    node = name === undefined ? literalChild(node, segment) : parameterChild(node, name, route);
  }
  if (node.routes[route.method] !== undefined) {
    throw new Error(`Two routes answer ${route.method} ${fullPath(route)}.`);
  }
  node.routes[route.method] = route;
  node.template = fullPath(route);
  const methods = Object.keys(node.routes);
  node.allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ');
}

function literalChild(node: Node, segment: string): Node {
  let child = node.literals.get(segment);
  if (child === undefined) {
    child = newNode();
    node.literals.set(segment, child);
  }
  return child;
}

function parameterChild(node: Node, name: string, route: Route): Node {
  const parameter: Parameter | undefined = route.params?.[name];
  if (parameter === undefined)
    throw new Error(`${route.operationId} does not declare its parameter ${name}.`);
  const takesAnyByte = parameter.takesAnyByte === true;
  node.parameter ??= { name, takesAnyByte, node: newNode() };
  if (node.parameter.name !== name || node.parameter.takesAnyByte !== takesAnyByte) {
    throw new Error(`${route.operationId} declares {${name}} unlike another route at the same place.`);
  }
  return node.parameter.node;
}

function match(root: Node, path: string): Match | undefined {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  const params: { [name: string]: string } = {};
  let node = root;
  for (let start = 1; start <= end; ) {
    const slash = path.indexOf('/', start);
    const stop = slash === -1 || slash > end ? end : slash;
    const segment = path.slice(start, stop);
    const next = step(node, segment, params);
    if (next === undefined) return undefined;
    node = next;
    start = stop + 1;
  }
  if (node.allow === '') return undefined;
  return { routes: node.routes, params, template: node.template, allow: node.allow };
}

function step(node: Node, segment: string, params: { [name: string]: string }): Node | undefined {
  const literal = node.literals.get(segment);
  if (literal !== undefined) return literal;
  const { parameter } = node;
  if (parameter === undefined || segment === '') return undefined;
  if (!parameter.takesAnyByte && !LEGAL_SEGMENT.test(segment)) return undefined;
  params[parameter.name] = segment;
  return parameter.node;
}
