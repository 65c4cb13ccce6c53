import { useSyncExternalStore } from 'react'

/** Whether the server answers; `restarting` if the page asked it to restart. */
export type Connection = 'ok' | 'lost' | 'restarting'

let state: Connection = 'ok'
const listeners = new Set<() => void>()

export const connection = {
  get: () => state,
  set(next: Connection): void {
    if (next === state) return
    state = next
    for (const listener of listeners) listener()
  },
}

function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, () => state)
}
