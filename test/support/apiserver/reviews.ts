import type { Attributes } from './authorize.ts';
import { refusal } from './authorize.ts';
import { badRequest } from './errors.ts';
import { at, isDict, textAt } from './objects.ts';
import type { Dict } from './objects.ts';
import type { Store } from './store.ts';
import type { User } from './users.ts';

/** Finds the user of a bearer token for any of the audiences. */
export type Authenticate = (
  token: string,
  audiences?: readonly string[],
) => (User & { audiences?: string[] }) | undefined;

const strings = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);

/** Answers a POST to a review: nothing is stored, the answer is the body with its status. */
export function review(kind: string, body: Dict, user: User, store: Store, authenticate: Authenticate): Dict {
  const answered = (status: Dict) => ({ ...body, metadata: {}, status });
  const spec = isDict(body['spec']) ? body['spec'] : {};
  switch (kind) {
    case 'TokenReview':
      return answered(reviewToken(spec, authenticate));
    case 'SelfSubjectReview':
      return answered({ userInfo: { ...user } });
    case 'SelfSubjectAccessReview':
      return answered(access(user, spec, store));
    case 'SubjectAccessReview': {
      const username = textAt(spec, 'user');
      const groups = strings(spec['groups']);
      if (!username && !groups.length) throw badRequest('spec.user: at least one of user or group must be specified');
      return answered(access({ username, groups }, spec, store));
    }
    default:
      throw badRequest(`no review ${kind}`);
  }
}

function reviewToken(spec: Dict, authenticate: Authenticate): Dict {
  const wanted = strings(spec['audiences']);
  const found = authenticate(textAt(spec, 'token'), wanted.length ? wanted : undefined);
  if (!found) return { authenticated: false, user: {}, error: 'invalid bearer token' };
  const { audiences, ...user } = found;
  return { authenticated: true, user, audiences: audiences ?? wanted };
}

function access(user: User, spec: Dict, store: Store): Dict {
  const path = at(spec, 'nonResourceAttributes.path');
  const of = (name: string) => textAt(spec, `resourceAttributes.${name}`);
  const asked: Attributes = {
    verb: of('verb') || textAt(spec, 'nonResourceAttributes.verb'),
    group: of('group'),
    resource: of('resource'),
    subresource: of('subresource'),
    namespace: of('namespace'),
    name: of('name'),
    fieldSelector: '',
    ...(typeof path === 'string' && { path }),
  };
  const reason = refusal(user, asked, store);
  return reason === undefined ? { allowed: true } : { allowed: false, reason };
}
