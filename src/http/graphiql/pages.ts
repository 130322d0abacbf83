import type { RulesByClientKind } from '../../auth/client-rules.ts';
import { loadOperations } from '../../graphql/documents/shipped-operations.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import { pathOf } from '../request.ts';
import { createFindPage, type FindPage, findTurnedOffPage } from './graphiql.ts';
import type { PageConfigOptions, Scheme } from './page-config.ts';

const CLIENT_KINDS = { ApiKey: 'server', Bearer: 'browser' } as const satisfies Record<Scheme, string>;

/** Options of `createPages`. */
interface PagesOptions {
  /** Exact paths of the GraphQL endpoint, which is also that of the pages. */
  paths: ReadonlySet<string>;
  schemes: PageConfigOptions['schemes'];
  clientRules: RulesByClientKind;
}

/** Creates the pages of the endpoint that the settings ask for. */
export function createPages({ graphiql }: GatewaySettings, { paths, schemes, clientRules }: PagesOptions): FindPage {
  const { authorization, sandbox: isSandbox = false } = typeof graphiql === 'boolean' ? {} : graphiql;
  const explains = schemes.filter((scheme) => clientRules[CLIENT_KINDS[scheme]].hidesCalls === undefined);
  const findPage =
    graphiql === false
      ? findTurnedOffPage
      : createFindPage({ operations: loadOperations(), schemes, explains, authorization, isSandbox });
  return (request) => (paths.has(pathOf(request)) ? findPage(request) : undefined);
}
