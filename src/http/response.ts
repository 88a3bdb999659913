/** What a route answers, before it becomes bytes. */

export type Headers = { [name: string]: string };

/** JSON that was composed already, to be sent as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface ApiResponse {
  readonly status: number;
  /** A value for JSON, or a JsonText; undefined for no body. */
  readonly body: unknown;
  readonly headers?: Headers;
}

export const ok = (body: unknown): ApiResponse => ({ status: 200, body });

/** @param path of the new resource, from the root */
export const created = (path: string, body: unknown): ApiResponse => ({
  status: 201,
  body,
  headers: { Location: path },
});
