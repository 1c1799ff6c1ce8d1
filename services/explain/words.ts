/** A span of time as people say it: `0.4 s`, `37 s`, `2 min 5 s`, `3 h 2 min`, `4 days`. @param ms not negative */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 120) return both(minutes, 'min', whole % 60, 's');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? both(hours, 'h', minutes % 60, 'min') : `${Math.floor(hours / 24)} days`;
}

const both = (more: number, of: string, less: number, ofLess: string) =>
  less > 0 ? `${more} ${of} ${less} ${ofLess}` : `${more} ${of}`;

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** The text as a sentence: a capital letter first, unless it begins with a name, and a full stop last. */
export function sentence(text: string): string {
  const begun = /^[a-z']+[ :,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** How charts begin a sentence that says what is done, without saying who does it. */
const VERB =
  /^(asks|chooses|creates|deletes|does|finds|gives|has|keeps|lists|looks|makes|reads|removes|stops|takes|tells|unmounts|waits|writes) /;

/** A sentence as it stands within another: without its full stop and its capital letter, and with a subject. */
export function clause(text: string): string {
  const bare = text.replace(/\.$/, '').replace(/^[A-Z](?=[a-z]* )/, (first) => first.toLowerCase());
  return VERB.test(bare) ? `it ${bare}` : bare;
}

/** Names that one could have meant, the closest first. */
export function closeNames(name: string, all: readonly string[]): string[] {
  const bare = (full: string) => full.slice(full.indexOf('/') + 1);
  return [...new Set(all)]
    .map((other) => ({ other, far: distance(bare(name), bare(other)) }))
    .filter(({ other, far }) => far <= Math.max(2, bare(name).length / 3) || bare(other).includes(bare(name)))
    .sort((a, b) => a.far - b.far || a.other.localeCompare(b.other))
    .slice(0, 5)
    .map(({ other }) => other);
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}
