import { useQuery } from '@tanstack/react-query'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { DayBars, NamedBars } from '../../../../web/ui/chart.tsx'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import type { Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { kpiQuery } from '../kpi.ts'
import { leadsText } from '../leads/leads.text.ts'
import { STAGES, StageMark } from '../leads/stage.tsx'
import { Card } from './card.tsx'
import { MoreNumbers } from './more-numbers.tsx'
import { numbersText } from './numbers.text.ts'
import { outcomesOf, replyRate } from './outcomes.ts'

const PERCENT: Intl.NumberFormatOptions = { style: 'percent', maximumFractionDigits: 1 }

/** The key figures of the project as charts. */
export function Numbers() {
  const text = useText(numbersText)
  const { slug } = useProject()
  const query = useQuery(kpiQuery(slug))
  return (
    <Page title={text.title} detail={text.detail}>
      {query.isPending ? (
        <SkeletonRows />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <Charts kpi={query.data} />
      )}
    </Page>
  )
}

function Charts({ kpi }: { kpi: Schemas['Kpi'] }) {
  const text = useText(numbersText)
  const { stages } = useText(leadsText)
  const language = useLanguage()
  const rate = replyRate(kpi.mail)
  const days = (key: 'leads' | 'sent' | 'replied' | 'missions') =>
    kpi.by_day.map((one) => ({ day: one.day, value: one[key] }))
  return (
    <div className="grid max-w-7xl gap-4 p-4 md:p-6 @3xl:grid-cols-2">
      <Card title={text.leads} total={kpi.leads.total}>
        <DayBars label={text.leads} days={days('leads')} />
      </Card>
      <Card title={text.pipeline}>
        <NamedBars
          label={text.pipeline}
          rows={STAGES.map((stage) => ({
            key: stage,
            value: kpi.leads.by_stage[stage],
            colour: `var(--stage-${stage})`,
            label: (
              <>
                <StageMark stage={stage} />
                <span className="truncate">{stages[stage]}</span>
              </>
            ),
          }))}
        />
      </Card>
      <Card title={text.sent} total={kpi.mail.sent}>
        {kpi.mail.sent > 0 ? (
          <DayBars label={text.sent} days={days('sent')} />
        ) : (
          <p className="text-muted text-pretty">{text.none_sent}</p>
        )}
      </Card>
      <Card title={text.mail}>
        <NamedBars
          label={text.mail}
          rows={outcomesOf(kpi.mail).map((key) => ({
            key,
            label: text.mail_rows[key],
            value: kpi.mail[key],
          }))}
        />
        {rate === undefined ? null : (
          <p className="mt-4 text-sm text-muted" data-numbers>
            {text.reply_rate(number(language, rate, PERCENT))}
          </p>
        )}
      </Card>
      <Card title={text.drafts}>
        <NamedBars label={text.drafts} rows={rows(text.draft_rows, kpi.drafts.by_state)} />
      </Card>
      <Card title={text.mission_states}>
        <NamedBars label={text.mission_states} rows={rows(text.mission_rows, kpi.missions)} />
      </Card>
      <MoreNumbers />
    </div>
  )
}

function rows<K extends string>(names: Record<K, string>, values: Record<K, number>) {
  return (Object.keys(names) as K[]).map((key) => ({ key, label: names[key], value: values[key] })) // safe: the keys of names
}
