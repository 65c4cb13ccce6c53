import { z } from 'zod'
import { bilingual } from '../../i18n/words.ts'
import { type FoundLead, storeFound } from '../../leads/found-leads.ts'
import { factColumns, factOfCell, MAX_FACT_COLUMNS } from '../../leads/import-facts.ts'
import { factOf, type Mapping, quoteOf, readRow } from '../../leads/import-row.ts'
import { languageSaid } from '../../leads/languages.ts'
import { NewLead } from '../../leads/lead.ts'
import { MAX_QUOTE } from '../../leads/shorten.ts'
import type { AgentContext, Fact } from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import { isUsable, readSheet, type Sheet } from '../numbers/columns.ts'
import { factName } from '../run/fact-names.ts'
import { mentions, one } from '../run/facts.ts'
import { MAIL_ADDRESS } from '../run/mail-address.ts'
import type { StepName } from '../step-names.ts'
import { SOURCES } from './given.ts'
import { stands } from './quote.ts'

const told = bilingual(leftOutText)

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
  lead: NewLead
  facts: { fact: string; quote: string }[]
  source: string
}

/** The rows of one transaction. */
const BATCH = 100
const MAX_ROWS = 5000

/**
 * extractFrom reads leads from a table with code, and from any other text with the model and code.
 */
export async function extractFrom(
  context: AgentContext,
  text: Fact,
  number: string,
): Promise<Tally> {
  const sheet = await readSheet(text.text, MAX_ROWS + 1)
  if (sheet) {
    if (sheet.rows.length > MAX_ROWS) context.leaveOut(told.rows(factName(text.label), MAX_ROWS))
    const mapping = isUsable(sheet.mapping)
      ? sheet.mapping
      : await askColumns(context, number, sheet)
    if (isUsable(mapping)) return rows(context, text.label, number, { ...sheet, mapping })
  }
  return prose(context, text, number)
}

const ASKED = [
  'name',
  'email',
  'company',
  'title',
  'phone',
  'website',
  'country',
  'language',
] as const

async function askColumns(
  context: AgentContext,
  number: string,
  { columns, rows }: Sheet,
): Promise<Mapping> {
  // By number, because a header is untrusted text, and the form of the answer must not depend on
  // data.
  const numbers = columns.slice(0, 20).map((_, index) => String(index + 1))
  const names = numbers.map((at, index) => `${at} ${one(columns[index], 40)}`)
  const sample = rows.slice(0, 3).map((row) => row.map((cell) => one(cell, 60)).join(' | '))
  const answer = await context.complete(`columns ${number}`, {
    schema: z.object({
      columns: z
        .array(
          z.object({
            column: z.enum(numbers as [string, ...string[]]), // safe: a sheet has columns
            field: z.enum(['none', ...ASKED]),
          }),
        )
        .max(names.length),
    }),
    facts: [{ label: 'first rows', text: [names.join(' | '), ...sample].join('\n') }],
    task: 'Say by its number which column holds which field of a lead. A column that holds none is "none".',
  })
  const mapping: Mapping = {}
  for (const { column, field } of answer.columns) {
    if (field !== 'none') mapping[field] ??= columns[Number(column) - 1] ?? ''
  }
  return mapping
}

async function rows(
  context: AgentContext,
  label: string,
  number: string,
  { columns, rows, mapping }: Sheet,
): Promise<Tally> {
  // A note has no field of a lead: it is a fact, too.
  const { note: _, ...fields } = mapping
  const { kept, over } = factColumns(columns, fields)
  if (over.length > 0) {
    context.leaveOut(told.columns(factName(label), MAX_FACT_COLUMNS, over.join(', ')))
  }
  let skipped = 0
  const candidates = rows.slice(0, MAX_ROWS).flatMap((cells, index): Candidate[] => {
    const { row, mistakes } = readRow(cells, { columns, mapping })
    if (mistakes.length > 0) {
      skipped += 1
      return []
    }
    const source = `${label}:${index + 2}`
    const found = kept.flatMap((column) => {
      const cell = cells[columns.indexOf(column)] ?? ''
      const made = factOfCell(column, cell)
      return made ? [{ fact: made.fact, quote: made.quote ?? one(cell, MAX_QUOTE) }] : []
    })
    const whole = { fact: factOf(row.lead, mapping), quote: quoteOf(columns, cells).quote }
    return [{ lead: row.lead, facts: [whole, ...found], source }]
  })
  const tallies: Tally[] = [{ ...NOTHING, skipped }]
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

const SAID = ['name', 'company', 'email', 'title', 'website', 'country'] as const
const CHUNK = 2000
const MAX_CHUNKS = 12
const ADDRESS = new RegExp(MAIL_ADDRESS, 'gu')

async function prose(context: AgentContext, given: Fact, number: string): Promise<Tally> {
  const tallies: Tally[] = []
  const all = chunks(given.text)
  const parts = all.slice(0, MAX_CHUNKS)
  if (all.length > parts.length) {
    context.leaveOut(told.parts(factName(given.label), parts.length, all.length))
  }
  context.expect(4 + parts.length * 2)
  for (const [index, part] of parts.entries()) {
    const name = `${number}.${index + 1}`
    const source = SOURCES.part[context.language]
      .replace('{x}', () => given.label)
      .replace('{n}', String(index + 1))
    const { leads } = await context.complete(`leads ${name}`, {
      schema: Found,
      facts: [{ label: source, text: part }],
      task: 'List the people and companies of this text that could be leads, at most four: each field as it is written there, null where it is not, and the words of the text that name it as a quote.',
    })
    const candidates = leads.map((lead): Candidate => {
      const fields: Partial<Record<(typeof SAID)[number], string>> = {}
      for (const field of SAID) {
        const value = lead[field]
        if (value && isSaid(part, field, value)) fields[field] = value.trim()
      }
      const facts = stands(part, lead.quote)
        ? [{ fact: one(lead.quote), quote: one(lead.quote) }]
        : []
      return { lead: fields, facts, source }
    })
    // An address is never lost, even if the model has overlooked it.
    const seen = new Set(candidates.map(({ lead }) => lead.email?.toLowerCase()))
    for (const address of new Set(part.match(ADDRESS) ?? [])) {
      if (!seen.has(address.toLowerCase()))
        candidates.push({ lead: { email: address }, facts: [], source })
    }
    for (const { lead, facts } of candidates) {
      const key = lead.email ?? lead.company ?? lead.name
      const line =
        key && part.split('\n').find((row) => row.toLowerCase().includes(key.toLowerCase()))
      const language = languageIn(
        line ?? '',
        namesOf(lead),
        candidates.map(({ lead }) => lead),
      )
      if (language) lead.language = language
      if (facts.length === 0 && line) facts.push({ fact: one(line, 400), quote: one(line, 400) })
    }
    tallies.push(await store(context, `store ${name}`, candidates))
  }
  return sumOf(tallies)
}

const namesOf = ({ name, company, email }: NewLead) =>
  [name, company, email].flatMap((one) => one ?? [])

/**
 * The language that a line says of a lead, as in "Olga, speaks Polish": in a sentence that names this
 * lead and none of the others that were found.
 */
function languageIn(line: string, own: string[], all: NewLead[]): string | undefined {
  const others = all.flatMap(namesOf).filter((one) => !own.includes(one))
  const sentences = line.split(/(?<=[.!?;])\s+/).filter((sentence) => {
    const names = (one: string) => sentence.toLowerCase().includes(one.toLowerCase())
    return own.some(names) && !others.some(names)
  })
  return sentences.map(languageSaid).find((one) => one !== undefined)
}

/** What would make another address of one that was cut: "demir.co" does not stand in "demir.com". */
const GOES_ON = /^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u
const BEGAN = { email: /[\p{L}\p{N}._%+-]$/u, website: /[\p{L}\p{N}_-]$/u }

/** A value that does not occur in the text was invented. */
function isSaid(part: string, field: string, value: string): boolean {
  if (field !== 'email' && field !== 'website') return mentions(part, value)
  const wanted = value.trim().toLowerCase()
  if (wanted === '') return false
  const [first = '', ...rest] = part.toLowerCase().split(wanted)
  let before = first
  for (const after of rest) {
    if (!BEGAN[field].test(before) && !GOES_ON.test(after)) return true
    before = after
  }
  return false
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
  return [...parts, part].filter((each) => each.trim() !== '')
}

function store(context: AgentContext, name: StepName, candidates: Candidate[]): Promise<Tally> {
  const { project, mission } = context
  const found = candidates.flatMap(({ lead, facts, source }): FoundLead[] => {
    const parsed = NewLead.safeParse({ ...lead, source: lead.source ?? one(source, 200) })
    if (!parsed.success || facts.length === 0) return []
    const short = facts.map(({ fact, quote }) => ({
      fact: one(fact, 1000),
      quote: one(quote, MAX_QUOTE),
    }))
    return [{ lead: parsed.data, facts: short, source: one(source, 500) }]
  })
  return context.step(name, async (sql) => {
    const of = { project_id: project.id, mission_id: mission.id }
    const stored = await storeFound(sql, of, found)
    const fresh = stored.filter(({ is_new }) => is_new).length
    return {
      found: fresh,
      known: stored.length - fresh,
      skipped: candidates.length - found.length,
      ids: stored.map(({ id }) => id),
    }
  })
}
