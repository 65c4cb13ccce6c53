/** Drafts in every state with mails in every state, and what of them has changed. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { MAIL_STATES, STATES } from '../../../../hub/mail/drafts/flow.ts'
import type { Sql } from '../../../../shared/sql.ts'
import { startHub, type TestHub } from '../../support/hub.ts'

export let hub: TestHub
export let project_id = ''

/** Has the tests of this file run on a hub of their own, each without drafts. */
export function useHub(): void {
  beforeAll(async () => {
    hub = await startHub()
    await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
    const [project] = await hub.query<{ id: string }>('select id from hub.projects')
    project_id = project?.id ?? ''
  })
  afterAll(() => hub.close())
  beforeEach(() => hub.query('delete from hub.drafts'))
}

export const WHY = { en: 'Because.', tr: 'Çünkü.' }
export const HASH = 'approved'
export type Drafts = Record<string, string>

/** A draft in a state, with one mail in each state. */
export async function addDraft(name: string, more: { via?: string; pushing?: string } = {}) {
  const [draft] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, state, approved_hash, approved_at, via, pushing_until, html, retries)
     values ($1, '{"kind": "list", "filter": {}}', $2, $3, now(), $4, now() + $5::interval, 'x', 3) returning id`,
    [project_id, name, HASH, more.via ?? 'smtp', more.pushing ?? null],
  )
  const id = draft?.id ?? ''
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state, attempts, portion, claimed_at)
     select $1, $2, s || '@x.example', s, 1, 1,
       case when s in ('sending', 'sent', 'unclear') then timestamptz '2026-01-01' end
     from unnest($3::text[]) as s`,
    [id, project_id, MAIL_STATES],
  )
  return id
}

/** A draft in every state. */
export async function addAll(more: { via?: string; pushing?: string } = {}): Promise<Drafts> {
  const drafts: Drafts = {}
  for (const name of STATES) drafts[name] = await addDraft(name, more)
  return drafts
}

export const write = <T>(work: (sql: Sql) => Promise<T>) => everywhere(hub.deps.db, work)
export const mailOf = (draft_id: string, name: string, attempt = 1) => ({
  draft_id,
  project_id,
  email: `${name}@x.example`,
  lead_id: null,
  subject: 'x',
  attempt,
})

/** Which drafts are in another state now, as `before → after`. */
export async function moved(drafts: Drafts): Promise<string[]> {
  const rows = await hub.query<{ id: string; state: string }>('select id, state from hub.drafts')
  return Object.entries(drafts).flatMap(([before, id]) => {
    const after = rows.find((row) => row.id === id)?.state ?? 'gone'
    return after === before ? [] : [`${before} → ${after}`]
  })
}

/** Which mails of a draft are in another state now. */
export async function mailsMoved(draft_id: string): Promise<string[]> {
  const rows = await hub.query<{ email: string; state: string }>(
    'select email, state from hub.recipients where draft_id = $1',
    [draft_id],
  )
  return MAIL_STATES.flatMap((before) => {
    const after = rows.find(({ email }) => email === `${before}@x.example`)?.state ?? 'gone'
    return after === before ? [] : [`${before} → ${after}`]
  })
}
export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )
