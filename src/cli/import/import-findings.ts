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
  /** The first of those that it is about. */
  readonly lines: readonly number[];
}

/** @param isPreview whether somebody is to agree to the file, or has only asked what it would do */
export function findingsOf(shown: FileToShow, file: string, isPreview: boolean): readonly Finding[] {
  const { findings } = shown;
  const noting = (part: NewsPart) => (text: Message) => ({
    part,
    text,
    told: say('{file}: note: {note}', { file, note: text }),
    lines: [],
  });
  const ignored = isPreview ? describePlaceless(findings) : describeIgnored(findings);
  return [
    ...describeHeadings(findings).map(noting('note')),
    ...ignored.map(noting('ignored')),
    ...describeNotes(findings).map(noting('note')),
    ...warningsOf(shown).map((warning) => {
      const lines = firstOf(warning);
      const text = describeWarning(warning, lines);
      const told = say('{file}: warning: {warning}', { file, warning: text });
      return { part: 'warning' as const, text, told, lines };
    }),
  ];
}

function firstOf({ lines }: ImportWarning): readonly number[] {
  const first: number[] = [];
  for (const line of lines()) if (first.push(line) === SHOWN_LINES) break;
  return first;
}

const describeWarning = ({ message, count }: ImportWarning, lines: readonly number[]): Message =>
  say('{message} ({lines})', { message: asMessage(message), lines: describeLines(lines, count) });
