import { useSyncExternalStore } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { api, ok, onProblem, type Schemas } from './client.ts'
import { BASE, meQuery, queryClient } from './queries.ts'

/** Where the tabs of a browser tell each other who signed in, or that somebody signed out. */
const KEY = 'watchpost.hub.session'
const NOBODY = 'nobody'

/** Whose answers this tab holds, and what they typed; undefined before anybody signed in. */
let holder: string | undefined
let hasLapsed = false
const listeners = new Set<() => void>()

function setLapsed(next: boolean): void {
  hasLapsed = next
  for (const listener of listeners) listener()
}

/** Whether the session of this page has ended without a sign-out: its holder may sign in and go on. */
export function useHasLapsed(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => hasLapsed,
  )
}

const nameOf = ({ kind, id }: Schemas['Me']) => `${kind} ${id}`
const tell = (name: string) => localStorage.setItem(KEY, `${name}|${Date.now()}`)

/** Loads the interface anew, so that nothing is left of whoever was signed in. */
const beginAnew = (path: string) => location.replace(BASE + path)

queryClient.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'updated' || query.queryKey[0] !== meQuery.queryKey[0]) return
  const me = queryClient.getQueryData(meQuery.queryKey)
  if (!me) return
  const name = nameOf(me)
  if (holder !== undefined && holder !== name) beginAnew('/')
  holder = name
})

onProblem(({ code }) => {
  if (code !== 'unauthenticated') return
  const here = location.pathname.slice(BASE.length) + location.search
  if (/^\/(login|welcome|join)/.test(here)) return
  if (holder !== undefined) setLapsed(true)
  else navigate(`${BASE}/login?next=${encodeURIComponent(here)}`, { replace: true })
})

addEventListener('storage', ({ key, newValue }) => {
  if (key !== KEY || holder === undefined) return
  const name = newValue?.split('|')[0]
  if (name === holder) goOn()
  else beginAnew(name === NOBODY ? '/login' : '/')
})

function goOn(): void {
  setLapsed(false)
  void queryClient.invalidateQueries()
}

/** To be called after a sign-in: if somebody else was signed in here before, the page begins anew. */
export async function signedIn(): Promise<void> {
  const before = holder
  const name = nameOf(await queryClient.fetchQuery({ ...meQuery, staleTime: 0 }))
  tell(name)
  // The page is about to be left.
  if (before !== undefined && before !== name) await new Promise(() => {})
  goOn()
}

/** What somebody has done and the hub does not know yet; it is told before a sign-out. */
export const untold = new Set<() => Promise<unknown>>()

/** Ends the session in all tabs. */
export async function signOut(): Promise<void> {
  await Promise.allSettled([...untold].map((tell) => tell()))
  await ok(api.POST('/api/cockpit/logout'))
  tell(NOBODY)
  beginAnew('/login')
}
