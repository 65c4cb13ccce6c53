import { expect } from 'vitest'
import type { TestHub } from './hub.ts'

export const CSV = { 'content-type': 'text/csv' }

/** importCalls makes the calls of tests about files of leads, on the hub that a file starts before them. */
export function importCalls(hub: () => TestHub) {
  const query = (options: Record<string, string>) => new URLSearchParams(options).toString()
  const send = (csv: string | Uint8Array, options: Record<string, string>) =>
    hub().call('POST', `leads/import?${query(options)}`, csv, CSV)
  const read = async (id: string) =>
    (await (await hub().call('GET', `leads/imports/${id}`)).json()).import
  return {
    send,
    read,
    /** Imports and waits for the end of it. */
    bring: async (csv: string | Uint8Array, options: Record<string, string>) => {
      const taken = await send(csv, options)
      expect(taken.status).toBe(202)
      const { import: made } = await taken.json()
      await expect
        .poll(async () => (await read(made.id)).status, { timeout: 20_000 })
        .not.toMatch(/queued|processing/)
      return read(made.id)
    },
    leadsOf: async (project: string, more = '') =>
      (await (await hub().call('GET', `leads/list?project=${project}&limit=500${more}`)).json())
        .leads,
  }
}
