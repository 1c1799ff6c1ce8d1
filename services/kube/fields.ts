import { dirname, resolve } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { Source } from './kube-config.types.ts';

type Fields = Record<string, unknown>;

/** An entry of one of the lists, and where it stands. */
export interface Entry {
  of: Fields;
  at: string;
}

/** Reads fields of a kubeconfig and says of each that is wrong which it is. */
export class Look {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  object(value: unknown, at: string): Fields {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
    throw invalid(this.#path, at, 'is not an object');
  }

  list(value: unknown, at: string): unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    throw invalid(this.#path, at, 'is not a list');
  }

  string(of: Fields, field: string, at: string): string | undefined {
    const value = of[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value === 'string') return value;
    throw invalid(this.#path, at ? `${at}.${field}` : field, 'is not a string');
  }

  boolean(of: Fields, field: string, at: string): boolean {
    const value = of[field] ?? false;
    if (typeof value === 'boolean') return value;
    throw invalid(this.#path, `${at}.${field}`, 'is not a boolean: accepted are true and false');
  }

  needed({ of, at }: Entry, field: string): string {
    const value = this.string(of, field, at);
    if (value === undefined) throw invalid(this.#path, `${at}.${field}`, 'is not set');
    return value;
  }

  named(root: Fields, list: string, name: string, field: string): Entry {
    const entries = this.list(root[list], list).map((entry, i) => this.object(entry, `${list}[${i}]`));
    const index = entries.findIndex((entry) => entry.name === name);
    if (index < 0) {
      const names = entries.map((entry) => JSON.stringify(entry.name)).join(', ');
      throw invalid(this.#path, list, `has no ${JSON.stringify(name)}: there ${names ? `is ${names}` : 'are none'}`);
    }
    const at = `${list}[${index}].${field}`;
    return { of: this.object(entries[index]?.[field] ?? {}, at), at };
  }

  url(value: string, at: string, protocols: string[]): string {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url && protocols.includes(url.protocol)) return value;
    throw invalid(this.#path, at, `is not a URL that can be used: accepted are ${protocols.join(' and ')}//host:port`);
  }

  file({ of, at }: Entry, field: string): Source {
    const value = this.needed({ of, at }, field);
    return { file: resolve(dirname(this.#path), value) };
  }

  /** `<field>-data` (base64), else the file at `<field>`. */
  pem(entry: Entry, field: string): Source | undefined {
    const data = this.string(entry.of, `${field}-data`, entry.at);
    if (data !== undefined) {
      const decoded = Buffer.from(data, 'base64').toString('utf8');
      if (decoded.includes('-----BEGIN')) return { data: decoded };
      throw invalid(this.#path, `${entry.at}.${field}-data`, 'is not the base64 of PEM');
    }
    return this.string(entry.of, field, entry.at) === undefined ? undefined : this.file(entry, field);
  }
}

/** What is wrong with a kubeconfig or with what it names. */
export function invalid(origin: string, field: string, what: string, cause?: unknown): AgentError {
  return new AgentError({
    op: 'load kubeconfig',
    reason: 'InvalidKubeconfig',
    message: `${origin}: ${field ? `${field} ` : ''}${what}`,
    transient: false,
    cause,
  });
}
