import type { SSEStreamingApi } from 'hono/streaming'
import { type Database, everywhere } from '../../db/db.ts'
import type { Missions } from '../../missions/missions.ts'

/** A comment line in the stream, so that nothing between here and the page closes it as idle. */
const KEEP_ALIVE_MS = 15_000
/** How often events that another process stored are looked for. */
const LOOK_MS = 1000
/** How long a stream may outlive its session. */
const ASK_MS = 5000
/** Tokens are collected: one event for each would be most of the traffic. */
const TOKENS_MS = 150

type EventRow = { id: number; kind: string; data: { status?: string }; at: string }

/**
 * streamEvents sends the stored events after `after`, then new ones, until the mission has ended.
 */
export async function streamEvents(given: {
  db: Database
  missions: Pick<Missions, 'events'>
  stream: SSEStreamingApi
  id: string
  after: number
  /** Whether the session that opened the stream is still valid. */
  isLetIn: () => Promise<boolean>
}): Promise<void> {
  const { db, missions, stream, id, isLetIn } = given
  let after = given.after
  let tokens = ''
  let wakeUp = () => {}
  let isNews = true
  const onEvent = (of: string) => {
    if (of !== id) return
    isNews = true
    wakeUp()
  }
  const onToken = (of: string, text: string) => {
    if (of === id) tokens += text
  }
  missions.events.on('event', onEvent)
  missions.events.on('token', onToken)
  stream.onAbort(() => wakeUp())
  let quiet = 0
  let looked = 0
  let asked = Date.now()
  try {
    while (!stream.aborted && !stream.closed) {
      if (Date.now() - asked >= ASK_MS) {
        if (!(await isLetIn())) return
        asked = Date.now()
      }
      if (tokens !== '') {
        const text = tokens
        tokens = ''
        await stream.writeSSE({ event: 'tokens', data: JSON.stringify({ text }) })
        quiet = Date.now()
      }
      if (isNews || Date.now() - looked >= LOOK_MS) {
        isNews = false
        looked = Date.now()
        const rows = await everywhere(
          db,
          (sql) => sql<EventRow>`
            select id, kind, data, at from hub.mission_events
            where mission_id = ${id} and id > ${after} order by id limit 500`,
        )
        for (const { id: number, kind, data, at } of rows) {
          after = number
          await stream.writeSSE({
            id: String(number),
            event: kind,
            data: JSON.stringify({ ...data, at }),
          })
          quiet = Date.now()
        }
        if (rows.some(({ kind, data }) => kind === 'state' && hasEnded(data.status))) return
        if (rows.length === 0 && (await isOver(db, id))) return
      }
      if (Date.now() - quiet >= KEEP_ALIVE_MS) {
        await stream.write(': still here\n\n')
        quiet = Date.now()
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TOKENS_MS)
        wakeUp = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    missions.events.off('event', onEvent)
    missions.events.off('token', onToken)
  }
}

const hasEnded = (status: string | undefined) =>
  status === 'done' || status === 'failed' || status === 'cancelled'

/** Whether nothing can follow: after the last event, or for a deleted mission. */
async function isOver(db: Database, id: string): Promise<boolean> {
  const [row] = await everywhere(
    db,
    (sql) => sql<{ status: string }>`select status from hub.missions where id = ${id}`,
  )
  return row === undefined || hasEnded(row.status)
}
