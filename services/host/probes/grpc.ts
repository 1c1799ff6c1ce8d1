import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { status } from '@grpc/grpc-js';
import { goDuration } from '../../../machines/pod/policy/duration.ts';
import type { ProbeOutcome } from '../../../machines/pod/probe.types.ts';
import { callOnce } from './grpc-call.ts';
import { networkError } from './network-error.ts';
import { address } from './target.ts';

const PATH = '/grpc.health.v1.Health/Check';
/** ServingStatus by number. */
const SERVING_STATUS = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const SERVING = 1;

/**
 * Asks the health service of a server, without TLS (probe/grpc/grpc.go:Probe). A connection that is refused is a failure at
 * once, where the kubelet tries until the time is over.
 *
 * @param host an IP address
 * @param time when it is aborted, the time is over: a failure
 */
export async function grpcProbe(
  { port, service = '' }: { port: number; service?: string },
  host: string,
  timeoutSeconds: number,
  time: AbortSignal,
): Promise<ProbeOutcome> {
  const failure = (message: string): ProbeOutcome => ({ result: 'failure', message });
  const timeoutMs = timeoutSeconds * 1000;
  const within = goDuration(timeoutMs);
  const target = address(host, port);
  const call = await callOnce({ host, port, path: PATH, timeoutMs }, request(service), time);
  if (call.kind === 'failed') {
    const { connected, error } = call;
    if (connected) return failure(error ? rpcFailed('Unavailable', error.message) : late(within));
    if (error) return failure(`error: failed to connect service at "${target}": ${networkError(error, host, target)}`);
    return failure(`timeout: failed to connect service "${target}" within ${within}: context deadline exceeded`);
  }
  const { code, details, message } = call;
  if (code === status.OK) return judged(message);
  if (code === status.DEADLINE_EXCEEDED) return failure(late(within));
  if (code !== status.UNIMPLEMENTED) return failure(rpcFailed(goCode(code), details));
  return failure(`error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`);
}

const late = (within: string): string => `timeout: health rpc did not complete within ${within}`;

const rpcFailed = (code: string, details: string): string =>
  `error: health rpc probe failed: rpc error: code = ${code} desc = ${details}`;

/** `NOT_FOUND` as Go has it: `NotFound`. */
const goCode = (code: status): string =>
  (status[code] ?? 'UNKNOWN').toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

function judged(message: Buffer): ProbeOutcome {
  let answer: number;
  try {
    answer = response(message);
  } catch {
    return { result: 'failure', message: rpcFailed('Internal', 'the answer is no HealthCheckResponse') };
  }
  if (answer === SERVING) return { result: 'success', message: 'service healthy' };
  return { result: 'failure', message: `service unhealthy (responded with "${SERVING_STATUS[answer] ?? answer}")` };
}

/** `message HealthCheckRequest { string service = 1; }` */
function request(service: string): Uint8Array {
  const writer = new BinaryWriter();
  if (service !== '') writer.uint32(10).string(service);
  return writer.finish();
}

/** `message HealthCheckResponse { ServingStatus status = 1; }` @throws Error for what is none */
function response(bytes: Buffer): number {
  const reader = new BinaryReader(bytes);
  let answer = 0;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 8) answer = reader.int32();
    else reader.skip(tag & 7);
  }
  return answer;
}
