import { ApiError, invalid } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { stopSequences } from '../mail/sequences/stop.ts'
import {
  domainOf,
  isIdentified,
  type Lead,
  LeadChange,
  type NewLead,
  type OwnValues,
} from './lead.ts'
import { leadsText } from './leads.text.ts'
import { keepOwnFacts, ownValues } from './own-fields.ts'
import { recordActivity } from './timeline.ts'

/**
 * A lead's columns as `Lead` has them, over `hub.leads as lead` joined with `hub.projects as
 * project`.
 */
export const leadColumns = raw(`
  lead.id, project.slug as project, lead.name, lead.email, lead.company, lead.title, lead.phone,
  lead.website, lead.country, lead.language, lead.stage, lead.source, lead.lawful_basis, lead.score,
  lead.tags,
  lead.amount::float8 as amount, lead.currency, lead.close_on, lead.next_step, lead.outcome_reason,
  lead.outcome_note, lead.closed_at, lead.basis_note, lead.basis_source, lead.basis_on, lead.custom,
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
  const custom = await ownValues(sql, project_id, { before: {}, change: data.custom ?? {} })
  const lead = columnsOf({ ...EMPTY, ...data, custom })
  requireDeal(lead)
  for (;;) {
    const [made] = await sql<{ id: string }>`
      insert into hub.leads (project_id, ${FIELD_COLUMNS})
      select ${project_id}, ${FIELD_COLUMNS}
      from jsonb_to_record(${JSON.stringify(lead)}) as given (${FIELD_TYPES})
      on conflict (project_id, email_key) do nothing
      returning id`
    if (made) {
      await keepOwnFacts(sql, [made.id])
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
  const custom = await ownValues(sql, before.project_id, {
    before: before.custom,
    change: change.custom ?? {},
  })
  const lead = columnsOf({ ...before, ...change, custom })
  if (lead.stage !== before.stage) {
    // What the last outcome said does not hold for another one.
    lead.outcome_reason = change.outcome_reason || null
    lead.outcome_note = change.outcome_note || null
  }
  // An import of an earlier release may have left a reason on an open deal; all else can still be changed.
  const isAsBefore = (['stage', 'outcome_reason', 'outcome_note'] as const).every(
    (field) => lead[field] === before[field],
  )
  requireDeal(isAsBefore ? { ...lead, outcome_reason: null, outcome_note: null } : lead)
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
    set (${FIELD_COLUMNS}, updated_at) = (
      select ${FIELD_COLUMNS}, now()
      from jsonb_to_record(${JSON.stringify(lead)}) as given (${FIELD_TYPES})
    )
    where id = ${id}`
  if (lead.stage !== before.stage && (lead.outcome_reason || lead.outcome_note)) {
    // The trigger of the stage takes a reason that is the same as before for that of the last outcome.
    await sql`
      update hub.leads
      set outcome_reason = ${lead.outcome_reason}, outcome_note = ${lead.outcome_note}
      where id = ${id}`
  }
  if (fields.includes('custom')) await keepOwnFacts(sql, [id])
  const { project_id } = before
  if (lead.stage !== before.stage) {
    const { outcome_reason: reason } = lead
    const details = { from: before.stage, to: lead.stage, ...(reason ? { reason } : {}) }
    await recordActivity(sql, { project_id, lead_id: id, kind: 'stage', details })
    // Whoever is that far is being talked to: no mail may run into it.
    if (BEYOND_MAILS.includes(lead.stage)) {
      await stopSequences(sql, { project_id, lead_id: id }, 'stage')
    }
  }
  const told = lead.stage === before.stage ? [] : ['stage', 'outcome_reason', 'outcome_note']
  const others = fields.filter((field) => !told.includes(field))
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

/** The stages at which sequences of mails stop. */
const BEYOND_MAILS: Lead['stage'][] = ['replied', 'meeting', 'proposal', 'won', 'lost']

/** The fields that people, files and agents fill in, in the order of an export. */
export const CHANGEABLE = LeadChange.keyof().options
type Columns = Pick<Lead, (typeof CHANGEABLE)[number]> & { domain: string | null }

/** The columns that a lead's fields fill, and their types as a record has them. */
export const FIELD_COLUMNS = raw(`
  name, email, company, title, phone, website, country, language, stage, source, lawful_basis, score,
  tags,
  amount, currency, close_on, next_step, outcome_reason, outcome_note, basis_note, basis_source,
  basis_on, custom, domain`)
export const FIELD_TYPES = raw(`
  name text, email text, company text, title text, phone text, website text, country text,
  language text, stage text, source text, lawful_basis text, score int, tags text[], amount numeric, currency text,
  close_on date, next_step text, outcome_reason text, outcome_note text, basis_note text,
  basis_source text, basis_on date, custom jsonb, domain text`)

/** An empty lead. */
export const EMPTY: Columns = {
  name: null,
  email: null,
  company: null,
  title: null,
  phone: null,
  website: null,
  country: null,
  language: null,
  stage: 'new',
  source: null,
  lawful_basis: null,
  score: null,
  tags: [],
  amount: null,
  currency: null,
  close_on: null,
  next_step: null,
  outcome_reason: null,
  outcome_note: null,
  basis_note: null,
  basis_source: null,
  basis_on: null,
  custom: {},
  domain: null,
}

/** columnsOf turns empty texts into null, names each tag once and finds the domain. */
export function columnsOf(
  lead: Omit<Columns, 'custom'> & Partial<Omit<LeadChange, 'custom'>> & { custom: OwnValues },
): Columns {
  const text = (value: string | null) => value || null
  const custom = Object.entries(lead.custom).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== null && entry[1] !== '',
  )
  return {
    name: text(lead.name),
    email: text(lead.email),
    company: text(lead.company),
    title: text(lead.title),
    phone: text(lead.phone),
    website: text(lead.website),
    country: text(lead.country),
    language: text(lead.language),
    stage: lead.stage,
    source: text(lead.source),
    lawful_basis: lead.lawful_basis,
    score: lead.score,
    tags: [...new Set(lead.tags)],
    amount: lead.amount,
    currency: text(lead.currency),
    close_on: lead.close_on,
    next_step: text(lead.next_step),
    outcome_reason: text(lead.outcome_reason),
    outcome_note: text(lead.outcome_note),
    basis_note: text(lead.basis_note),
    basis_source: text(lead.basis_source),
    basis_on: lead.basis_on,
    custom: Object.fromEntries(custom.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    domain: domainOf(lead),
  }
}

/** Refuses an amount without its currency, and an outcome of a deal that is still open. */
export function requireDeal(lead: Columns): void {
  const say = bilingual(leadsText)
  const issues: { path: string; code: string; message: Words }[] = []
  if (lead.amount !== null && lead.currency === null) {
    issues.push({ path: 'currency', code: 'required', message: say.no_currency })
  }
  if (lead.stage !== 'won' && lead.stage !== 'lost') {
    for (const path of ['outcome_reason', 'outcome_note'] as const) {
      if (lead[path]) issues.push({ path, code: 'not_closed', message: say.not_closed })
    }
  }
  if (issues.length > 0) throw invalid(issues)
}

/** The same columns as JavaScript reads them: an amount as a number. */
export const READ_COLUMNS = raw(`
  name, email, company, title, phone, website, country, language, stage, source, lawful_basis, score,
  tags,
  amount::float8 as amount, currency, close_on, next_step, outcome_reason, outcome_note, basis_note,
  basis_source, basis_on, custom, domain`)

type Row = Columns & { id: string; project_id: string }

async function lockLead(sql: Sql, id: string): Promise<Row> {
  const [row] = await sql<Row>`
    select id, project_id, ${READ_COLUMNS}
    from hub.leads
    where id = ${id}
    for update`
  if (!row) throw new ApiError('not_found', 'There is no such lead.')
  return row
}
