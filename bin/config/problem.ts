/** One thing that is wrong with the configuration: where it was said, which field or flag, why, and what is accepted. */
export interface Problem {
  /** A file's path, `--flag`, or `default`. */
  origin: string;
  /** JSON path of the field; empty where the whole origin is meant. */
  path: string;
  message: string;
}

/** `<file>: <field>: <what is wrong: what is accepted>`. */
export function describe({ origin, path, message }: Problem): string {
  return [origin, path, message].filter(Boolean).join(': ');
}

/** The configuration cannot be used; the message has one line a problem. Commands end with exit code 1. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describe).join('\n'));
    this.problems = problems;
  }
}

/** `value` as it stands in a message: JSON, cut to 64 characters. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 64 ? `${text.slice(0, 61)}...` : text;
}
