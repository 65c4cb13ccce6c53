import { z } from 'zod'
import { failureOf } from '../i18n/failure.ts'
import { bilingual, isWords, type Language, type Words } from '../i18n/words.ts'
import { fenced, heading, plain, table } from '../projects/markdown.ts'
import { type Agent, COMMON, MissionFailure, type Result } from './agent.ts'
import { stopText } from './stop.text.ts'
import { saveDocument } from './writing.ts'

const say = bilingual(stopText)

const Question = z.object({
  title: z.string().min(3).max(100),
  sql: z.string().min(8).max(900),
  chart: z.enum(['none', 'bar', 'line']),
})

/** What the data agent's queries can see, as `{{tables}}` in its prompt. */
const TABLES = `leads(id, project_id, name, email, company, title, phone, website, country, stage, source, lawful_basis, score, tags text[], domain, created_at)
  stage is one of new, contacted, replied, meeting, proposal, won, lost
evidence(id, lead_id, fact, quote, source, mission_id, created_at)
notes(lead_id, text, created_at)
tasks(lead_id, title, due_on, done_at, created_at)
activities(lead_id, kind, details jsonb, at)
  kind is one of created, imported, edited, stage, tagged, moved, note, task, task_done, evidence, draft, approved, sent, opened, clicked, replied, bounced, unsubscribed
drafts(id, audience jsonb, template, language, subject, state, agent, mission_id, created_at, updated_at)
  state is one of draft, rendered, approved, pushed, sending, sent, unclear, rejected, failed
recipients(draft_id, lead_id, email, state, sent_at, opened_at, clicked_at, bounced_at, replied_at, unsubscribed_at)
missions(id, department, routed_by, task, status, reason, tokens, created_at, started_at, finished_at)
  reason is jsonb in two languages: read it as reason ->> 'en' or reason ->> 'tr'`

const WORDS = {
  rows: { en: '{n} rows', tr: '{n} satır' },
  cut: { en: 'the first {n} rows', tr: 'ilk {n} satır' },
  query: { en: 'Query', tr: 'Sorgu' },
  none: { en: 'No rows.', tr: 'Satır yok.' },
} satisfies Record<string, Words>

type Answer = Awaited<ReturnType<Parameters<Agent['steps']>[0]['query']>>
type Tried = { answer: Answer } | { error: Words }

/** Answers with read-only SQL; stores the query, its table and a chart. */
export const data: Agent = {
  name: 'data',
  role: {
    en: 'Numbers, reports and charts from your data',
    tr: 'Verinizden sayılar, raporlar ve grafikler',
  },
  variables: { ...COMMON, tables: () => TABLES },
  budget: { steps: 8, tokens: 20_000 },
  steps: async (context) => {
    context.expect(4)
    const { language } = context
    const ask = (name: 'query' | 'query again', before?: { sql: string; error: Words }) =>
      context.complete(name, {
        schema: Question,
        facts: before
          ? [{ label: 'the query that failed', text: `${before.sql}\n${before.error.en}` }]
          : [],
        task: before
          ? 'The query failed. Write it again without that mistake.'
          : 'Write one select statement that answers the question, its columns named for a reader, the label first and the number last. Say whether a bar or a line chart (for times) shows it.',
        check: ({ sql }) => refusal(sql),
        if_wrong: 'keep',
      })
    const run = (name: 'rows' | 'rows again', sql: string): Promise<Tried> =>
      context.outside(name, async () => {
        const refused = refusal(sql)
        if (refused) return { error: refused }
        return context.query(sql).then(
          (answer) => ({ answer }),
          (error: unknown) => ({
            error: failureOf(error),
          }),
        )
      })
    let asked = await ask('query')
    let tried = await run('rows', asked.sql)
    if ('error' in tried) {
      asked = await ask('query again', { sql: asked.sql, error: tried.error })
      tried = await run('rows again', asked.sql)
    }
    if ('error' in tried) {
      const { error } = tried
      const { sql } = asked
      throw new MissionFailure(say.query_failed(error, sql))
    }
    const { columns, rows, is_cut } = tried.answer
    const cells = rows.map((row) => row.map((value) => cell(value, language)))
    const chart = chartOf(asked.chart, columns, cells)
    const count = WORDS[is_cut ? 'cut' : 'rows'][language].replace('{n}', String(rows.length))
    const document = await context.outside('document', () =>
      saveDocument(context, {
        agent: 'data',
        title: asked.title,
        blocks: [
          plain(count),
          rows.length > 0 ? table(columns, cells) : plain(WORDS.none[language]),
          heading(2, WORDS.query[language]),
          fenced(asked.sql, 'sql'),
        ],
      }),
    )
    return {
      summary: `${asked.title}: ${count}`,
      documents: [document],
      table: { columns, rows: cells },
      sql: asked.sql,
      ...(chart ? { chart } : {}),
    }
  },
}

/** Refuses what Postgres would refuse too, with a sentence that the model can use. */
function refusal(sql: string): Words | undefined {
  const text = sql.trim().replace(/;\s*$/, '')
  if (!/^(select|with|values)\b/i.test(text)) return say.one_select
  if (/;/.test(text.replace(/'(?:[^']|'')*'/g, ''))) return say.one_statement
  return undefined
}

type Cell = string | number | boolean | null

function cell(value: unknown, language: Language): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.slice(0, 500)
  if (value instanceof Date) return value.toISOString()
  // The hub's own texts are stored in both languages.
  if (isWords(value)) return value[language]
  return JSON.stringify(value).slice(0, 500)
}

/** A chart needs a label and a number; Postgres returns numbers that may be large as text. */
function chartOf(
  kind: 'none' | 'bar' | 'line',
  columns: string[],
  rows: Cell[][],
): Result['chart'] {
  if (kind === 'none' || rows.length < 2 || rows.length > 100) return undefined
  const isNumber = (index: number) =>
    rows.every(
      (row) => row[index] !== null && row[index] !== '' && Number.isFinite(Number(row[index])),
    )
  const y = columns.findLastIndex((_, index) => isNumber(index))
  const x = columns.findIndex((_, index) => index !== y)
  if (x < 0 || y < 0) return undefined
  return { kind, x: columns[x] ?? '', y: columns[y] ?? '' }
}
