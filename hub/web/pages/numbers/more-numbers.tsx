import { useQuery } from '@tanstack/react-query'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { NamedBars } from '../../../../web/ui/chart.tsx'
import { duration, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { Card } from './card.tsx'
import { numbersText } from './numbers.text.ts'
import { SequenceNumbers } from './sequence-numbers.tsx'
import { Weeks } from './weeks.tsx'

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
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
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
