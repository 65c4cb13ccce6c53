import { AuthClient, type Session } from '@supabase/auth-js'
import { useSyncExternalStore } from 'react'
import type { Settings } from './settings.ts'

/** Where the browser keeps the session; the sign-in page of the service writes it there, too. */
const SESSION_KEY = 'watchpost.session'
/** Where the tabs of a browser tell each other that somebody signed out. */
const LEFT_KEY = 'watchpost.left'

type State = {
  client: InstanceType<typeof AuthClient>
  session: Session | null
  /** Whose answers this tab holds, and what they typed; a session that ends does not change it. */
  holder: string | undefined
  /** Why the mailed link that led here signed nobody in; undefined when none led here, or it did. */
  refused: unknown
}
let state: State | undefined
const listeners = new Set<() => void>()

/** Opens the session that the browser keeps, and follows it. To be called once, before anything else. */
export async function openSession(sign_in: Pick<Settings, 'auth_url' | 'auth_key' | 'by'>) {
  const client = new AuthClient({
    url: new URL(sign_in.auth_url, document.baseURI).href.replace(/\/$/, ''),
    headers: sign_in.auth_key ? { apikey: sign_in.auth_key } : {},
    storageKey: SESSION_KEY,
    autoRefreshToken: true,
    persistSession: true,
    detectSessionInUrl: sign_in.by === 'mail',
    flowType: 'pkce',
    fetch: fetchByOwnClock,
  })
  const { error } = await client.initialize()
  const { data } = await client.getSession()
  const { session } = data
  const refused = sign_in.by === 'mail' && !session ? refusalIn(location, error) : undefined
  // Else it would be part of the next link, and the page that is shown.
  if (refused) history.replaceState(null, '', location.pathname)
  state = { client, session, holder: session?.user.id, refused }
  client.onAuthStateChange((_, session) => {
    if (!state) return
    const { holder } = state
    if (session && holder && session.user.id !== holder) return beginAnew()
    state = { ...state, session, holder: session?.user.id ?? holder }
    for (const listener of listeners) listener()
  })
  addEventListener('storage', ({ key }) => {
    if (key === LEFT_KEY && state?.holder) beginAnew()
  })
}

/** Loads the console anew, so that nothing is left of whoever was signed in. */
function beginAnew(): void {
  history.replaceState(null, '', location.pathname)
  location.reload()
}

/**
 * The issuer says by its own clock until when a token is valid; here that is compared with the clock
 * of this computer. Where they differ by hours every request would renew the token, or none would.
 */
const fetchByOwnClock: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.ok || !response.headers.get('Content-Type')?.includes('json')) return response
  const body = await response.json()
  if (typeof body?.expires_in === 'number') {
    body.expires_at = Math.floor(Date.now() / 1000) + body.expires_in
  }
  const { status, headers } = response
  return Response.json(body, { status, headers: withoutLength(headers) })
}

/** The headers of an answer whose body was read and is written anew. */
function withoutLength(given: Headers): Headers {
  const headers = new Headers(given)
  for (const name of ['Content-Length', 'Content-Encoding']) headers.delete(name)
  return headers
}

/** A mailed link works only in the browser that asked for it. */
export class OtherBrowser extends Error {}

function refusalIn({ search }: Location, error: unknown): unknown {
  if (error) return error
  return new URLSearchParams(search).has('code') ? new OtherBrowser() : undefined
}

/** Why the mailed link that led here signed nobody in, if so. */
export const refusedLink = (): unknown => opened().refused

function opened(): State {
  if (!state) throw new Error('the session was not opened')
  return state
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The session of who is signed in, or null. */
export function useSession(): Session | null {
  return useSyncExternalStore(subscribe, () => opened().session)
}

/** Whether somebody is signed in, or was until the session ended without a sign-out. */
export function useHasHolder(): boolean {
  return useSyncExternalStore(subscribe, () => opened().holder !== undefined)
}

/** An access token that is valid for some time yet; undefined when nobody is signed in. */
export async function accessToken(): Promise<string | undefined> {
  const { data } = await opened().client.getSession()
  return data.session?.access_token
}

/**
 * Another access token in the place of one that the API does not accept, as when the clock of this
 * computer is wrong; undefined when the session has ended.
 */
export async function renewedToken(refused: string): Promise<string | undefined> {
  const { session, client } = opened()
  if (session && session.access_token !== refused) return session.access_token
  const { data } = await client.refreshSession()
  return data.session?.access_token
}

/** Signs in with the token of a one-time link. Throws the issuer's reason. */
export async function signInByLink(token: string): Promise<void> {
  const { error } = await opened().client.verifyOtp({ token_hash: token, type: 'magiclink' })
  if (error) throw error
}

/** Has a one-time link mailed by the issuer. Throws its reason. */
export async function mailLink(email: string): Promise<void> {
  const { error } = await opened().client.signInWithOtp({
    email,
    options: { emailRedirectTo: location.href.split('#')[0] ?? location.href },
  })
  if (error) throw error
}

/** Ends the session in all tabs, and at the issuer if it can be reached. */
export async function signOut(): Promise<void> {
  await opened().client.signOut({ scope: 'local' })
  localStorage.setItem(LEFT_KEY, String(Date.now()))
  beginAnew()
}

/** Forgets a session that the API does not accept any more; the page stays for whoever signs in again. */
export async function forgetSession(): Promise<void> {
  const { session, client } = opened()
  if (session) await client.signOut({ scope: 'local' })
}
