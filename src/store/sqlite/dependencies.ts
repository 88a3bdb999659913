/** What the entities of a registry share. */
import type { GroupCommit } from './connection/group-commit.ts';
import type { ReadSnapshot } from './connection/read-snapshot.ts';
import type { CooperativeSummaries } from './cooperative-summaries.ts';

export interface StoreDependencies {
  readonly commits: GroupCommit;
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
}
