/** Which file a page is about, and how far it has got. */
import type { CommandRun } from '../../importing/command-run.ts';
import type { DeskFile } from '../../importing/desk-files.ts';
import type { Visit } from '../../visit/screen.ts';

export const fileOf = ({ desk, places }: Visit): DeskFile | undefined => desk.files.find(Number(places.file));
export const pathOf = ({ id }: DeskFile): string => `/import/${id}`;
export const kindOf = ({ kind, proposing }: DeskFile) => kind ?? proposing.proposal?.document.kind;

/** The one that is at work, or was last. */
export const lastRunOf = ({ proposing, check, import: importing }: DeskFile): CommandRun =>
  importing ?? check ?? proposing;

/** What the list of files says of one. */
export function stateOf(visit: Visit, file: DeskFile): string {
  const run = lastRunOf(file);
  if (run.isAtWork) return run === file.import ? visit.say('being imported') : visit.say('being read');
  if (visit.desk.files.isUndone(file)) return visit.say('undone');
  if (file.import?.report?.outcome === 'imported') return visit.say('imported');
  if (file.check === undefined && file.proposing.proposal !== undefined) return visit.say('to be looked at');
  if (run.report?.outcome === 'accepted') return visit.say('ready to import');
  return visit.say('needs attention');
}
