/** Finds known secrets in texts, by their first four characters: their number does not make it slower. */
export class Secrets {
  readonly #byStart = new Map<string, readonly string[]>();
  readonly #others: Secrets | undefined;

  /** Shorter ones would be found everywhere. */
  static readonly SHORTEST = 4;

  /** @param others secrets that are looked for too */
  constructor(others?: Secrets) {
    this.#others = others;
  }

  /** The value, as it is and as JSON writes it; of one with several lines, the longer lines too. */
  add(value: string): void {
    this.#addForm(value);
    this.#addForm(JSON.stringify(value).slice(1, -1));
    for (const line of value.includes('\n') ? value.split('\n') : [])
      if (line.trim().length >= 8) this.#addForm(line.trim());
  }

  #addForm(value: string): void {
    if (value.length < Secrets.SHORTEST) return;
    const start = value.slice(0, Secrets.SHORTEST);
    const known = this.#byStart.get(start) ?? [];
    if (known.includes(value)) return;
    // The longest first: one may be the beginning of another.
    this.#byStart.set(
      start,
      [...known, value].sort((a, b) => b.length - a.length),
    );
  }

  #at(text: string, i: number): string | undefined {
    const start = text.slice(i, i + Secrets.SHORTEST);
    const found = this.#byStart.get(start)?.find((secret) => text.startsWith(secret, i));
    if (found !== undefined || !this.#others) return found;
    return this.#others.#at(text, i);
  }

  /** The first `length` characters of the text, with every secret in it replaced, those too that reach beyond. */
  hide(text: string, length: number, mark: string): string {
    let result = '';
    let from = 0;
    for (let i = 0; i < text.length && i < length; i += 1) {
      const found = this.#at(text, i);
      if (found === undefined) continue;
      result += text.slice(from, i) + mark;
      from = i + found.length;
      i = from - 1;
    }
    return result + text.slice(from, Math.max(from, length));
  }
}
