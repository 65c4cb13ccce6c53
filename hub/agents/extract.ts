import { z } from 'zod'
import { NewLead } from '../lead.ts'
import { addEvidence, createLead } from '../leads.ts'
import type { AgentContext, Fact } from './agent.ts'
import { FIELDS, type Field, guessFields, isUsable, readSheet, type Sheet } from './columns.ts'
import { mentions, one } from './facts.ts'
import { stands } from './quote.ts'

export type Tally = { found: number; known: number; skipped: number; ids: string[] }
const NOTHING: Tally = { found: 0, known: 0, skipped: 0, ids: [] }

export const sumOf = (tallies: Tally[]): Tally =>
  tallies.reduce(
    (sum, tally) => ({
      found: sum.found + tally.found,
      known: sum.known + tally.known,
      skipped: sum.skipped + tally.skipped,
      ids: [...sum.ids, ...tally.ids],
    }),
    NOTHING,
  )

type Candidate = {
  lead: Record<string, string>
  facts: { fact: string; quote: string }[]
  source: string
}

/** Rows of one transaction. */
const BATCH = 100
const MOST_ROWS = 5000
const MOST_FACTS = 6

/** extractFrom makes leads of a table by code, and of any other text by the model and code. */
export async function extractFrom(
  context: AgentContext,
  text: Fact,
  number: string,
): Promise<Tally> {
  const sheet = readSheet(text.text)
  if (sheet) {
    const fields = guessFields(sheet.headers)
    if (isUsable(fields)) return rows(context, text.label, number, sheet, fields)
    const asked = await askColumns(context, number, sheet)
    if (isUsable(asked)) return rows(context, text.label, number, sheet, asked)
  }
  return prose(context, text, number)
}

async function askColumns(
  context: AgentContext,
  number: string,
  { headers, rows }: Sheet,
): Promise<Map<Field, number>> {
  const names = headers.slice(0, 20).map((header, index) => `${index + 1} ${header}`.trim())
  const sample = rows.slice(0, 3).map(({ cells }) => cells.map((cell) => one(cell, 60)).join(' | '))
  const { columns } = await context.complete(`columns ${number}`, {
    schema: z.object({
      columns: z
        .array(
          z.object({
            column: z.enum(names as [string, ...string[]]), // safe: a sheet has headers
            field: z.enum(['none', ...FIELDS]),
          }),
        )
        .max(names.length),
    }),
    facts: [{ label: 'first rows', text: [names.join(' | '), ...sample].join('\n') }],
    task: 'Say which column holds which field of a lead. A column that holds none is "none".',
  })
  const found = new Map<Field, number>()
  for (const { column, field } of columns) {
    if (field !== 'none' && !found.has(field)) found.set(field, names.indexOf(column))
  }
  return found
}

async function rows(
  context: AgentContext,
  label: string,
  number: string,
  sheet: Sheet,
  fields: Map<Field, number>,
): Promise<Tally> {
  const candidates = sheet.rows.slice(0, MOST_ROWS).map(({ line, cells }): Candidate => {
    const lead: Record<string, string> = {}
    for (const [field, at] of fields) {
      const value = (cells[at] ?? '').trim()
      if (value !== '') lead[field] = value
    }
    const others = sheet.headers.flatMap((header, at) => {
      const value = one(cells[at], 400)
      const isField = [...fields.values()].includes(at)
      return value === '' || isField ? [] : [{ fact: `${header}: ${value}`, quote: value }]
    })
    const base = [lead.name, lead.title, lead.company, lead.country].filter(Boolean).join(', ')
    const known = base === '' ? [] : [{ fact: one(base), quote: one(cells.join(' | '), 500) }]
    return {
      lead,
      facts: [...known, ...others].slice(0, MOST_FACTS),
      source: `${label}, row ${line}`,
    }
  })
  const tallies: Tally[] = []
  for (let at = 0; at < candidates.length; at += BATCH) {
    tallies.push(await store(context, `rows ${number}.${at + 1}`, candidates.slice(at, at + BATCH)))
  }
  return sumOf(tallies)
}

const text = (max: number) => z.string().max(max).nullable()
const Found = z.object({
  leads: z
    .array(
      z.object({
        name: text(60),
        company: text(80),
        email: text(80),
        title: text(60),
        website: text(80),
        country: text(40),
        quote: z.string().max(160),
      }),
    )
    .max(4),
})

const CHUNK = 2000
const MOST_CHUNKS = 12
const ADDRESS = /[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/gi

async function prose(context: AgentContext, given: Fact, number: string): Promise<Tally> {
  const tallies: Tally[] = []
  const parts = chunks(given.text)
  context.expect(4 + parts.length * 2)
  for (const [index, part] of parts.entries()) {
    const name = `${number}.${index + 1}`
    const source = `${given.label}, part ${index + 1}`
    const { leads } = await context.complete(`leads ${name}`, {
      schema: Found,
      facts: [{ label: source, text: part }],
      task: 'List the people and companies of this text that could be leads, at most four: each field as it is written there, null where it is not, and the words of the text that name it as a quote.',
    })
    const candidates = leads.map((lead): Candidate => {
      const fields: Record<string, string> = {}
      for (const [field, value] of Object.entries(lead)) {
        if (field !== 'quote' && value && isSaid(part, field, value)) fields[field] = value.trim()
      }
      const facts = stands(part, lead.quote)
        ? [{ fact: one(lead.quote), quote: one(lead.quote) }]
        : []
      return { lead: fields, facts, source }
    })
    // An address is never lost, even where the model did not see it.
    const seen = new Set(candidates.map(({ lead }) => lead.email?.toLowerCase()))
    for (const address of new Set(part.match(ADDRESS) ?? [])) {
      if (!seen.has(address.toLowerCase()))
        candidates.push({ lead: { email: address }, facts: [], source })
    }
    for (const { lead, facts } of candidates) {
      const key = lead.email ?? lead.company ?? lead.name
      const line =
        key && part.split('\n').find((row) => row.toLowerCase().includes(key.toLowerCase()))
      if (facts.length === 0 && line) facts.push({ fact: one(line, 400), quote: one(line, 400) })
    }
    tallies.push(await store(context, `store ${name}`, candidates))
  }
  return sumOf(tallies)
}

/** A value that the text does not have is an invention. */
function isSaid(part: string, field: string, value: string): boolean {
  if (field === 'email' || field === 'website')
    return part.toLowerCase().includes(value.trim().toLowerCase())
  return mentions(part, value)
}

function chunks(whole: string): string[] {
  const parts: string[] = []
  let part = ''
  for (const paragraph of whole.split(/\n/)) {
    for (let at = 0; at <= paragraph.length; at += CHUNK) {
      const piece = paragraph.slice(at, at + CHUNK)
      if (part.length + piece.length > CHUNK && part !== '') {
        parts.push(part)
        part = ''
      }
      part += `${piece}\n`
    }
  }
  if (part.trim() !== '') parts.push(part)
  return parts.filter((each) => each.trim() !== '').slice(0, MOST_CHUNKS)
}

function store(context: AgentContext, name: string, candidates: Candidate[]): Promise<Tally> {
  const { project, mission } = context
  return context.step(name, async (sql) => {
    const tally: Tally = { found: 0, known: 0, skipped: 0, ids: [] }
    for (const { lead, facts, source } of candidates) {
      const parsed = NewLead.safeParse({ ...lead, source: one(source, 200) })
      if (!parsed.success || facts.length === 0) {
        tally.skipped += 1
        continue
      }
      const made = await createLead(sql, project.id, parsed.data, {
        kind: 'imported',
        details: { mission_id: mission.id },
      })
      if (made.is_new) tally.found += 1
      else tally.known += 1
      tally.ids.push(made.id)
      for (const { fact, quote } of facts) {
        await addEvidence(sql, {
          project_id: project.id,
          lead_id: made.id,
          fact: one(fact, 1000),
          quote: one(quote, 2000),
          source: one(source, 500),
          mission_id: mission.id,
        })
      }
    }
    return tally
  })
}
