import { useQuery } from '@tanstack/react-query'
import { FailedQuery } from '../../../../web/shared/errors.tsx'
import { NamedBars } from '../../../../web/ui/chart.tsx'
import { duration, localeOf, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { day } from '../../../../web/ui/time.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { leadsText } from '../leads/leads.text.ts'
import { money } from '../leads/money.ts'
import { Card } from './card.tsx'
import { numbersText } from './numbers.text.ts'
import { SequenceNumbers } from './sequence-numbers.tsx'
import { WeekBars } from './week-bars.tsx'

type Numbers = Schemas['Numbers']

/** The pipeline by week, the time to reply, what agents wrote, and what became of sequences. */
export function MoreNumbers() {
  const { slug } = useProject()
  const query = useQuery({
    queryKey: ['numbers', slug],
    queryFn: () =>
      ok(api.GET('/api/cockpit/projects/numbers', { params: { query: { project: slug } } })),
  })
  if (query.isPending) return <SkeletonRows />
  if (query.isError) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const { weeks, reply_time, agents, sequences } = query.data
  return (
    <>
      <Weeks weeks={weeks} />
      <ReplyTime times={reply_time} />
      <Agents share={agents} />
      {sequences.length > 0 ? <SequenceNumbers sequences={sequences} /> : null}
    </>
  )
}

const KINDS = ['new', 'contacted', 'replied', 'won', 'lost'] as const
/** The stages' own, but for new and lost, which would be the same grey. */
const COLOURS = {
  new: 'var(--bar)',
  contacted: 'var(--stage-contacted)',
  replied: 'var(--stage-replied)',
  won: 'var(--stage-won)',
  lost: 'var(--bad)',
} as const

function Weeks({ weeks }: { weeks: Numbers['weeks'] }) {
  const text = useText(numbersText)
  const { stages } = useText(leadsText)
  const language = useLanguage()
  const locale = localeOf(language)
  const names = { ...stages, new: text.weeks.new }
  const sums = (all: Numbers['weeks'][number]['won_sums']) =>
    all.map(({ currency, amount }) => money(locale, amount, currency)).join(' + ')
  return (
    <Card title={text.weeks.title} isWide>
      <WeekBars
        label={text.weeks.title}
        weeks={weeks.map((one) => ({ week: one.week, values: KINDS.map((kind) => one[kind]) }))}
        series={KINDS.map((kind) => ({ name: names[kind], colour: COLOURS[kind] }))}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <section aria-label={text.weeks.title} tabIndex={0} className="-mx-5 mt-4 overflow-x-auto">
        <Table aria-label={text.weeks.title}>
          <thead>
            <tr>
              <Th className="bg-surface pl-5">{text.weeks.week}</Th>
              {KINDS.map((kind) => (
                <Th key={kind} className="bg-surface text-right">
                  {names[kind]}
                </Th>
              ))}
              <Th className="bg-surface text-right">{text.weeks.won_sum}</Th>
              <Th className="bg-surface pr-5 text-right">{text.weeks.lost_sum}</Th>
            </tr>
          </thead>
          <tbody data-numbers>
            {weeks.toReversed().map((one) => (
              <tr key={one.week}>
                <Td className="pl-5 whitespace-nowrap">
                  <time dateTime={one.week}>{day(one.week, locale)}</time>
                </Td>
                {KINDS.map((kind) => (
                  <Td key={kind} className="text-right">
                    {number(language, one[kind])}
                  </Td>
                ))}
                <Td className="text-right whitespace-nowrap">{sums(one.won_sums)}</Td>
                <Td className="pr-5 text-right whitespace-nowrap">{sums(one.lost_sums)}</Td>
              </tr>
            ))}
          </tbody>
        </Table>
      </section>
      <p className="mt-2 text-sm text-muted text-pretty">{text.weeks.hint}</p>
    </Card>
  )
}

function ReplyTime({ times }: { times: Numbers['reply_time'] }) {
  const text = useText(numbersText).reply_time
  const language = useLanguage()
  const { replies, median_hours, parts } = times
  const span = (hours: number) => duration(language, hours * 3600)
  const from = (at: number) => parts[at - 1]?.up_to_hours ?? 0
  return (
    <Card title={text.title}>
      {median_hours === null ? (
        <p className="text-muted">{text.none}</p>
      ) : (
        <>
          <p className="mb-3" data-numbers>
            {text.median(span(median_hours), number(language, replies))}
          </p>
          <NamedBars
            label={text.title}
            rows={parts.map(({ up_to_hours, count }, at) => ({
              key: String(up_to_hours),
              value: count,
              label:
                up_to_hours === null ? text.over(span(from(at))) : text.up_to(span(up_to_hours)),
            }))}
          />
        </>
      )}
    </Card>
  )
}

const FATES = ['as_written', 'edited', 'rejected', 'undecided'] as const

function Agents({ share: { mails, documents } }: { share: Numbers['agents'] }) {
  const text = useText(numbersText).agents
  const language = useLanguage()
  return (
    <Card title={text.title}>
      <p className="mb-3" data-numbers>
        {text.mails(number(language, mails.by_agents), number(language, mails.all))}
      </p>
      <NamedBars
        label={text.title}
        rows={FATES.map((key) => ({ key, label: text.fates[key], value: mails[key] }))}
      />
      <p className="mt-2 text-sm text-muted text-pretty">{text.hint}</p>
      <p className="mt-4 text-sm text-muted" data-numbers>
        {text.documents(number(language, documents.by_agents), number(language, documents.edited))}
      </p>
    </Card>
  )
}
