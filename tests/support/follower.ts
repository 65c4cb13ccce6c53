import { z } from 'zod'
import { Alert } from '../../shared/schemas/alert.ts'
import { EventFields } from '../../shared/schemas/change.ts'
import { parsed, type Service } from './service.ts'

const Seq = z.int()
const Told = z.object({
  changes: z.array(
    z.union([
      z.object({ seq: Seq, kind: z.literal('upsert'), alert: Alert }),
      z.object({ seq: Seq, kind: z.literal('gone'), alert: z.strictObject({ id: z.string() }) }),
      z.object({ seq: Seq, kind: z.literal('upsert'), event: EventFields }),
      z.object({ seq: Seq, kind: z.literal('gone'), event: z.strictObject({ id: z.string() }) }),
    ]),
  ),
  next_cursor: z.string(),
})

type Change = { seq: number; kind: 'upsert' | 'gone'; id: string; thing: unknown }

/** Somebody who keeps a copy of alerts or events by following their changes. */
export type Follower = {
  /** The copy, by id. */
  held: Map<string, unknown>
  /** Everything that was told, in its order. */
  told: Change[]
  /** Asks once; returns what was told. */
  ask: (query?: string) => Promise<Change[]>
  /** Asks until nothing is told. */
  catchUp: (query?: string) => Promise<Change[]>
}

export function createFollower(
  service: Service,
  { key, things, after }: { key: string; things: 'alerts' | 'events'; after?: 'now' },
): Follower {
  let cursor: string | undefined = after
  const held: Follower['held'] = new Map()
  const told: Change[] = []
  const ask: Follower['ask'] = async (query = '') => {
    const from = cursor === undefined ? '' : `&after=${cursor}`
    const path = `/api/v1/${things}/changes?${query}${from}`
    const page = parsed(await service.request('GET', path, { key }), 200, Told)
    cursor = page.next_cursor
    const changes = page.changes.map((change): Change => {
      const thing = 'alert' in change ? change.alert : change.event
      return { seq: change.seq, kind: change.kind, id: thing.id, thing }
    })
    for (const { kind, id, thing } of changes) {
      if (kind === 'gone') held.delete(id)
      else held.set(id, thing)
    }
    told.push(...changes)
    return changes
  }
  return {
    held,
    told,
    ask,
    catchUp: async (query) => {
      const all: Change[] = []
      for (;;) {
        const changes = await ask(query)
        if (changes.length === 0) return all
        all.push(...changes)
      }
    },
  }
}
