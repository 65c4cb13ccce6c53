import { z } from 'zod'
import { failureOf } from '../i18n/failure.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { fenced, heading, plain, table } from '../projects/markdown.ts'
import { type Agent, type AgentContext, COMMON, MissionFailure, type Result } from './agent.ts'
import { answerText } from './numbers/answer.text.ts'
import { answerOf, figure } from './numbers/answer.ts'
import { knownText } from './numbers/known.text.ts'
import { followUps, type KnownName, knownAnswer, knownQuestion, knownSql } from './numbers/known.ts'
import { chartOf, shownTable } from './numbers/shown.ts'
import { TABLES, tablesIn } from './numbers/tables.ts'
import { stopText } from './stop.text.ts'
import { saveDocument } from './writing.ts'

const say = bilingual(stopText)

const Question = z.object({
  title: z.string().min(3).max(100),
  sql: z.string().min(8).max(900),
  chart: z.enum(['none', 'bar', 'line']),
})

type Answer = Awaited<ReturnType<AgentContext['query']>>
type Tried = { answer: Answer } | { error: Words }
type Asked = { title: string; sql: string; is_chart: boolean; name?: KnownName }

/**
 * Answers in words with the figure, by read-only SQL; stores the query, its table and a chart.
 * Questions that need no model are answered without one.
 */
export const data: Agent = {
  name: 'data',
  role: {
    en: 'Numbers, reports and charts from your data',
    tr: 'Verinizden sayılar, raporlar ve grafikler',
  },
  variables: { ...COMMON, tables: () => TABLES },
  budget: { steps: 8, tokens: 20_000 },
  steps: async (context) => {
    const name = knownQuestion(context.mission.task, context.language)
    context.expect(name ? 2 : 4)
    return name ? answerKnown(context, name) : answerAny(context)
  },
}

async function answerKnown(context: AgentContext, name: KnownName): Promise<Result> {
  const { language } = context
  const sql = knownSql(name, language)
  const answer = await context.outside('rows', () => context.query(sql))
  const title = knownText[language][name].ask
  return tell(context, { title, sql, is_chart: true, name }, answer)
}

async function answerAny(context: AgentContext): Promise<Result> {
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
    throw new MissionFailure(say.query_failed(tried.error, asked.sql))
  }
  return tell(context, { ...asked, is_chart: asked.chart !== 'none' }, tried.answer)
}

/** What was found: in words, as a table, and as a chart where one fits. */
async function tell(context: AgentContext, asked: Asked, answer: Answer): Promise<Result> {
  const { language } = context
  const { title, sql, name } = asked
  const { is_cut } = answer
  const text = answerText[language]
  const shown = shownTable(answer.columns, answer.rows, language)
  const chart = asked.is_chart ? chartOf(shown) : undefined
  const summary = name
    ? knownAnswer(name, shown, language)
    : answerOf(shown, { title, sql, is_cut, language })
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'data',
      title,
      blocks: [
        plain(summary),
        heading(2, text.table),
        shown.rows.length > 0 ? table(shown.columns, shown.rows) : plain(text.no_rows),
        is_cut && plain(text.first_rows(figure(shown.rows.length, language))),
        heading(2, text.query),
        fenced(sql, 'sql'),
      ],
    }),
  )
  return {
    summary,
    documents: [document],
    table: shown,
    sql,
    ...(chart ? { chart } : {}),
    follow_ups: followUps({ name, tables: tablesIn(sql) }, language),
  }
}

/** Refuses what Postgres would refuse too, with a sentence that the model can use. */
function refusal(sql: string): Words | undefined {
  const text = sql.trim().replace(/;\s*$/, '')
  if (!/^(select|with|values)\b/i.test(text)) return say.one_select
  if (/;/.test(text.replace(/'(?:[^']|'')*'/g, ''))) return say.one_statement
  return undefined
}
