/** The limit: bare node:http that sends answers of the registry from memory, by path, with their headers. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const answers = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const byPath = new Map(answers.map(({ path, status, headers, body }) => [path, { status, headers, body }]));

const server = createServer((request, response) => {
  const answer = byPath.get(request.url);
  if (answer === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
});
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`Serving on http://127.0.0.1:${server.address().port}\n`);
});
