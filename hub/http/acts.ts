import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { type Act, addActOfWriter } from '../audit/audit.ts'
import { collectChanges } from '../audit/changes.ts'
import { addressOf } from '../auth/caller.ts'
import type { Ctx, Env } from './http.ts'

/** What reads and yet is an act: it takes data out of the hub. */
const TAKES = ['leads/export', 'backup/download', 'documents/download', 'settings/audit/export']
/** Their body is a file, which the route itself reads. */
const FILES = ['backup/upload', 'documents/upload', 'leads/import', 'leads/import_preview']
/** What is sent to be looked at, and changes nothing. */
const LOOKS =
  /^(leads\/import_preview|mission\/(route|recipients)|settings\/prompts\/[^/]+\/try|projects\/(select|brand\/preview)|model\/test|mcp)$/

type Operation = { method: string; pattern: RegExp; name: string; area: string }
const operations = new WeakMap<object, Operation[]>()

/** The operations of the API, those with a fixed path first. */
function operationsOf(app: OpenAPIHono<Env>): Operation[] {
  const known = operations.get(app)
  if (known) return known
  // Not from the document: making that takes a busy machine longer than the act itself.
  const found = app.openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== 'route') return []
    const { method, path, operationId: name, tags = [] } = definition.route
    if (!name) return []
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
    return [{ method: method.toUpperCase(), pattern, name, area: tags[0] ?? 'System' }]
  })
  found.sort(
    (a, b) => Number(a.pattern.source.includes('(')) - Number(b.pattern.source.includes('(')),
  )
  operations.set(app, found)
  return found
}

/** The operation of a request, with what stands in its path. */
export function operationOf(app: OpenAPIHono<Env>, method: string, path: string) {
  const wanted = method === 'HEAD' ? 'GET' : method
  const found = operationsOf(app).find((one) => one.method === wanted && one.pattern.test(path))
  return found && { ...found, target: found.pattern.exec(path)?.[1] ?? null }
}

/**
 * recordActs writes each act of a signed-in caller into the audit: in the transaction of the act, or
 * after it if it changed files alone. What failed is not recorded: it changed nothing.
 */
export function recordActs(app: OpenAPIHono<Env>, base: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    const path = c.req.path.slice(base.length + 1)
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
    const actor = c.get('actor')
    const isAct = isRead ? TAKES.includes(path) : !LOOKS.test(path)
    const operation = actor && isAct ? operationOf(app, c.req.method, c.req.path) : undefined
    if (!actor || !operation) return next()
    const changes = new Set<string>()
    const body = FILES.includes(path) ? {} : await bodyOf(c)
    const act = (): Act => ({
      actor,
      action: operation.name,
      area: operation.area,
      project: projectIn(body) ?? c.req.query('project') ?? null,
      target: targetIn(body) ?? operation.target ?? c.req.query('name') ?? null,
      fields: [...new Set([...Object.keys(body).filter((name) => !SAID.has(name)), ...changes])],
      outcome: 'done',
      count: 1,
      address: addressOf(c),
    })
    let isRecorded = false
    let isPending = false
    const deps = c.get('deps')
    const db = deps.root_db.as(
      actor,
      deps.key_role !== 'hub_rw'
        ? undefined
        : {
            before: async (client) => {
              if (!isRecorded) isPending = await addActOfWriter(client, act())
            },
            committed: () => {
              isRecorded ||= isPending
            },
          },
    )
    c.set('deps', { ...deps, db })
    await collectChanges(changes, next)
    if (isRecorded || c.res.status >= 400) return
    await deps.audit.add(act())
  }
}

/** What is said elsewhere in the row. */
const SAID = new Set(['id', 'lead_id', 'mission_id', 'draft_id', 'project', 'slug', 'secret'])

const Ref = z.string().min(1).max(200)
const Slug = z.string().regex(/^[a-z0-9][a-z0-9-]{1,40}$/)

async function bodyOf(c: Ctx): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) return {}
  const body: unknown = await c.req.json().catch(() => undefined)
  const read = z.record(z.string(), z.unknown()).safeParse(body)
  return read.success ? read.data : {}
}

function projectIn(body: Record<string, unknown>): string | null {
  return Slug.safeParse(body.project ?? body.slug).data ?? null
}

function targetIn(body: Record<string, unknown>): string | null {
  const ids = [body.id, body.draft_id, body.lead_id, body.mission_id]
  return ids.map((id) => Ref.safeParse(id).data).find((id) => id !== undefined) ?? null
}
