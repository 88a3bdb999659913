/**
 * Many clients in a process of their own, for bench/overload.ts; the last line it prints is its result.
 *
 *     node bench/crowd.ts asking PORT KEY CONNECTIONS SECONDS [PAUSE_MS [WARM_UP_SECONDS]]
 *     node bench/crowd.ts slow-headers|slow-body|slow-reading|unread|silent|pipelined PORT KEY CONNECTIONS
 *
 * `asking` sends on each connection one lookup after the other, at once, whatever the answer was.
 * The other kinds hold their connections, and open them again when they are closed, until they are killed.
 * `pipelined` is not slow: it asks for as many pages as its connections take, and reads none.
 */
import { connect, type Socket } from 'node:net';
import { identityCard } from './population.ts';

const [kind = '', port = '', key = '', connections = '', seconds = '', pauseMs = '0', warmUp = '0'] =
  process.argv.slice(2);
const PEOPLE = 5_000;
const LINES = `Host: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;

const lookups = Array.from({ length: PEOPLE }, (_, i) =>
  Buffer.from(`GET /api/v1/members/${identityCard(i)}/ HTTP/1.1\r\n${LINES}\r\n`),
);
const page = `GET /api/v1/members?page_size=200 HTTP/1.1\r\n${LINES}\r\n`;
let next = 0;

/** Milliseconds of each response, by status. */
const times = new Map<string, number[]>();
let closed = 0;
const countedFromMs = performance.now() + Number(warmUp) * 1_000;

function count(status: string, ms: number): void {
  const seen = times.get(status);
  if (seen === undefined) times.set(status, [ms]);
  else seen.push(ms);
}

function ask(): void {
  const socket = connect(Number(port), '127.0.0.1').setNoDelay(true);
  let sentMs = 0;
  let missing = 0;
  const send = () => {
    sentMs = performance.now();
    next = (next + 7919) % PEOPLE;
    socket.write(lookups[next] as Buffer);
  };
  socket.once('connect', send);
  socket.on('data', (chunk: Buffer) => {
    if (missing === 0) {
      const text = chunk.toString('latin1', 0, 2_000);
      const status = text.slice(9, 12);
      missing = text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (sentMs >= countedFromMs) count(status, performance.now() - sentMs);
    }
    missing -= chunk.length;
    if (missing > 0) return;
    if (pauseMs === '0') send();
    else setTimeout(send, Number(pauseMs));
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    closed++;
    setTimeout(ask, 100);
  });
}

function hold(): void {
  const socket = connect(Number(port), '127.0.0.1');
  let dripping: NodeJS.Timeout | undefined;
  const eachSecond = (work: () => void) => {
    dripping = setInterval(work, 1_000);
  };
  const drip = (text: string) => eachSecond(() => socket.write(text));
  socket.once('connect', () => {
    if (kind === 'slow-headers') {
      socket.write(`GET /api/v1/me HTTP/1.1\r\n${LINES}`);
      drip('X: 1\r\n');
    } else if (kind === 'slow-body') {
      const type = 'Content-Type: application/json\r\nContent-Length: 60000\r\n';
      socket.write(`POST /api/v1/members HTTP/1.1\r\n${LINES}${type}\r\n{`);
      drip(' ');
    } else if (kind === 'unread') socket.write(page);
    else if (kind === 'slow-reading') {
      socket.write(page);
      socket.on('data', () => socket.pause());
      eachSecond(() => socket.resume());
    } else if (kind === 'pipelined') sendUnread(socket);
  });
  if (['unread', 'pipelined', 'slow-reading'].includes(kind)) socket.pause();
  else socket.resume();
  socket.on('error', () => {});
  socket.once('close', () => {
    closed++;
    clearInterval(dripping);
    setTimeout(hold, 1_000);
  });
}

/** As much as the connection takes. */
function sendUnread(socket: Socket): void {
  const many = page.repeat(100);
  const more = () => {
    while (socket.writableLength === 0 && socket.write(many));
  };
  socket.on('drain', more);
  more();
}

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

function report(): void {
  const statuses = [...times].map(([status, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const perSecond = all.length / Number(seconds);
    return [
      status,
      { perSecond, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99), maxMs: sorted.at(-1) },
    ];
  });
  process.stdout.write(`${JSON.stringify({ closed, ...Object.fromEntries(statuses) })}\n`);
  process.exit();
}

// Connections that are not read keep no process alive.
setInterval(() => {}, 1_000);
for (let i = 0; i < Number(connections); i++) setTimeout(kind === 'asking' ? ask : hold, (i / 1_000) * 200);
if (kind === 'asking') setTimeout(report, (Number(warmUp) + Number(seconds)) * 1_000);
