/** The key that signs the heads of closed segments, and those that verify them. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { openPrivateFile } from '../../runtime/new-files.ts';
import { syncFolder } from './durable.ts';
import { publicKeyOf, signingKeyOf } from './paths.ts';

/**
 * Makes the key when it is missing. One that takes the place of a lost one is added to the public ones, so
 * that what the lost one has signed can still be verified.
 * @throws the system's error
 */
export function prepareSigningKey(ledger: string): void {
  const [file, publicFile] = [signingKeyOf(ledger), publicKeyOf(ledger)];
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    placeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  const own = createPublicKey(readFileSync(file, 'utf8')).export({ type: 'spki', format: 'pem' }).toString();
  const known = existsSync(publicFile) ? readFileSync(publicFile, 'utf8') : '';
  if (known.includes(own)) return;
  rmSync(publicFile, { force: true });
  placeFile(publicFile, known + own);
}

/** Complete or not at all; where another process was faster, its file stays. */
function placeFile(file: string, content: string | Buffer): void {
  const next = `${file}.new-${randomUUID()}`;
  const handle = openPrivateFile(next);
  try {
    writeSync(handle, content.toString());
    fsyncSync(handle);
    linkSync(next, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(handle);
    rmSync(next, { force: true });
  }
  syncFolder(dirname(file));
}

/** @throws the system's error when the key cannot be read */
export function signText(ledger: string, text: string): string {
  const key = createPrivateKey(readFileSync(signingKeyOf(ledger), 'utf8'));
  return sign(null, Buffer.from(text), key).toString('base64');
}

const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\n?/g;

/** @returns whether one of the ledger's keys has signed the text; null when the ledger has no public key */
export function openVerifier(ledger: string): ((text: string, signature: string) => boolean) | null {
  let keys: KeyObject[];
  try {
    keys = (readFileSync(publicKeyOf(ledger), 'utf8').match(PEM) ?? []).map((pem) => createPublicKey(pem));
  } catch {
    return null;
  }
  if (keys.length === 0) return null;
  return (text, signature) =>
    keys.some((key) => verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64')));
}
