/** Refusals of a release before anything is built: places that disagree on its version, blanks to fill. */

export interface ReleaseTexts {
  /** Version in package.json, which the others must have. */
  readonly version: string;
  readonly lock: {
    readonly version: string;
    readonly packages: Readonly<Record<string, { version?: string }>>;
  };
  readonly changelog: string;
  readonly install: string;
  readonly embedding: string;
  readonly security: string;
  /** Whether `npm run -s keep-release` has written the interface of this version. */
  readonly isKept: boolean;
}

/** Address that a fork replaces by its own: example.org belongs to nobody (RFC 2606). */
const PLACEHOLDER = 'security@example.org';

/** @returns a sentence for each thing to do first */
export function faultsOfRelease(texts: ReleaseTexts): string[] {
  const { version, lock, changelog, install, embedding, security, isKept } = texts;
  const faults: string[] = [];
  const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm');
  if (!heading.test(changelog))
    faults.push(`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)": give it the date of the release.`);
  for (const locked of new Set([lock.version, lock.packages['']?.version]))
    if (locked !== version)
      faults.push(`package-lock.json has version ${locked}, package.json ${version}: run npm install.`);
  for (const [document, text] of Object.entries({ install, embedding })) {
    const archives = [...text.matchAll(/cooperative-registry-(\d+\.\d+\.\d+)/g)].map(([, of]) => of);
    if (archives.length === 0) faults.push(`docs/${document}.md names no archive.`);
    for (const named of new Set(archives))
      if (named !== version)
        faults.push(`docs/${document}.md names the archive of ${named}: write ${version}.`);
  }
  // The first is that of the upgrade; the way back has an earlier one.
  const [, upgrade] = /\bRELEASE=(\d+\.\d+\.\d+)/.exec(install) ?? [];
  if (upgrade !== version)
    faults.push(`docs/install.md upgrades to RELEASE=${upgrade ?? '(nothing)'}: write ${version}.`);
  if (security.includes(PLACEHOLDER))
    faults.push(`SECURITY.md has the address ${PLACEHOLDER}: write where faults are to be reported to you.`);
  if (!isKept)
    faults.push(`test/release/${version}/ is missing: run npm run -s keep-release, and commit it.`);
  return faults;
}
