/**
 * Draws a flame graph of a CPU profile (`node --cpu-prof`): `bench/flame.ts PROFILE TITLE > FILE.svg`.
 * Width is processor time; time spent waiting is omitted.
 */
import { readFileSync } from 'node:fs';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Frame {
  readonly name: string;
  micros: number;
  readonly children: Map<string, Frame>;
}

const WIDTH = 1_200;
const ROW = 17;
const NARROWEST = 1.2;
const LETTER = 6.2;
/** Omitted: samples taken while nothing runs, and those of the start of the program. */
const LEFT_OUT = /^\((?:idle|program)\)$/;
const STARTING = /\/node_modules\/(?:tsx|esbuild)\/|esm\/|cjs\/|bootstrap\/|run_main/;

const [file = '', title = ''] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(file, 'utf8')) as {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
};
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const parents = new Map(
  profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])),
);

const newFrame = (name: string): Frame => ({ name, micros: 0, children: new Map() });
const shortened = (url: string): string =>
  url.replace(/^.*\/(?:dist|src)\//, '').replace(/^.*\/node_modules\//, '');
const nameOf = ({ callFrame: { functionName, url } }: ProfileNode): string =>
  `${functionName || '(anonymous)'} ${shortened(url)}`.trim();

const root = newFrame('all');
profile.samples.forEach((id, i) => {
  const path: ProfileNode[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
    path.push(nodes.get(at) as ProfileNode);
  const frames = path.reverse().slice(1);
  const leaf = frames.at(-1)?.callFrame.functionName ?? '(idle)';
  if (LEFT_OUT.test(leaf) || frames.some(({ callFrame }) => STARTING.test(callFrame.url))) return;
  let frame = root;
  frame.micros += profile.timeDeltas[i] as number;
  for (const node of frames) {
    const name = nameOf(node);
    let child = frame.children.get(name);
    if (child === undefined) {
      child = newFrame(name);
      frame.children.set(name, child);
    }
    child.micros += profile.timeDeltas[i] as number;
    frame = child;
  }
});

const toXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function colour(name: string): string {
  if (/^(?:write|writev|writeUtf8String|writeLatin1String|read|writeBuffer)\b|node:net|streams\//.test(name))
    return '#9ecae1';
  if (/sqlite\//.test(name)) return '#fdae6b';
  if (/garbage/.test(name)) return '#bcbddc';
  if (/node:|internal/.test(name)) return '#c7e9c0';
  return '#fdd0a2';
}

const boxes: string[] = [];
let depth = 0;

function draw(frame: Frame, x: number, level: number): void {
  const width = (frame.micros / root.micros) * WIDTH;
  if (width < NARROWEST) return;
  depth = Math.max(depth, level);
  const share = ((frame.micros / root.micros) * 100).toFixed(1);
  const label = frame.name.slice(0, Math.max(0, Math.floor(width / LETTER) - 1));
  const place = `x="${x.toFixed(1)}" y="${level * ROW}" width="${Math.max(width - 0.5, 0.5).toFixed(1)}"`;
  boxes.push(
    `<g><title>${toXml(frame.name)}: ${share} %</title>` +
      `<rect ${place} height="${ROW - 1}" fill="${colour(frame.name)}"/>` +
      (label.length > 2
        ? `<text x="${(x + 3).toFixed(1)}" y="${level * ROW + 12}">${toXml(label)}</text>`
        : '') +
      '</g>',
  );
  let start = x;
  for (const child of [...frame.children.values()].sort((a, b) => b.micros - a.micros)) {
    draw(child, start, level + 1);
    start += (child.micros / root.micros) * WIDTH;
  }
}

draw(root, 0, 0);
const height = (depth + 3) * ROW;
const viewBox = `0 ${-2 * ROW} ${WIDTH} ${height}`;
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}" font-family="sans-serif" font-size="11">
<title>${toXml(title)}</title>
<rect x="0" y="${-2 * ROW}" width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="4" y="${-ROW + 4}" font-size="14" font-weight="bold">${toXml(title)}</text>
${boxes.join('\n')}
</svg>
`,
);
