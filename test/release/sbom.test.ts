/** The list of components of a release: reproducible, and complete for a scanner of advisories. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeSbom, type Sbom } from './sbom.ts';

const LISTED = {
  serialNumber: 'urn:uuid:00000000-0000-4000-8000-000000000000',
  metadata: {
    timestamp: '2026-01-01T00:00:00.000Z',
    component: {
      'bom-ref': 'folder@0.0.0',
      name: 'folder',
      version: '0.0.0',
      purl: 'pkg:npm/cooperative-registry@2.0.0',
    },
    tools: [{ name: 'npm', version: '11.0.0' }],
  },
  components: [],
  dependencies: [
    { ref: 'folder@0.0.0', dependsOn: ['better-sqlite3@13.2.0'] },
    { ref: 'better-sqlite3@13.2.0', dependsOn: [] },
  ],
} satisfies Sbom & { serialNumber: string };
const PRODUCT = { name: 'cooperative-registry', version: '2.0.0' };
const compose = () =>
  composeSbom(LISTED, PRODUCT, process.versions as Record<string, string>, '3.50.1', '2026-11-28T00:00:00Z');

test('Node, what it bundles and the SQLite of the driver are components with a CPE', () => {
  const { components } = compose();
  const cpes = components.map(({ cpe }) => cpe);
  const { node, openssl, zlib } = process.versions;
  for (const name of [`nodejs:node.js:${node}`, `openssl:openssl:${openssl}`, 'sqlite:sqlite:3.50.1'])
    assert.ok(cpes.includes(`cpe:2.3:a:${name}:*:*:*:*:*:*:*`), name);
  const copy = components.find(({ name }) => name === 'zlib');
  assert.equal(copy?.version, zlib);
  assert.match(String(copy?.cpe), /^cpe:2\.3:a:zlib:zlib:[\d.]+:\*/);
  assert.deepEqual(
    components.filter(({ name }) => ['modules', 'napi', 'tz'].includes(name)),
    [],
  );
});

test('the list names the product, has the time of the commit and no random number', () => {
  const sbom = compose();
  assert.deepEqual(sbom.metadata.component, { ...LISTED.metadata.component, ...PRODUCT });
  assert.equal('tools' in sbom.metadata, false, 'the npm of the machine');
  assert.equal(sbom.metadata.timestamp, '2026-11-28T00:00:00Z');
  assert.equal('serialNumber' in sbom, false);
  assert.equal(JSON.stringify(sbom), JSON.stringify(compose()));
});

test('every component is reached from the product, and npm packages in Node have the purl of npm', () => {
  const { components, dependencies, metadata } = compose();
  const dependsOn = new Map(dependencies.map(({ ref, dependsOn: refs }) => [ref, refs]));
  const reached = new Set<string>();
  const visit = (ref: string): void => {
    if (reached.has(ref)) return;
    reached.add(ref);
    for (const next of dependsOn.get(ref) ?? []) visit(next);
  };
  visit(metadata.component['bom-ref']);
  assert.deepEqual(
    components.map((part) => part['bom-ref']).filter((ref) => !reached.has(ref)),
    [],
  );
  const { undici } = process.versions;
  assert.ok(components.some(({ purl }) => purl === `pkg:npm/undici@${undici}`));
});
