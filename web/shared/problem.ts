/** What every refusal says (RFC 9457); each server has codes of its own. */
export type ProblemDetails = {
  type: string
  title: string
  status: number
  detail: string
  code: string
  request_id: string
  errors?: { path: string; message: string }[]
}

/** A refusal of the server, with its reason. */
export class ProblemError<P extends ProblemDetails = ProblemDetails> extends Error {
  readonly problem: P
  constructor(problem: P) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The class with the problems of one server: `instanceof` then knows their codes. */
export type ProblemErrorOf<P extends ProblemDetails> = {
  new (problem: P): ProblemError<P>
  readonly prototype: ProblemError<P>
}

type Answer<T> = { data?: T; error?: unknown; response: Response }
type Options<P extends ProblemDetails> = {
  /** The code and detail of an answer that does not come from the server itself. */
  foreign: (response: Response) => { code: P['code']; detail: string }
  /** Is told of every refusal before it is thrown. */
  onProblem: (problem: P) => unknown
}

/** answersOf returns the functions that read the answers of a server whose problems are `P`. */
export function answersOf<P extends ProblemDetails>({ foreign, onProblem }: Options<P>) {
  /** Gives an error that does not come from the server itself the form of a problem. */
  function problemIn(error: unknown, response: Response): P {
    if (typeof error === 'object' && error !== null && 'code' in error && 'detail' in error) {
      return error as P // safe: it has the members of problem details
    }
    const problem = {
      type: 'about:blank',
      title: response.statusText || `HTTP ${response.status}`,
      status: response.status,
      request_id: response.headers.get('x-request-id') ?? '',
      ...foreign(response),
    }
    return problem as P // safe: a server adds no members that must be there
  }

  /** ok returns the data of an answer, or throws its refusal as a ProblemError. */
  async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
    const { data, error, response } = await call
    if (response.ok) return data as T // safe: openapi-fetch gives the type of the 2xx answer
    const problem = problemIn(error, response)
    await onProblem(problem)
    throw new ProblemError(problem)
  }

  return { ok, problemIn }
}
