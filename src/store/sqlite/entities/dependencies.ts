/** What the entities of a registry share. */
import type { GroupCommit } from '../engine/group-commit.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';
import type { CooperativeSummaries } from '../rows/cooperative-summaries.ts';
import type { ResponseKeeper } from './idempotent-responses.ts';

export interface StoreDependencies {
  readonly commits: GroupCommit;
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
  /** Creates rows that answer a request. */
  readonly responses: ResponseKeeper;
}
