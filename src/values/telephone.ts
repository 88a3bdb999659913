/** Telephone numbers, stored in E.164 (`+2507…` in Rwanda). */
import { FieldError } from './errors.ts';

const MOBILE_ERROR = new FieldError('Enter a mobile number such as +250781234567.');
const RWANDA_MOBILE = /^(?:\+?250|0)?(7[0-9]{8})$/;
export const E164 = /^\+[1-9][0-9]{6,14}$/;

/** Foreign numbers must be in E.164 or begin with `00`; all others are Rwandan (docs/api.md#members). */
export function parseMobile(text: string): string | FieldError {
  const digits = text.replace(/[\s().-]/g, '').replace(/^00/, '+');
  const rwandan = RWANDA_MOBILE.exec(digits);
  if (rwandan !== null) return `+250${rwandan[1]}`;
  return E164.test(digits) && !digits.startsWith('+250') ? digits : MOBILE_ERROR;
}
