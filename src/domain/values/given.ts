/** Values that may have been left out. */

type Given<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

/** Only what was given: an absent value is not an undefined one. */
export const onlyGiven = <Values extends object>(values: Values): Given<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
