/** The language of a page: the one that was chosen, else the first of the browser's that there is. */
import { findLanguage, type Language } from '../../language/language.ts';

/** @param accepted `Accept-Language`: languages with their weights, in any order */
export function chooseLanguage(chosen: string | undefined, accepted = ''): Language {
  const wanted = accepted.split(',').map((each, i) => {
    const [name = '', ...options] = each.trim().toLowerCase().split(';');
    const weight = options.map((option) => /^\s*q=([0-9.]+)$/.exec(option)?.[1]).find(Boolean);
    return { name: name.split('-')[0] ?? '', weight: Number(weight ?? 1), i };
  });
  const inOrder = wanted.sort((one, other) => other.weight - one.weight || one.i - other.i);
  return findLanguage(chosen ?? '') ?? inOrder.flatMap(({ name }) => findLanguage(name) ?? [])[0] ?? 'en';
}
