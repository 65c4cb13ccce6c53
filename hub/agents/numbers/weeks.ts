import type { Sql } from '../../../shared/sql.ts'
import { bilingual, type Language } from '../../i18n/words.ts'
import { heading, table } from '../../projects/markdown.ts'
import type { Fact } from '../agent.ts'
import { figure } from './answer.ts'
import { weeksText } from './weeks.text.ts'

export const MEASURES = [
  'leads',
  'sent',
  'replied',
  'bounced',
  'unsubscribed',
  'edited',
  'rejected',
  'done',
  'failed',
] as const
type Measure = (typeof MEASURES)[number]

/** How often something happened in the last seven days, and in the seven days before. */
export type Weeks = Record<Measure, { now: number; before: number }>

/** weeksOf counts what happened in a project: seven days against the seven before, by SQL alone. */
export async function weeksOf(sql: Sql): Promise<Weeks> {
  const rows = await sql<{ measure: Measure; now: number; before: number }>`
    select measure,
      (count(*) filter (where at > now() - interval '7 days'))::int as now,
      (count(*) filter (where at <= now() - interval '7 days'))::int as before
    from (
      select 'leads', created_at from hub.leads
      union all select 'sent', sent_at from hub.recipients
      union all select 'replied', replied_at from hub.recipients
      union all select 'bounced', bounced_at from hub.recipients
      union all select 'unsubscribed', unsubscribed_at from hub.recipients
      union all select 'edited', edited_at from hub.drafts
      union all select 'rejected', updated_at from hub.drafts where state = 'rejected'
      union all select status, finished_at from hub.missions where status in ('done', 'failed')
    ) as happened (measure, at)
    where at > now() - interval '14 days' and at <= now()
    group by measure`
  const none = { now: 0, before: 0 }
  const found = new Map(rows.map(({ measure, now, before }) => [measure, { now, before }]))
  return Object.fromEntries(
    MEASURES.map((measure) => [measure, found.get(measure) ?? none]),
  ) as Weeks // safe: a value for each measure
}

/** The table of a report that compares the two weeks. */
export function weeksTable(weeks: Weeks, language: Language): string[] {
  const text = weeksText[language]
  const rows = MEASURES.map((measure) => {
    const { now, before } = weeks[measure]
    const change = now - before
    const sign = change > 0 ? '+' : ''
    return [
      text.measures[measure],
      figure(now, language),
      figure(before, language),
      `${sign}${figure(change, language)}`,
    ]
  })
  return [heading(2, text.title), table(text.columns.split('|'), rows, [1, 2, 3])]
}

/** The week in one sentence: what moved, compared with the week before. */
export function weeksSentence(weeks: Weeks, language: Language): string {
  const text = weeksText[language]
  const moved = MEASURES.filter((measure) => weeks[measure].now > 0 || weeks[measure].before > 0)
  if (moved.length === 0) return text.nothing
  const parts = moved.map((measure) => {
    const { now, before } = weeks[measure]
    return text.part(text.measures[measure], figure(now, language), figure(before, language))
  })
  return text.sentence(parts.join(', '))
}

/** The two weeks as a fact for the model. */
export function weeksFact(weeks: Weeks): Fact {
  const { measures } = bilingual(weeksText)
  return {
    label: 'the last 7 days, and the 7 days before',
    text: MEASURES.map((measure) => {
      const { now, before } = weeks[measure]
      return `${measures[measure].en}: ${now} (before: ${before})`
    }).join('\n'),
  }
}
