/** The peer: bare node:http that sends the registry's own answers from memory, by path. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

interface Answer {
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

const [file = ''] = process.argv.slice(2);
const answers = JSON.parse(readFileSync(file, 'utf8')) as Answer[];
const byPath = new Map(
  answers.map(({ path, headers, body }) => [path, { headers, body: Buffer.from(body) }]),
);

const server = createServer((request, response) => {
  const answer = byPath.get(request.url ?? '');
  if (answer === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, answer.headers);
  response.end(answer.body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stderr.write(`Serving on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`);
});
