/** What is said of a file that was read, before its faults: its notes, and its warnings. */
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import type { NewsPart } from '../../import/run/import-news.ts';
import type { ImportWarning } from '../../store/contract/import/import-warnings.ts';
import {
  describeHeadings,
  describeIgnored,
  describeLines,
  describeNotes,
  describePlaceless,
  SHOWN_LINES,
} from './import-notes.ts';
import { type FileToShow, warningsOf } from './import-output.ts';

interface Finding {
  readonly part: NewsPart;
  readonly text: Message;
  /** The same on a line of its own. */
  readonly told: Message;
}

/** @param isPreview whether somebody is to agree to the file, or has only asked what it would do */
export function findingsOf(shown: FileToShow, file: string, isPreview: boolean): readonly Finding[] {
  const { findings } = shown;
  const noting = (part: NewsPart) => (text: Message) => ({
    part,
    text,
    told: say('{file}: note: {note}', { file, note: text }),
  });
  const ignored = isPreview ? describePlaceless(findings) : describeIgnored(findings);
  const warnings = warningsOf(shown).map(describeWarning);
  return [
    ...describeHeadings(findings).map(noting('note')),
    ...ignored.map(noting('ignored')),
    ...describeNotes(findings).map(noting('note')),
    ...warnings.map((text) => ({
      part: 'warning' as const,
      text,
      told: say('{file}: warning: {warning}', { file, warning: text }),
    })),
  ];
}

function describeWarning({ message, count, lines }: ImportWarning): Message {
  const first: number[] = [];
  for (const line of lines()) if (first.push(line) === SHOWN_LINES) break;
  return say('{message} ({lines})', { message: asMessage(message), lines: describeLines(first, count) });
}
