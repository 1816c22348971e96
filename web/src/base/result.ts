// The world's failures are values: a page that could not be fetched is data, and has its own
// view.

export type Result<T> = { readonly ok: true; readonly value: T } | Failure;

export interface Failure {
  readonly ok: false;
  // What was tried and what came back, in words for a person.
  readonly message: string;
  // HTTP status, where there was a reply.
  readonly status?: number;
}

export const success = <T>(value: T): Result<T> => ({ ok: true, value });

export function failure(message: string, status?: number): Failure {
  return status === undefined ? { ok: false, message } : { ok: false, message, status };
}
