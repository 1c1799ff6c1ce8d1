/** A guard or an action of an onError that is given the error: `withError('isNotFound')`. */
export const withError = <T extends string>(type: T) =>
  ({ type, params: ({ event }: { event: { error: unknown } }) => event.error }) as const;
