import { isIP } from 'node:net';
import { shown } from '../problem.ts';
import type { Fail, Rule } from './rule.types.ts';

const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'];
/** Go's numbers: P-256, P-384, P-521, X25519, X25519MLKEM768 (crypto/tls.CurveID). */
const CURVES = [23, 24, 25, 29, 4588];
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_RC4_128_SHA',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_RC4_128_SHA',
];

/** Addresses, endpoints and TLS: validation.go, component-base/cli/flag, component-base/tracing/api/v1. */
export const server: Rule = ({ config }, fail) => {
  for (const field of ['address', 'healthzBindAddress'] as const)
    if (!isIP(config[field]))
      fail(field, `${shown(config[field])} is not an IP address: accepted is one such as 127.0.0.1 or ::`);
  if (!config.containerRuntimeEndpoint)
    fail('containerRuntimeEndpoint', 'is empty: accepted is a socket such as unix:///run/containerd/containerd.sock');
  staticPodURL(config.staticPodURL, fail);
  config.tlsCipherSuites?.forEach((name, i) => {
    if (!CIPHERS.includes(name))
      fail(`tlsCipherSuites[${i}]`, `${shown(name)} is no cipher suite: accepted are ${CIPHERS.join(', ')}`);
  });
  if (config.tlsMinVersion && !TLS_VERSIONS.includes(config.tlsMinVersion))
    fail('tlsMinVersion', `${shown(config.tlsMinVersion)} is not accepted: accepted are ${TLS_VERSIONS.join(', ')}`);
  config.tlsCurvePreferences?.forEach((curve, i) => {
    if (!CURVES.includes(curve))
      fail(`tlsCurvePreferences[${i}]`, `${curve} is no curve: accepted are ${CURVES.join(', ')}`);
  });
  const endpoint = config.tracing?.endpoint;
  if (endpoint === undefined || endpoint === '') return;
  const [, scheme] = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(endpoint) ?? [];
  if (!URL.canParse(scheme ? endpoint : `dns://${endpoint}`))
    fail('tracing.endpoint', `${shown(endpoint)} is not an address: accepted is host:port or a URL`);
  else if (scheme && !['dns', 'unix', 'unix-abstract'].includes(scheme))
    fail('tracing.endpoint', `scheme ${scheme} is not accepted: accepted are none, dns, unix, unix-abstract`);
};

/** The text may hold a password, so that only its scheme is shown. */
function staticPodURL(text: string, fail: Fail): void {
  if (!text) return;
  const accepted = 'accepted is a URL with scheme http or https, such as http://127.0.0.1:8080/pods.yaml';
  if (!URL.canParse(text)) return fail('staticPodURL', `is not a URL: ${accepted}`);
  const { protocol } = new URL(text);
  if (!['http:', 'https:'].includes(protocol))
    fail('staticPodURL', `scheme ${protocol.slice(0, -1)} is not accepted: ${accepted}`);
}
