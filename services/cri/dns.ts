import type { DNSConfig } from './proto/generated/cri.ts';

/** Limits that libc and the API have (test/facts/constants.tsv, area dns). */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_SEARCH_DOMAIN = 253;

/** A resolver's configuration in the field's words. */
export interface Resolver {
  nameservers: string[];
  searches: string[];
  options: string[];
}

/** What the resolver gets where the agent was told to use no file of the node (network/dns/dns.go:GetPodDNS). */
export function loopbackResolver(ipv6: boolean): Resolver {
  return { nameservers: [ipv6 ? '::1' : '127.0.0.1'], searches: ['.'], options: [] };
}

/**
 * A resolv.conf file. The last `search` line counts, options add up, comments and what is not known are left out
 * (network/dns/dns.go:parseResolvConf).
 */
export function parseResolvConf(text: string): Resolver {
  const resolver: Resolver = { nameservers: [], searches: [], options: [] };
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && values[0] !== undefined) resolver.nameservers.push(values[0]);
    if (keyword === 'search')
      resolver.searches = values.map((domain) => (domain === '.' ? domain : domain.replace(/\.$/, '')));
    if (keyword === 'options') resolver.options.push(...values);
  }
  return resolver;
}

/**
 * The resolver cut to what every container's libc takes: 3 nameservers; each search domain once, at most 32 of them and
 * 2048 characters in all.
 *
 * @returns what is left, and for each cut a sentence that says what was left out
 */
export function limitResolver(resolver: Resolver): { dns: DNSConfig; cuts: string[] } {
  const cuts: string[] = [];
  const servers = unique(resolver.nameservers).slice(0, MAX_NAMESERVERS);
  if (unique(resolver.nameservers).length > servers.length)
    cuts.push(
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${servers.join(' ')}`,
    );
  const wanted = unique(resolver.searches);
  const searches = wanted.filter((domain) => domain.length <= MAX_SEARCH_DOMAIN).slice(0, MAX_SEARCHES);
  while (searches.join(' ').length > MAX_SEARCH_CHARACTERS) searches.pop();
  if (wanted.length > searches.length)
    cuts.push(
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`,
    );
  return { dns: { servers, searches, options: resolver.options }, cuts };
}

/** How the search line of a file exceeds what libc takes; undefined where it does not. Wording: test/facts/events.tsv. */
export function searchExcess(path: string, { searches }: Resolver): string | undefined {
  if (searches.length > MAX_SEARCHES)
    return `Resolv.conf file '${path}' contains search line consisting of more than ${MAX_SEARCHES} domains!`;
  if (searches.some((domain) => domain.length > MAX_SEARCH_DOMAIN))
    return `Resolv.conf file "${path}" contains a search path which length is more than allowed ${MAX_SEARCH_DOMAIN} chars!`;
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS)
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${MAX_SEARCH_CHARACTERS} chars!`;
  return undefined;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
