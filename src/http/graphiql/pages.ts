import type { RulesByClientKind } from '../../auth/client-rules.ts';
import { loadOperations } from '../../graphql/documents/shipped-operations.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import { createFindPage, type FindPage, findTurnedOffPage } from './graphiql.ts';
import type { PageConfigOptions, Scheme } from './page-config.ts';

const CLIENT_KINDS = { ApiKey: 'server', Bearer: 'browser' } as const satisfies Record<Scheme, string>;

/** Creates the pages of the endpoint that the settings ask for. */
export function createPages(
  { graphiql }: GatewaySettings,
  schemes: PageConfigOptions['schemes'],
  clientRules: RulesByClientKind,
): FindPage {
  if (graphiql === false) {
    return findTurnedOffPage;
  }
  const { authorization, sandbox: isSandbox = false } = graphiql === true ? {} : graphiql;
  const explains = schemes.filter((scheme) => clientRules[CLIENT_KINDS[scheme]].hidesCalls === undefined);
  return createFindPage({ operations: loadOperations(), schemes, explains, authorization, isSandbox });
}
