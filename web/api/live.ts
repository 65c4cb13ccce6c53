import { useEffect, useRef } from 'react'
import { connection, onConnection } from '../shared/connection.ts'
import { timeNow } from '../ui/clock.ts'
import { api, ok, ProblemError } from './client.ts'
import { type Alert, queryClient } from './queries.ts'

const WAIT_SECONDS = 25
const RETRY_MS = 5_000
/** Under load one look is enough for many changes of alerts. */
const ALERTS_MS = 250
/** And of events: a map is asked for anew as a whole, by everybody who looks at one. */
const EVENTS_MS = 1_000
/** Footprints and tracks are many bytes, and are asked for no more often. */
const SHAPES_MS = 5_000

/** What a listener is told of an alert. */
type Raised = Pick<Alert, 'id' | 'zone_name' | 'severity' | 'event'>
type Listener = (alerts: Raised[]) => void
const listeners = new Set<Listener>()

/** onRaised calls the listener with the alerts that are raised while the console is open: one, or several that came together. */
export function onRaised(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows alerts and events while somebody is signed in, so that they appear without a reload. */
export function useLive(isSignedIn: boolean): void {
  useEffect(() => {
    if (!isSignedIn) return
    const stopped = new AbortController()
    const began = timeNow()
    let shapesDue: ReturnType<typeof setTimeout> | undefined
    void follow(stopped.signal, ALERTS_MS, async (after) => {
      const { changes, next_cursor } = await ok(
        api.GET('/api/v1/alerts/changes', {
          params: { query: { after, wait: WAIT_SECONDS } },
          signal: stopped.signal,
        }),
      )
      const raised: Raised[] = []
      for (const change of changes) {
        if (change.kind !== 'upsert') continue
        queryClient.setQueryData(['alerts', 'one', change.alert.id], change.alert)
        if (Date.parse(change.alert.raised_at) >= began && change.alert.updates.length === 0) {
          raised.push(change.alert)
        }
      }
      if (raised.length > 0) for (const listener of listeners) listener(raised)
      if (changes.length > 0) {
        void queryClient.invalidateQueries({ queryKey: ['alerts', 'list'] })
        void queryClient.invalidateQueries({ queryKey: ['channels'] })
      }
      return next_cursor
    })
    void follow(stopped.signal, EVENTS_MS, async (after) => {
      const { changes, next_cursor } = await ok(
        api.GET('/api/v1/events/changes', {
          params: { query: { after, wait: WAIT_SECONDS, limit: 500 } },
          signal: stopped.signal,
        }),
      )
      if (changes.length > 0) {
        void queryClient.invalidateQueries({ queryKey: ['events'] })
        shapesDue ??= setTimeout(() => {
          shapesDue = undefined
          void queryClient.invalidateQueries({ queryKey: ['shapes'] })
        }, SHAPES_MS)
      }
      return next_cursor
    })
    // What was told while the service was away could not be fetched then.
    let last = connection.get()
    const forget = onConnection(() => {
      const state = connection.get()
      if (state === 'ok' && last !== 'ok') void queryClient.invalidateQueries()
      last = state
    })
    return () => {
      forget()
      clearTimeout(shapesDue)
      stopped.abort()
    }
  }, [isSignedIn])
  const wasSignedIn = useRef(isSignedIn)
  useEffect(() => {
    // What was asked for after the session had ended was refused.
    if (isSignedIn && !wasSignedIn.current) void queryClient.invalidateQueries()
    wasSignedIn.current = isSignedIn
  }, [isSignedIn])
}

/**
 * Asks for what follows, again and again, and gathers for a while in between; a cursor that is no longer known begins
 * from now.
 */
async function follow(
  signal: AbortSignal,
  gather_ms: number,
  ask: (after: string) => Promise<string>,
): Promise<void> {
  let after = 'now'
  while (!signal.aborted) {
    try {
      after = await ask(after)
      await pause(gather_ms, signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ProblemError && error.problem.code === 'cursor_expired') {
        after = 'now'
        void queryClient.invalidateQueries()
      }
      if (error instanceof ProblemError && error.problem.code === 'unauthenticated') return
      await pause(RETRY_MS, signal)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
