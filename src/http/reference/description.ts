/** What the reference reads of the description of the API. */
import type { SuccessResponse } from '../declare/route.ts';

export interface Described {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly (string | null)[];
  readonly default?: unknown;
  readonly deprecated?: boolean;
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Described };
  readonly additionalProperties?: Described | false;
  readonly propertyNames?: Described;
  readonly readOnly?: boolean;
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: Described;
  readonly example?: string;
  readonly deprecated?: boolean;
}

export interface DescribedHeader {
  readonly description: string;
}

export interface DescribedResponse {
  readonly description: string;
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: { readonly [type: string]: { readonly schema: Described; readonly example?: unknown } };
}

export interface Operation {
  readonly parameters?: readonly (DescribedParameter | Reference)[];
  readonly requestBody?: {
    readonly content: {
      readonly [type: string]: {
        readonly schema: Described;
        readonly example: SuccessResponse['example'];
      };
    };
  };
  readonly responses: { readonly [status: string]: DescribedResponse | Reference };
}

interface Reference {
  readonly $ref: string;
}

export interface Description {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Described };
    readonly parameters: { readonly [name: string]: DescribedParameter };
    readonly headers: { readonly [name: string]: DescribedHeader };
    readonly responses: { readonly [name: string]: DescribedResponse };
  };
}

/** The name of the component that a reference leads to. */
export const nameIn = ({ $ref }: Reference): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** @param components of the kind that the part may refer to */
export const resolve = <Part extends object>(
  part: Part | Reference,
  components: { readonly [name: string]: Part },
): Part =>
  '$ref' in part && typeof part.$ref === 'string'
    ? (components[nameIn(part as Reference)] as Part)
    : (part as Part);
