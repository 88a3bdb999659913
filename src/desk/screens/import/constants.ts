/** Values that every row of a file has: offered for the columns that no heading is read as. */
import { type Html, html } from '../../../html/html.ts';
import type { MapProposal } from '../../../import/proposal/propose-map.ts';
import type { FileColumn } from '../../../store/contract/import/import-columns.ts';
import { nameOf } from '../../page/names.ts';
import { input, select } from '../../page/parts.ts';
import type { Visit } from '../../visit/screen.ts';
import { FIELD, type Given, offeredConstants } from './map-choices.ts';

export function constantsForm(visit: Visit, proposal: MapProposal, given: Given): Html | false {
  const offered = offeredConstants(proposal);
  const isNeeded = offered.some(({ name, isRequired }) => isRequired || proposal.missing.includes(name));
  const isGiven = offered.some(({ name }) => (given(FIELD.constant(name)) ?? '') !== '');
  return (
    offered.length > 0 &&
    html`<details${(isNeeded || isGiven) && html` open`}>
<summary>${visit.say('The same value in every row')}</summary>
<p>${visit.say('For what the file has no column of. Leave empty what it does not say.')}</p>
<div class="choices">${offered.map((column) =>
      constant(visit, column, given(FIELD.constant(column.name)) ?? ''),
    )}</div></details>`
  );
}

function constant(visit: Visit, { name, label: called, field, isRequired }: FileColumn, value: string): Html {
  const label = `${visit.translate(called)}${isRequired ? ' *' : ''}`;
  const base = { name: FIELD.constant(name), label, value, isOptional: true } as const;
  if (field.kind === 'choice')
    return select(
      base.name,
      label,
      [['', '—'], ...field.choices.map((each) => [each, visit.translate(nameOf(each))] as const)],
      { chosen: value },
    );
  if (field.kind === 'past_date' || field.kind.endsWith('instant')) return input({ ...base, type: 'date' });
  return input(field.kind === 'text' ? { ...base, maxLength: field.maxLength } : base);
}
