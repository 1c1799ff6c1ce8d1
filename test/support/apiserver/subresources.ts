import type { Api, Call, Target } from './api.ts';
import type { Authority } from './certificates.ts';
import { ApiError, badRequest, forbidden, invalid, notFound } from './errors.ts';
import { at, isDict, textAt, time } from './objects.ts';
import type { Dict, KubeObject } from './objects.ts';
import { bound } from './pod-strategy.ts';
import { resourceNamed } from './resources.ts';
import { decode } from './schema.ts';
import { ISSUER } from './tokens.ts';
import type { Tokens } from './tokens.ts';
import { nodeNameOf } from './users.ts';

/** What answers need. */
export interface ApiParts {
  api: Api;
  tokens: Tokens;
}

export interface Parts extends ApiParts {
  authority: Authority;
}

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

/** POST to a subresource; the body of the 201 answer. */
export function createSubresource(parts: ApiParts, target: Target, body: Dict, call: Call): Dict {
  switch (target.subresource) {
    case 'binding':
      return bind(parts.api, target, body);
    case 'eviction':
      return evict(parts.api, target, body, call);
    case 'token':
      return requestToken(parts, target, body, call);
    default:
      throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
}

/** Binds a pod to a node, as a scheduler does. */
export function bind(api: Api, target: Target, body: Dict): Dict {
  const pods = resourceNamed('pods');
  const node = textAt(body, 'target.name');
  if (!node) throw badRequest('Binding.target.name: Required value');
  const pod = api.get({ ...target, resource: pods, name: target.name || textAt(body, 'metadata.name') });
  const uid = textAt(body, 'metadata.uid');
  if (uid && uid !== pod.metadata.uid)
    throw new ApiError(
      409,
      'Conflict',
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`,
    );
  const { apiVersion: _v, kind: _k, ...next } = bound(pod, node, time(api.now()));
  api.write(pods, next as KubeObject);
  return success;
}

/** An eviction is a deletion with the options that it carries: there is no disruption budget controller here. */
function evict(api: Api, target: Target, body: Dict, call: Call): Dict {
  const options = isDict(body['deleteOptions']) ? body['deleteOptions'] : {};
  api.delete({ ...target, subresource: '' }, options, call);
  return success;
}

const MIN_TOKEN_SECONDS = 600;

/** Source: registry/core/serviceaccount/storage/token.go:Create; NodeRestriction, admitServiceAccount. */
function requestToken({ api, tokens }: ApiParts, target: Target, body: Dict, call: Call): Dict {
  const request = decode('AuthenticationV1TokenRequest', body);
  const account = api.get({ ...target, subresource: '' });
  const seconds = Number(at(request, 'spec.expirationSeconds') ?? 3600);
  if (seconds < MIN_TOKEN_SECONDS)
    throw invalid({ group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' }, target.name, [
      {
        field: 'spec.expirationSeconds',
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${seconds}: may not specify a duration less than 10 minutes`,
      },
    ]);
  const nodeName = nodeNameOf(call.user);
  const pod = boundPod(api, target, at(request, 'spec.boundObjectRef'));
  if (nodeName !== undefined) {
    const refuse = (why: string) => forbidden({ ...target.resource, plural: 'serviceaccounts' }, target.name, why);
    if (!pod) throw refuse('node requested token not bound to a pod');
    if (textAt(pod, 'spec.nodeName') !== nodeName)
      throw refuse('node requested token bound to a pod scheduled on a different node');
  }
  const wanted = at(request, 'spec.audiences');
  const audiences = Array.isArray(wanted) && wanted.length ? wanted.map(String) : [ISSUER];
  const { token, expires } = tokens.issue(account, audiences, seconds, pod);
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: target.name, namespace: target.namespace, creationTimestamp: time(api.now()) },
    spec: { ...(isDict(request['spec']) ? request['spec'] : {}), audiences, expirationSeconds: seconds },
    status: { token, expirationTimestamp: time(expires) },
  };
}

function boundPod(api: Api, target: Target, reference: unknown): KubeObject | undefined {
  if (!isDict(reference)) return undefined;
  if (reference['kind'] !== 'Pod')
    throw badRequest(`cannot bind token for serviceaccount to object type ${String(reference['kind'])}`);
  const pods = resourceNamed('pods');
  const name = textAt(reference, 'name');
  const pod = api.store.get(`${pods.storage}/${target.namespace}/${name}`);
  if (!pod) throw notFound(pods, name);
  const uid = textAt(reference, 'uid');
  if (uid && uid !== pod.metadata.uid)
    throw new ApiError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on pods "${name}": the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  return pod;
}

/** Signs a request that was approved, as the controller manager's signer does; other signers' are left. */
export async function signApproved({ api, authority }: Parts, csr: KubeObject): Promise<void> {
  const signer = textAt(csr, 'spec.signerName');
  const usage = {
    'kubernetes.io/kube-apiserver-client-kubelet': 'clientAuth',
    'kubernetes.io/kube-apiserver-client': 'clientAuth',
    'kubernetes.io/kubelet-serving': 'serverAuth',
  }[signer];
  if (!usage) return;
  const request = Buffer.from(textAt(csr, 'spec.request'), 'base64').toString();
  const seconds = Number(at(csr, 'spec.expirationSeconds') ?? 365 * 86_400);
  const pem = await authority.sign(request, usage as 'clientAuth' | 'serverAuth', seconds);
  const resource = resourceNamed('certificatesigningrequests');
  const current = api.store.get(`${resource.storage}/${csr.metadata.name}`);
  if (!current || current.metadata.uid !== csr.metadata.uid) return;
  const status = isDict(current['status']) ? current['status'] : {};
  api.write(resource, { ...current, status: { ...status, certificate: Buffer.from(pem).toString('base64') } });
}
