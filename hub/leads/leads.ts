import { ApiError, invalid } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { bilingual } from '../i18n/words.ts'
import { domainOf, isIdentified, type Lead, LeadChange, type NewLead } from './lead.ts'
import { leadsText } from './leads.text.ts'
import { recordActivity } from './timeline.ts'

/**
 * A lead's columns as `Lead` has them, over `hub.leads as lead` joined with `hub.projects as
 * project`.
 */
export const leadColumns = raw(`
  lead.id, project.slug as project, lead.name, lead.email, lead.company, lead.title, lead.phone,
  lead.website, lead.country, lead.stage, lead.source, lead.lawful_basis, lead.score, lead.tags,
  (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', note.id, 'text', note.text, 'created_at', private.iso(note.created_at)
    ) order by note.created_at desc, note.id desc), '[]')
    from (
      select id, text, created_at from hub.notes
      where lead_id = lead.id order by created_at desc, id desc limit 3
    ) as note
  ) as notes,
  (
    select count(*)::int from hub.tasks where lead_id = lead.id and done_at is null
  ) as open_tasks,
  lead.created_at, lead.updated_at`)

/** getLead returns a lead in the transaction's scope, or undefined. */
async function getLead(sql: Sql, id: string): Promise<Lead | undefined> {
  const [lead] = await sql<Lead>`
    select ${leadColumns}
    from hub.leads as lead
    join hub.projects as project on project.id = lead.project_id
    where lead.id = ${id}`
  return lead
}

/** requireLead returns a lead in the transaction's scope, or throws 404. */
export async function requireLead(sql: Sql, id: string): Promise<Lead> {
  const lead = await getLead(sql, id)
  if (!lead) throw new ApiError('not_found', 'There is no such lead.')
  return lead
}

/** The lead with this address in a project, regardless of case. */
export async function findByEmail(
  sql: Sql,
  project_id: string,
  email: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }>`
    select id from hub.leads where project_id = ${project_id} and email_key = lower(${email})`
  return row?.id
}

/**
 * createLead adds a lead parsed by NewLead, and the first activity of its timeline. If the project
 * already has its e-mail, regardless of case, nothing changes, and it returns the
 * existing lead. `details` record who made it, e.g. {mission_id}.
 */
export async function createLead(
  sql: Sql,
  project_id: string,
  data: NewLead,
  { kind = 'created', details = {} }: { kind?: 'created' | 'imported'; details?: object } = {},
): Promise<{ id: string; is_new: boolean }> {
  const lead = columnsOf({ ...EMPTY, ...data })
  for (;;) {
    const [made] = await sql<{ id: string }>`
      insert into hub.leads (
        project_id, name, email, company, title, phone, website, country, stage, source,
        lawful_basis, score, tags, domain
      )
      values (
        ${project_id}, ${lead.name}, ${lead.email}, ${lead.company}, ${lead.title}, ${lead.phone},
        ${lead.website}, ${lead.country}, ${lead.stage}, ${lead.source}, ${lead.lawful_basis},
        ${lead.score}, ${lead.tags}, ${lead.domain}
      )
      on conflict (project_id, email_key) do nothing
      returning id`
    if (made) {
      await recordActivity(sql, { project_id, lead_id: made.id, kind, details })
      return { id: made.id, is_new: true }
    }
    const known = lead.email ? await findByEmail(sql, project_id, lead.email) : undefined
    if (known) return { id: known, is_new: false }
    // The lead with this address was deleted between the two statements.
  }
}

/**
 * changeLead changes the given fields of a lead, and records the stage as an activity of its own.
 * 404 for an unknown lead, 409 when another one in its project has the new e-mail.
 */
export async function changeLead(sql: Sql, id: string, change: LeadChange): Promise<void> {
  const before = await lockLead(sql, id)
  const lead = columnsOf({ ...before, ...change })
  if (!isIdentified(lead)) {
    throw invalid([{ path: 'name', code: 'required', message: bilingual(leadsText).keep_one }])
  }
  if (lead.email && lead.email.toLowerCase() !== before.email?.toLowerCase()) {
    const known = await findByEmail(sql, before.project_id, lead.email)
    if (known) throw new KnownEmail(known)
  }
  const fields = CHANGEABLE.filter(
    (field) => JSON.stringify(lead[field]) !== JSON.stringify(before[field]),
  )
  if (fields.length === 0) return
  await sql`
    update hub.leads
    set name = ${lead.name}, email = ${lead.email}, company = ${lead.company},
      title = ${lead.title}, phone = ${lead.phone}, website = ${lead.website},
      country = ${lead.country}, stage = ${lead.stage}, source = ${lead.source},
      lawful_basis = ${lead.lawful_basis}, score = ${lead.score}, tags = ${lead.tags},
      domain = ${lead.domain}, updated_at = now()
    where id = ${id}`
  const { project_id } = before
  if (lead.stage !== before.stage) {
    const details = { from: before.stage, to: lead.stage }
    await recordActivity(sql, { project_id, lead_id: id, kind: 'stage', details })
  }
  const others = fields.filter((field) => field !== 'stage')
  if (others.length > 0) {
    const kind = others.every((field) => field === 'tags') ? 'tagged' : 'edited'
    const details = kind === 'tagged' ? { tags: lead.tags } : { fields: others }
    await recordActivity(sql, { project_id, lead_id: id, kind, details })
  }
}

/**
 * moveStage moves a lead to a stage if it is in one of the given ones, as its first mail, its reply,
 * and the undoing of a reply do. `details` say why.
 */
export async function moveStage(
  sql: Sql,
  lead: { project_id: string; lead_id: string },
  { from, to, details }: { from: Lead['stage'][]; to: Lead['stage']; details: object },
): Promise<void> {
  const moved = await sql`
    update hub.leads set stage = ${to}, updated_at = now()
    where id = ${lead.lead_id} and stage = any(${from}::text[])
    returning id`
  if (moved.length === 0) return
  await recordActivity(sql, { ...lead, kind: 'stage', details: { ...details, to } })
}

/**
 * addEvidence stores a fact about a lead with its source; the same fact from the same source only
 * once.
 */
export async function addEvidence(
  sql: Sql,
  evidence: {
    project_id: string
    lead_id: string | null
    fact: string
    quote?: string | null
    /** A URL, or the file and row. */
    source: string
    mission_id?: string | null
  },
): Promise<string> {
  const { project_id, lead_id, fact, quote = null, source, mission_id = null } = evidence
  const [known] = await sql<{ id: string }>`
    select id from hub.evidence
    where project_id = ${project_id} and lead_id is not distinct from ${lead_id}
      and fact = ${fact} and source = ${source}`
  if (known) return known.id
  const [made] = await sql<{ id: string }>`
    insert into hub.evidence (project_id, lead_id, fact, quote, source, mission_id)
    values (${project_id}, ${lead_id}, ${fact}, ${quote}, ${source}, ${mission_id})
    returning id`
  const id = made?.id ?? ''
  if (lead_id) {
    const details = { evidence_id: id, source }
    await recordActivity(sql, { project_id, lead_id, kind: 'evidence', details })
  }
  return id
}

/** The e-mail is another lead's; the API answers 409 with that lead. */
export class KnownEmail extends Error {
  readonly lead_id: string
  constructor(lead_id: string) {
    super('Another lead of this project has this e-mail.')
    this.lead_id = lead_id
  }
}

/** The fields that people, files and agents fill in, in the order of an export. */
export const CHANGEABLE = LeadChange.keyof().options
type Columns = Pick<Lead, (typeof CHANGEABLE)[number]> & { domain: string | null }

/** An empty lead. */
export const EMPTY: Columns = {
  name: null,
  email: null,
  company: null,
  title: null,
  phone: null,
  website: null,
  country: null,
  stage: 'new',
  source: null,
  lawful_basis: null,
  score: null,
  tags: [],
  domain: null,
}

/** columnsOf turns empty texts into null, names each tag once and finds the domain. */
export function columnsOf(lead: Columns | (Columns & LeadChange)): Columns {
  const text = (value: string | null) => value || null
  return {
    name: text(lead.name),
    email: text(lead.email),
    company: text(lead.company),
    title: text(lead.title),
    phone: text(lead.phone),
    website: text(lead.website),
    country: text(lead.country),
    stage: lead.stage,
    source: text(lead.source),
    lawful_basis: lead.lawful_basis,
    score: lead.score,
    tags: [...new Set(lead.tags)],
    domain: domainOf(lead),
  }
}

type Row = Columns & { id: string; project_id: string }

async function lockLead(sql: Sql, id: string): Promise<Row> {
  const [row] = await sql<Row>`
    select id, project_id, name, email, company, title, phone, website, country, stage, source,
      lawful_basis, score, tags, domain
    from hub.leads
    where id = ${id}
    for update`
  if (!row) throw new ApiError('not_found', 'There is no such lead.')
  return row
}
