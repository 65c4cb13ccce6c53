import type { InfiniteData } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { OperatorSession, OperatorSignedIn } from '../../shared/schemas/operator.ts'
import { connection } from '../shared/connection.ts'
import { type ProblemDetails, ProblemError } from '../shared/problem.ts'
import { reach } from '../shared/reach.ts'

/** Where this page keeps its half of the session's secret; the other half is a cookie. */
const KEY = 'watchpost.operator'
/** Type-only imports of shared/schemas/operator.ts keep zod out of this page; the name is that of its PAGE_HEADER. */
const PAGE_HEADER: typeof import('../../shared/schemas/operator.ts').PAGE_HEADER = 'x-operator-page'

const listeners = new Set<() => void>()
let isSignedIn = localStorage.getItem(KEY) !== null

function keep(page: string | null): void {
  if (page === null) localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, page)
  isSignedIn = page !== null
  for (const listener of listeners) listener()
}

/** Whether this page has a half of a secret; the server may have forgotten it. */
export function useSignedIn(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => isSignedIn,
  )
}

/** get reads something. Throws a ProblemError, or Unreachable. */
export function get<T>(path: string): Promise<T> {
  return ask<T>('GET', path)
}

/** post does something. Throws a ProblemError, or Unreachable. */
export function post<T = void>(path: string, body: object = {}): Promise<T> {
  return ask<T>('POST', path, body)
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers: Record<string, string> = { [PAGE_HEADER]: localStorage.getItem(KEY) ?? '' }
  if (body) headers['Content-Type'] = 'application/json'
  const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  const answer = await reach(new Request(new URL(`api/${path}`, location.href.split('#')[0]), init))
  connection.set('ok')
  if (answer.status === 204) return undefined as T // safe: the caller knows that nothing is answered
  const value: unknown = await answer.json()
  if (answer.ok) return value as T // safe: the server's answers pass through the schemas of these types
  if (answer.status === 401) keep(null)
  throw new ProblemError(value as ProblemDetails) // safe: every refusal of this server is one
}

/** signIn exchanges the token of a link for a session. */
export async function signIn(token: string): Promise<OperatorSession> {
  const signed = await post<OperatorSignedIn>('sign-in', { token })
  keep(signed.page)
  return signed
}

export async function signOut(): Promise<void> {
  await post('sign-out').catch(() => undefined)
  keep(null)
}

/** How often the page looks again. */
export const REFRESH_MS = 10_000

type Page<Name extends string, T> = { [key in Name]: T[] } & { next_cursor: string | null }

/** pagesQuery reads a list page by page; its rows are under `name`. */
export function pagesQuery<Name extends string, T>(path: string, filter: Record<string, string>) {
  return {
    queryKey: [path, filter],
    queryFn: ({ pageParam }: { pageParam: string | null }) => {
      const query = new URLSearchParams(filter)
      if (pageParam) query.set('cursor', pageParam)
      return get<Page<Name, T>>(`${path}?${query}`)
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<Name, T>) => page.next_cursor,
    // More pages are read again at the reader's wish only.
    refetchInterval: ({ state }: { state: { data?: InfiniteData<unknown> | undefined } }) =>
      (state.data?.pages.length ?? 1) > 1 ? (false as const) : REFRESH_MS,
  }
}
