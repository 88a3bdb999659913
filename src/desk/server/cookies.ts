/** The two cookies. Browsers keep those of all ports of a machine together, so their names have the port. */

/** @returns undefined when it was not sent */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = header?.split('; ').find((each) => each.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/** Sent only with what pages of the desk ask for, and out of the reach of scripts. */
const KEPT = 'Path=/; HttpOnly; SameSite=Strict';

export const sessionCookie = (port: number): string => `desk_${port}`;
export const languageCookie = (port: number): string => `desk_language_${port}`;

/** Until the browser is closed. */
export const setCookie = (name: string, value: string): string => `${name}=${value}; ${KEPT}`;
export const setLasting = (name: string, value: string): string =>
  `${name}=${value}; ${KEPT}; Max-Age=${365 * 86_400}`;
export const forget = (name: string): string => `${name}=; ${KEPT}; Max-Age=0`;
