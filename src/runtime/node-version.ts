/** The oldest Node on which the database driver works; older ones end the process without a message. */
const OLDEST = [22, 23, 2] as const;

/** @returns a message if Node is too old, else undefined */
export function faultOfRuntime(version: string): string | undefined {
  const parts = version.split('.').map(Number);
  const different = OLDEST.findIndex((part, i) => parts[i] !== part);
  return different >= 0 && (parts[different] as number) < (OLDEST[different] as number)
    ? `This needs Node ${OLDEST.join('.')} or newer; this is ${version}.`
    : undefined;
}
