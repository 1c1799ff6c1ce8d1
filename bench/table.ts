import { cpus } from 'node:os';

/** The rows of a benchmark in Markdown, each shown when it is known, all of them again at the end. */
export class Table {
  readonly #rows: string[] = [];

  /**
   * @param raw what the raw calls took, ms
   * @param met whether the goal was reached; undefined: there is none
   */
  row(what: string, raw: number | undefined, agent: string, goal: string, met?: boolean): void {
    const reached = met === undefined ? '–' : met ? 'yes' : '**no**';
    const row = `| ${what} | ${raw === undefined ? '–' : raw.toFixed(0)} | ${agent} | ${goal} | ${reached} |`;
    this.#rows.push(row);
    console.log(row);
  }

  print(): void {
    const head = `| ${cpus().length} cores, containerd, ms | raw CRI calls | statelet | must reach | reached |\n|---|---|---|---|---|`;
    console.log(`\n${head}\n${this.#rows.join('\n')}`);
  }
}

/** `458 (1.16 × raw)`, of ms. */
export const timesRaw = (agent: number, raw: number) => `${agent.toFixed(0)} (${(agent / raw).toFixed(2)} × raw)`;

/** `447 (raw + 75)`, of ms. */
export function plusRaw(agent: number, raw: number): string {
  const more = Math.round(agent - raw);
  return `${agent.toFixed(0)} (raw ${more < 0 ? '−' : '+'} ${Math.abs(more)})`;
}
