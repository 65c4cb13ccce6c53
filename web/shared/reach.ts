import { setClock } from '../ui/clock.ts'
import { connection } from './connection.ts'

/** The server did not answer, or a proxy answered in its place. */
export class Unreachable extends Error {}

const BEHIND_PROXY = [502, 504]

/** Fetches from the server that the page comes from; the connection is lost if nothing answers. */
export async function reach(request: Request): Promise<Response> {
  let response: Response
  try {
    response = await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw lost('the server does not answer', error)
  }
  setClock(response.headers.get('Date'))
  if (BEHIND_PROXY.includes(response.status)) throw lost(`the proxy answered ${response.status}`)
  return response
}

function lost(message: string, cause?: unknown): Unreachable {
  // While it restarts, it is expected not to answer.
  if (connection.get() === 'ok') connection.set('lost')
  return new Unreachable(message, { cause })
}
