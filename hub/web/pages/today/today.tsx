import { useQuery } from '@tanstack/react-query'
import { Coffee } from 'lucide-react'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { buttonClass } from '../../../../web/ui/button.tsx'
import { DayBars, NamedBars } from '../../../../web/ui/chart.tsx'
import { localeOf, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Empty, Skeleton, SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { useIsAdmin } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { kpiQuery } from '../kpi.ts'
import { today } from '../leads/lead-tasks.tsx'
import { leadsText } from '../leads/leads.text.ts'
import { STAGES, StageMark } from '../leads/stage.tsx'
import { ActionList } from './action-list.tsx'
import { isForAdmins } from './actions.ts'
import { todayText } from './today.text.ts'

/** What happened today, what to do next, and the state of the project. */
export function Today() {
  const text = useText(todayText)
  const language = useLanguage()
  const { slug } = useProject()
  const query = useQuery({
    queryKey: ['today', slug],
    queryFn: () =>
      ok(api.GET('/api/cockpit/today_summary', { params: { query: { project: slug } } })),
    refetchInterval: 60_000,
  })
  const isAdmin = useIsAdmin()
  const all = query.data?.next_actions ?? []
  const actions = isAdmin === false ? all.filter((action) => !isForAdmins(action)) : all
  const date = new Intl.DateTimeFormat(localeOf(language), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
  }).format(new Date())
  return (
    <Page title={text.title} detail={<time dateTime={today()}>{date}</time>}>
      <div className="grid max-w-7xl grid-cols-1 gap-x-12 gap-y-8 px-4 py-6 md:px-6 @4xl:grid-cols-[minmax(0,1.35fr)_minmax(0,1fr)]">
        <div className="@4xl:col-span-2">
          <Tiles summary={query.data} />
        </div>
        <section aria-labelledby="next">
          <h2 id="next" className="mb-1 text-sm text-muted">
            {text.next}
          </h2>
          {query.isPending ? (
            <SkeletonRows rows={5} />
          ) : hasFailed(query) ? (
            <FailedQuery error={query.error} onRetry={() => query.refetch()} />
          ) : actions.length === 0 ? (
            <Empty
              className="py-10!"
              picture={<Coffee size={24} strokeWidth={1.5} aria-hidden />}
              title={text.nothing.title}
              text={text.nothing.text}
              action={
                <Link href={`/p/${slug}/leads`} className={buttonClass()}>
                  {text.nothing.action}
                </Link>
              }
            />
          ) : (
            <ActionList actions={actions} />
          )}
        </section>
        <Pictures />
      </div>
    </Page>
  )
}

function Tiles({ summary }: { summary: Schemas['TodaySummary'] | undefined }) {
  const { tiles: text } = useText(todayText)
  const language = useLanguage()
  const tiles: [string, number | undefined, string?][] = [
    [text.new_leads, summary?.new_leads],
    [text.drafts_waiting, summary?.drafts_waiting],
    [text.approved, summary?.approved],
    [text.sent, summary?.sent],
    [
      text.missions,
      summary?.missions.done,
      summary && summary.missions.failed > 0 ? text.failed(summary.missions.failed) : undefined,
    ],
  ]
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-panel border border-line bg-line @2xl:grid-cols-5">
      {tiles.map(([label, value, detail]) => (
        <div
          key={label}
          className="flex flex-col-reverse justify-end bg-surface px-4 py-3 @max-2xl:last:col-span-2"
        >
          <dt className="text-sm text-muted text-balance">{label}</dt>
          <dd className="flex items-baseline gap-2 text-2xl font-semibold" data-numbers>
            {value === undefined ? <Skeleton className="my-4 w-8" /> : number(language, value)}
            {detail ? <span className="text-sm font-normal text-bad">{detail}</span> : null}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Pictures() {
  const text = useText(todayText)
  const { stages } = useText(leadsText)
  const { slug } = useProject()
  const query = useQuery(kpiQuery(slug))
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  if (query.isPending) return <SkeletonRows rows={5} />
  const { leads, by_day } = query.data
  return (
    <div className="flex flex-col gap-8">
      <section>
        <h2 className="mb-3 text-sm text-muted">{text.pipeline}</h2>
        <NamedBars
          label={text.pipeline_label}
          rows={STAGES.map((stage) => ({
            key: stage,
            value: leads.by_stage[stage],
            colour: `var(--stage-${stage})`,
            label: (
              <>
                <StageMark stage={stage} />
                <span className="truncate">{stages[stage]}</span>
              </>
            ),
          }))}
        />
      </section>
      <section>
        <h2 className="mb-3 text-sm text-muted">{text.new_leads}</h2>
        <DayBars
          label={text.new_leads}
          days={by_day.map(({ day, leads }) => ({ day, value: leads }))}
        />
      </section>
    </div>
  )
}
