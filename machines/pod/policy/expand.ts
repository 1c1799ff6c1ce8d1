/** One variable of a container's environment, its value final. */
export interface EnvironmentVariable {
  name: string;
  value: string;
}

/**
 * `$(NAME)` replaced by the variable; a name that is not known stays as it is, `$$` is a literal `$`
 * (third_party/forked/golang/expansion/expand.go:Expand).
 */
export function expand(text: string, variables: { get(name: string): string | undefined }): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (variables.get(name) ?? whole),
  );
}

/** Command and arguments with the container's variables in them (container/helpers.go:ExpandContainerCommandAndArgs). */
export function expandCommand(
  container: { command?: string[]; args?: string[] },
  environment: readonly EnvironmentVariable[],
): { command: string[]; args: string[] } {
  const variables = new Map(environment.map(({ name, value }) => [name, value]));
  return {
    command: (container.command ?? []).map((text) => expand(text, variables)),
    args: (container.args ?? []).map((text) => expand(text, variables)),
  };
}
