import { status } from '@grpc/grpc-js';
import type {
  Server,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
  sendUnaryData,
} from '@grpc/grpc-js';

import type { ContainerEventResponse, GetEventsRequest } from '../proto/generated/cri.ts';
import { ImageServiceService, RuntimeServiceService } from '../proto/generated/cri.ts';
import { RuntimeFailure } from './errors.ts';
import type { Faults } from './faults.ts';
import type { MethodName } from './methods.ts';
import type { Runtime } from './runtime.ts';
import { streamContainerEvents } from './verbs/container-events.ts';
import { verbs } from './verbs/index.ts';
import type { Verb } from './verbs/verb.ts';

type AnyVerb = (...parameters: Parameters<Verb<MethodName>>) => unknown;
/** Aborted by the server when the call is over for the client, or the server stops. */
type Ending = { signal: AbortSignal };

/** Adds every method of both services: each call is booked, struck by its fault, and answered by its verb. */
export function addServices(server: Server, runtime: Runtime, faults: Faults, stopping: AbortSignal): void {
  for (const definition of [RuntimeServiceService, ImageServiceService] as ServiceDefinition[]) {
    const implementation: UntypedServiceImplementation = {};
    for (const [key, { path, responseStream }] of Object.entries(definition)) {
      const method = path.slice(path.lastIndexOf('/') + 1) as MethodName;
      implementation[key] = responseStream
        ? (call: ServerWritableStream<unknown, unknown>) => void serveStream(method, call)
        : (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) =>
            void serveUnary(method, call, answer);
    }
    server.addService(definition, implementation);
  }

  async function serveUnary(
    method: MethodName,
    call: ServerUnaryCall<unknown, unknown>,
    answer: sendUnaryData<unknown>,
  ): Promise<void> {
    const booked = faults.begin(method, call.request);
    const { signal } = endingOf(call);
    try {
      const verb = verbs[method] as AnyVerb | undefined;
      await booked.strike('before', signal);
      if (verb === undefined) throw unimplemented(method);
      const request = call.request as Parameters<AnyVerb>[1];
      const response = await verb(runtime, request, {
        signal: booked.faulted ? stopping : signal,
        midway: () => booked.strike('midway', signal),
      });
      await booked.strike('after', signal);
      booked.end('OK');
      answer(null, response);
    } catch (error) {
      const { code, message } = RuntimeFailure.from(error);
      runtime.logger.debug({ method, code: status[code], err: error }, 'call refused');
      booked.end(status[code]);
      answer({ code, details: message });
    }
  }

  async function serveStream(method: MethodName, call: ServerWritableStream<unknown, unknown>): Promise<void> {
    const booked = faults.begin(method, call.request);
    const { signal } = endingOf(call);
    try {
      await booked.strike('before', signal);
      if (method !== 'GetContainerEvents') throw unimplemented(method);
      const events = call as ServerWritableStream<GetEventsRequest, ContainerEventResponse>;
      await streamContainerEvents(runtime, faults, events, signal);
      booked.end('OK');
      call.end();
    } catch (error) {
      const { code, message } = RuntimeFailure.from(error);
      booked.end(status[code]);
      call.emit('error', { code, details: message });
    }
  }

  function endingOf(call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>): Ending {
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort());
    return { signal: AbortSignal.any([gone.signal, stopping]) };
  }
}

function unimplemented(method: MethodName): RuntimeFailure {
  return new RuntimeFailure(status.UNIMPLEMENTED, `unknown method ${method} for the embedded runtime`);
}
