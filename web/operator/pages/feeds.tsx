import { useQuery } from '@tanstack/react-query'
import type { OperatorFeed } from '../../../shared/operator.ts'
import { Badge } from '../../ui/badge.tsx'
import { duration, number, useLanguage, useText } from '../../ui/language.ts'
import { Table, Td, Th } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { get, REFRESH_MS } from '../api.ts'
import { operatorText } from '../operator.text.ts'
import { Found, Scroll } from '../parts.tsx'

const TONES = { ok: 'good', stale: 'warn', down: 'bad', disabled: 'plain' } as const

/** Each source: whether it delivers, how late and how much, and what it said last. */
export function FeedsPage() {
  const text = useText(operatorText)
  const query = useQuery({
    queryKey: ['feeds'],
    queryFn: () => get<{ feeds: OperatorFeed[] }>('feeds'),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Found query={query}>
      {({ feeds }) => (
        <Scroll label={text.pages.feeds}>
          <Table className="[&_td:not(:first-child)]:whitespace-nowrap">
            <thead>
              <tr>
                <Th>{text.source}</Th>
                <Th>{text.state}</Th>
                <Th>{text.last_success}</Th>
                <Th>{text.last_event}</Th>
                <Th className="text-right">{text.lag}</Th>
                <Th className="text-right">{text.events_1h}</Th>
                <Th className="text-right">{text.events_24h}</Th>
                <Th className="text-right">{text.rejected_24h}</Th>
              </tr>
            </thead>
            <tbody>
              {feeds.map((feed) => (
                <FeedRow key={feed.source} feed={feed} />
              ))}
            </tbody>
          </Table>
        </Scroll>
      )}
    </Found>
  )
}

function FeedRow({ feed }: { feed: OperatorFeed }) {
  const text = useText(operatorText)
  const language = useLanguage()
  const trouble = feed.error ?? (feed.rejected_24h > 0 ? feed.rejected_reason : null)
  return (
    <tr className="group" data-numbers>
      <Td className="py-2">
        <code className="font-sans font-medium whitespace-nowrap">{feed.source}</code>
        {trouble ? (
          <code className="block max-w-sm font-sans text-xs break-words text-bad">{trouble}</code>
        ) : null}
      </Td>
      <Td>
        <Badge tone={TONES[feed.status]}>{text.statuses[feed.status]}</Badge>
      </Td>
      <Td>{feed.last_success_at ? <Time at={feed.last_success_at} /> : text.never}</Td>
      <Td>{feed.last_event_at ? <Time at={feed.last_event_at} /> : text.never}</Td>
      <Td className="text-right">
        {feed.lag_seconds === null ? '–' : duration(language, feed.lag_seconds)}
      </Td>
      <Td className="text-right">{number(language, feed.events_1h)}</Td>
      <Td className="text-right">{number(language, feed.events_24h)}</Td>
      <Td className="text-right">{number(language, feed.rejected_24h)}</Td>
    </tr>
  )
}
