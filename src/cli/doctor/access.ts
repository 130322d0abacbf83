import { headerOf } from '../../upstream/transport/body.ts';
import { probeUpstream, REMEDY } from '../../upstream/transport/probe.ts';
import { type Finding, note, ok, problem, warning } from './finding.ts';
import { LIST, type ReadResponse, type Session } from './session.ts';

/** Checks without the API key whether this is the service. @returns whether it is */
export async function* examineService({ url, pool, get }: Session): AsyncGenerator<Finding, boolean> {
  const sentence = await probeUpstream(url, pool);
  if (sentence !== undefined) {
    const isOther = sentence.endsWith(REMEDY);
    yield isOther
      ? problem(sentence.slice(0, -REMEDY.length - 1), REMEDY)
      : problem(
          sentence,
          sentence.includes('CERTIFICATE_REQUIRED')
            ? 'Set tls.clientCertificate and tls.clientKey.'
            : 'Check the service and what is in front of it.',
        );
    return false;
  }
  const result = await get({ ...LIST, hasKey: false });
  if (result.failure !== undefined) {
    yield problem(result.failure, 'Check the service and what is in front of it.');
    return false;
  }
  const { status } = result;
  yield status <= 299
    ? warning(
        'The service answers reads without an API key.',
        'Check that something in front of it does not add a key to every request.',
      )
    : ok(`A request without an API key is rejected with ${status}.`);
  return true;
}

/** Checks the API key with the list of notification groups. @returns the response, if it is accepted */
export async function* examineKey({ get }: Session): AsyncGenerator<Finding, ReadResponse | undefined> {
  const result = await get(LIST);
  if (result.failure !== undefined) {
    yield problem(result.failure, 'Check the service and what is in front of it.');
    return undefined;
  }
  const { status, headers } = result;
  if (status <= 299) {
    yield ok('The API key is accepted.');
    return result;
  }
  if (status === 401 || status === 403) {
    yield problem(
      `The API key is rejected with ${status}.`,
      'Check that the key is complete, current, and of this service and environment. Leave out the word ApiKey.',
    );
  } else if (status === 429) {
    const wait = headerOf(headers, 'retry-after');
    yield problem(
      'The service rejects the request with 429, because the key has used up its rate limit.',
      /^\d{1,6}$/.test(wait ?? '') ? `Try again in ${wait} s.` : 'Try again later.',
    );
  } else {
    yield problem(`The service responds to GET ${LIST.route} with ${status}.`, 'Check the log of the service.');
  }
  return undefined;
}

/** Reports that the checks that need a key were skipped. */
export const noKey = (): Finding =>
  note('No API key was given, so only the connection was checked.', 'Set NOTIGRAPH_DOCTOR_KEY, or use --key-file.');
