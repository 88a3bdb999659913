/** An operation as a command of curl, and as a program in Python and TypeScript: each works as it is. */
import { exampleOfBody, mediaTypesOf } from '../declare/parse-body.ts';
import { fullPath, type Route } from '../declare/route.ts';

export const isExport = ({ access }: Route): boolean =>
  typeof access === 'object' && access.isExport === true;

/** As one word of the shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** With the key in the variable KEY, and the examples that the route declares. */
export function curlLine(route: Route, baseUrl: string): string {
  const { method, access, body } = route;
  const parts = [
    `curl -s${isExport(route) ? 'OJ --compressed' : ''}`,
    ...(method === 'GET' || method === 'POST' ? [] : [`-X ${method}`]),
    ...(access === 'public' ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...(method === 'POST' ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === undefined
      ? []
      : [
          `-H 'Content-Type: ${mediaTypesOf(body).at(-1)}'`,
          `-d ${quoted(JSON.stringify(exampleOfBody(body), null, 2))}`,
        ]),
    quoted(addressOf(route, baseUrl)),
  ];
  return parts.join(body === undefined ? ' ' : ' \\\n  ');
}

const addressOf = (route: Route, baseUrl: string): string =>
  baseUrl + fullPath(route).replace(/\{(\w+)\}/g, (_, name: string) => route.params?.[name]?.example ?? name);

/** Lines of a call, deeper by one level. */
const indented = (lines: readonly string[], by: string): string =>
  lines
    .flatMap((line) => line.split('\n'))
    .map((line) => `${by}${line}\n`)
    .join('');

/** Of the standard library alone, as docs/clients.md#python. */
export function pythonProgram(route: Route, baseUrl: string): string {
  const { method, access, body } = route;
  const isPost = method === 'POST';
  const headers = [
    ...(access === 'public' ? [] : [`"Authorization": f"Bearer {os.environ['KEY']}",`]),
    ...(body === undefined ? [] : [`"Content-Type": "${mediaTypesOf(body).at(-1)}",`]),
    ...(isPost ? ['"Idempotency-Key": str(uuid.uuid4()),'] : []),
  ];
  const given = [
    `${JSON.stringify(addressOf(route, baseUrl))},`,
    ...(method === 'GET' ? [] : [`method="${method}",`]),
    ...(headers.length === 0 ? [] : [`headers={\n${indented(headers, '    ')}},`]),
    ...(body === undefined ? [] : [`data=json.dumps(${pythonLiteral(exampleOfBody(body))}).encode(),`]),
  ];
  const modules = [
    ...(body === undefined ? [] : ['json']),
    ...(access === 'public' ? [] : ['os']),
    'urllib.request',
    ...(isPost ? ['uuid'] : []),
  ];
  return `import ${modules.join(', ')}

request = urllib.request.Request(
${indented(given, '    ')})
with urllib.request.urlopen(request, timeout=60) as response:
    for line in response:
        print(line.decode(), end="")`;
}

const PYTHON_WORDS: { readonly [json: string]: string } = { true: 'True', false: 'False', null: 'None' };

/** JSON, but for three words, which may stand in texts too. */
const pythonLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 4).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (found) => PYTHON_WORDS[found] ?? found,
  );

/** For Node and browsers, as docs/clients.md#typescript. */
export function typescriptProgram(route: Route, baseUrl: string): string {
  const { method, access, body } = route;
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a template there
    ...(access === 'public' ? [] : ['Authorization: `Bearer ${process.env.KEY}`,']),
    ...(body === undefined ? [] : [`'Content-Type': '${mediaTypesOf(body).at(-1)}',`]),
    ...(method === 'POST' ? ["'Idempotency-Key': crypto.randomUUID(),"] : []),
  ];
  const given = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`headers: {\n${indented(headers, '  ')}},`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(exampleOfBody(body), null, 2)}),`]),
  ];
  const address = JSON.stringify(addressOf(route, baseUrl));
  const options = given.length === 0 ? '' : `, {\n${indented(given, '  ')}}`;
  return `const response = await fetch(${address}${options});
${
  isExport(route)
    ? 'for await (const part of response.body ?? []) process.stdout.write(part);'
    : 'console.log(response.status, await response.text());'
}`;
}
