import type pg from 'pg'
import type { Actor } from '../db/actor.ts'
import { type Database, everywhere } from '../db/db.ts'
import type { Log } from '../log.ts'

/** Who is named in the audit: somebody, the hub itself, or nobody that is known. */
export type Named =
  | Pick<Actor, 'kind' | 'id' | 'name'>
  | { kind: 'hub' | 'unknown'; id: null; name: null }

export const NOBODY: Named = { kind: 'unknown', id: null, name: null }

/** An act as it is stored; without contents. */
export type Act = {
  actor: Named
  action: string
  area: string
  project: string | null
  target: string | null
  fields: string[]
  outcome: 'done' | 'refused'
  count: number
  address: string | null
}

type Refusal = Omit<Act, 'outcome' | 'count' | 'fields' | 'project'>

const MINUTE_MS = 60_000
const MAX_FIELDS = 60
/** How many kinds of refusals are told apart in a minute; the rest is counted for each actor and action. */
const MAX_KINDS = 1000

const INSERT = `
  insert into hub.audit (actor, action, area, project, target, fields, outcome, count, address)
  select $1, $2, $3,
    coalesce($4, (select slug from hub.projects where id::text = private.current_project())),
    $5, $6, $7, $8, $9`

function valuesOf(act: Act): unknown[] {
  const { kind, id, name } = act.actor
  const fields = act.fields.slice(0, MAX_FIELDS)
  return [
    JSON.stringify({ kind, id, name }),
    act.action,
    act.area,
    act.project,
    act.target?.slice(0, 200) ?? null,
    fields,
    act.outcome,
    act.count,
    act.address,
  ]
}

const kindOf = ({ actor, action, target, address }: Refusal) =>
  JSON.stringify([actor.kind, actor.id, action, target, address])

/** addAct adds a row in a transaction. */
export async function addAct(client: pg.ClientBase, act: Act): Promise<void> {
  await client.query(INSERT, valuesOf(act))
}

/**
 * addActOfWriter adds a row if the transaction has written something, so that the act and its row are
 * stored together or not at all. Returns whether it did.
 */
export async function addActOfWriter(client: pg.ClientBase, act: Act): Promise<boolean> {
  const { rowCount } = await client.query(
    `${INSERT} where pg_catalog.pg_current_xact_id_if_assigned() is not null`,
    valuesOf(act),
  )
  return rowCount === 1
}

export type Audit = ReturnType<typeof createAudit>

/**
 * createAudit stores acts that have no transaction of their own. Refusals of the same kind are counted
 * and stored once a minute, so that a flood of them does not fill the disk.
 */
export function createAudit(given: {
  db: Database
  log: Log
  /** Whether the database can be written to; without the service key acts are only in the log. */
  can_write: boolean
}) {
  const { db, log, can_write } = given
  const counted = new Map<string, Act>()
  let timer: NodeJS.Timeout | undefined

  /** Never throws: what it tells of is done, and an error would say that it is not. */
  async function add(act: Act): Promise<void> {
    const { action, actor, outcome, count } = act
    const line = { msg: 'act', action, actor: actor.id ?? actor.kind, outcome, count }
    if (!can_write) return log(line)
    await everywhere(db, (_, client) => addAct(client, act)).catch((error: unknown) =>
      log({ ...line, error: String(error) }),
    )
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const acts = [...counted.values()]
    counted.clear()
    for (const act of acts) await add(act)
  }

  return {
    add,
    flush,
    /** Counts a refusal. */
    refused(act: Refusal): void {
      const isFull = counted.size >= MAX_KINDS && !counted.has(kindOf(act))
      const one = isFull ? { ...act, target: null, address: null } : act
      const before = counted.get(kindOf(one))
      if (before) before.count += 1
      else {
        counted.set(kindOf(one), {
          ...one,
          project: null,
          fields: [],
          outcome: 'refused',
          count: 1,
        })
      }
      timer ??= setTimeout(() => void flush(), MINUTE_MS).unref()
    },
  }
}
