/** The part of an Ajv error that a sentence is made of. */
interface Problem {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

/** Says in one sentence what is wrong with a request. */
export function describeProblem({ keyword, instancePath, params, message }: Problem): string {
  const name = nameOf(instancePath);
  switch (keyword) {
    case 'required':
      return params.missingProperty === 'requestBody'
        ? 'The request needs a JSON body.'
        : `"${nameOf(`${instancePath}/${params.missingProperty}`)}" is missing.`;
    case 'type':
      return `"${name}" must be ${articled(String(params.type))}.`;
    case 'minLength':
      return `"${name}" must not be empty.`;
    case 'enum':
      return `"${name}" must be one of ${[params.allowedValues].flat().join(', ')}.`;
    case 'additionalProperties':
      return `The query parameter "${params.additionalProperty}" is not known here.`;
    default:
      return `"${name}" ${message ?? 'is not valid'}.`;
  }
}

/** `/requestBody/channels/0` becomes `channels.0`: callers know their field, not where the validator keeps it. */
function nameOf(instancePath: string): string {
  return instancePath.split('/').slice(2).join('.') || 'body';
}

function articled(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
