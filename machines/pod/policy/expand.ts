import type { Container } from '../../kubernetes.types.ts';

/** One variable of a container's environment, its value final. */
export interface EnvironmentVariable {
  name: string;
  value: string;
}

/**
 * `$(NAME)` replaced by the variable; a name that is not known stays as it is, `$$` is a literal `$`
 * (third_party/forked/golang/expansion/expand.go:Expand).
 */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (variables.get(name) ?? whole),
  );
}

/**
 * A container's environment in the order of its spec; a value sees the variables before it, and a later entry of the
 * same name wins (kubelet_pods.go:makeEnvironmentVariables). `valueFrom` is refused before (supported-fields.ts).
 */
export function containerEnvironment(container: Pick<Container, 'env'>): EnvironmentVariable[] {
  const variables = new Map<string, string>();
  for (const { name, value } of container.env ?? []) variables.set(name, expand(value ?? '', variables));
  return [...variables].map(([name, value]) => ({ name, value }));
}

/** Command and arguments with the container's variables in them (container/helpers.go:ExpandContainerCommandAndArgs). */
export function expandCommand(
  container: Pick<Container, 'command' | 'args'>,
  environment: readonly EnvironmentVariable[],
): { command: string[]; args: string[] } {
  const variables = new Map(environment.map(({ name, value }) => [name, value]));
  return {
    command: (container.command ?? []).map((text) => expand(text, variables)),
    args: (container.args ?? []).map((text) => expand(text, variables)),
  };
}
