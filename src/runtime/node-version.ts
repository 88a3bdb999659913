/** Oldest Node on which the database driver works. On older versions, the driver crashes silently. */
const OLDEST_NODE = '22.23.2';

/** @returns a message if Node is too old; otherwise undefined */
export const faultOfRuntime = (version: string): string | undefined =>
  isOlder(version, OLDEST_NODE)
    ? `This program needs Node ${OLDEST_NODE} or newer; this is ${version}.`
    : undefined;

/** True if a version of three numbers, such as `3.51.3`, is older than `oldest`. */
export function isOlder(version: string, oldest: string): boolean {
  const [parts, minimum] = [version, oldest].map((text) => text.split('.').map(Number)) as [
    number[],
    number[],
  ];
  const difference = minimum.map((part, i) => (parts[i] ?? 0) - part).find((part) => part !== 0);
  return difference !== undefined && difference < 0;
}
