/** The fields of an Ajv error that its description uses. */
interface Problem {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

/** Describes a validation error in one sentence that starts with the name of the field. */
export function describeProblem({ keyword, instancePath, params, message }: Problem): string {
  const name = nameOf(instancePath);
  switch (keyword) {
    case 'required':
      return params.missingProperty === 'requestBody'
        ? 'A JSON body is required.'
        : `"${nameOf(`${instancePath}/${params.missingProperty}`)}" is required.`;
    case 'type':
      return `"${name}" must be ${withArticle(String(params.type))}.`;
    case 'minLength':
      return `"${name}" must not be empty.`;
    case 'enum':
      return `"${name}" must be one of ${[params.allowedValues].flat().join(', ')}.`;
    case 'additionalProperties':
      return `Unknown query parameter "${params.additionalProperty}".`;
    default:
      return `"${name}" ${message ?? 'is invalid'}.`;
  }
}

/** Returns the field's path in the request: `/requestBody/channels/0` becomes `channels.0`. */
function nameOf(instancePath: string): string {
  return instancePath.split('/').slice(2).join('.') || 'body';
}

function withArticle(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
