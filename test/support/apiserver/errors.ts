/** `metav1.Status`, the API's answer to everything that has no object to give. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: Record<string, unknown>;
  code: number;
}

/** What an API call is refused with; `status` is the body of the answer. */
export class ApiError extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: Record<string, unknown>) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details && { details }),
      code,
    };
  }
}

/** The part of a resource that errors name. */
export interface Named {
  group: string;
  plural: string;
  kind: string;
}

const qualified = ({ group, plural }: Named) => (group ? `${plural}.${group}` : plural);
const details = (of: Named, name: string) => ({ name, ...(of.group && { group: of.group }), kind: of.plural });

export const notFound = (of: Named, name: string) =>
  new ApiError(404, 'NotFound', `${qualified(of)} "${name}" not found`, details(of, name));

export const alreadyExists = (of: Named, name: string) =>
  new ApiError(409, 'AlreadyExists', `${qualified(of)} "${name}" already exists`, details(of, name));

export const conflict = (of: Named, name: string, why: string) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`,
    details(of, name),
  );

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message);

export const forbidden = (of: Named, name: string, why: string) =>
  new ApiError(403, 'Forbidden', `${qualified(of)}${name && ` "${name}"`} is forbidden: ${why}`, details(of, name));

export const expired = (message: string) => new ApiError(410, 'Expired', message);

/** A field that validation refuses. `reason` is the `metav1.CauseType`. */
export interface FieldProblem {
  field: string;
  reason: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueNotSupported';
  message: string;
}

/** 422: every field at fault is named in the message and as a cause. */
export function invalid(of: Named, name: string, problems: readonly FieldProblem[]): ApiError {
  const told = problems.map((p) => `${p.field}: ${p.message}`);
  return new ApiError(
    422,
    'Invalid',
    `${of.kind}${of.group && `.${of.group}`} "${name}" is invalid: ${told.length === 1 ? told[0] : `[${told.join(', ')}]`}`,
    {
      ...details(of, name),
      kind: of.kind,
      causes: problems.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  );
}
