import type { ImageServiceService, RuntimeServiceService } from '../proto/generated/cri.ts';

type MethodsOf<Service> = {
  [
    Key in keyof Service as Service[Key] extends { path: `/${string}/${infer Name}` } ? Name : never
  ]: Service[Key] extends {
    requestDeserialize: (bytes: Buffer) => infer Request;
    responseDeserialize: (bytes: Buffer) => infer Response;
  }
    ? { request: Request; response: Response }
    : never;
};

/** Every CRI method by its name in the protocol, with its messages. */
type Methods = MethodsOf<typeof RuntimeServiceService> & MethodsOf<typeof ImageServiceService>;
export type MethodName = keyof Methods & string;
export type RequestOf<Name extends MethodName> = Methods[Name]['request'];
export type ResponseOf<Name extends MethodName> = Methods[Name]['response'];
