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
  /** Resolves when the server answers again. */
  async returned(): Promise<void> {
    if (state === 'ok') return
    await new Promise<void>((resolve) => {
      const stop = onConnection(() => {
        if (state !== 'ok') return
        stop()
        resolve()
      })
    })
  },
}

/** Calls the listener whenever the state changes. */
export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, () => state)
}

/**
 * Loads a part of the interface that comes with its first use: again when the server answers, if it
 * could not be fetched.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    // This is all that a browser says of a script that it cannot fetch.
    if (!(error instanceof TypeError)) throw error
    connection.set('lost')
    await connection.returned()
    return load()
  }
}
