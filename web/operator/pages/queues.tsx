import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { OperatorQueues } from '../../../shared/schemas/operator.ts'
import { duration, number, useLanguage, useText } from '../../ui/language.ts'
import { Table, Td, Th } from '../../ui/lists/table.tsx'
import { get, REFRESH_MS } from '../api.ts'
import { operatorText } from '../operator.text.ts'
import { Fact, Facts, Found, Scroll, Section } from '../parts.tsx'

/** The jobs that wait, run and are done, queue by queue, and the messages. */
export function QueuesPage() {
  const query = useQuery({
    queryKey: ['queues'],
    queryFn: () => get<OperatorQueues>('queues'),
    refetchInterval: REFRESH_MS,
  })
  return <Found query={query}>{(found) => <Queues found={found} />}</Found>
}

function Queues({ found }: { found: OperatorQueues }) {
  const text = useText(operatorText)
  const language = useLanguage()
  const waited = (seconds: number) => (seconds > 0 ? duration(language, seconds) : '–')
  return (
    <>
      <Scroll label={text.pages.queues}>
        <Table>
          <thead>
            <tr>
              <Th>{text.queue}</Th>
              <Th className="text-right">{text.waiting}</Th>
              <Th className="text-right">{text.later}</Th>
              <Th className="text-right">{text.running}</Th>
              <Th className="text-right">{text.oldest}</Th>
              <Th className="text-right">{text.rate}</Th>
              <Th className="text-right">{text.failed_jobs}</Th>
            </tr>
          </thead>
          <tbody>
            {found.queues
              .filter(({ queue }) => queue !== 'dead')
              .map((one) => (
                <tr key={one.queue} className="group" data-numbers>
                  <Td>
                    <code className="font-sans font-medium">{one.queue}</code>
                  </Td>
                  <Td className="text-right">{number(language, one.waiting)}</Td>
                  <Td className="text-right">{number(language, one.later)}</Td>
                  <Td className="text-right">{number(language, one.running)}</Td>
                  <Td className="text-right">{waited(one.oldest_seconds)}</Td>
                  <Td className="text-right">
                    {number(language, one.done_5min / 5, { maximumFractionDigits: 1 })}
                  </Td>
                  <Td className="text-right">
                    {one.failed > 0 ? (
                      <Link
                        href={`/jobs?queue=${encodeURIComponent(one.queue)}`}
                        className="text-accent-text underline"
                      >
                        {number(language, one.failed)}
                      </Link>
                    ) : (
                      0
                    )}
                  </Td>
                </tr>
              ))}
          </tbody>
        </Table>
      </Scroll>
      <Section title={text.messages}>
        {found.deliveries_waiting.length + found.deliveries_24h.length === 0 ? (
          <p className="text-muted">{text.no_messages}</p>
        ) : null}
        <Facts>
          {found.deliveries_waiting.map(({ status, count, oldest_seconds }) => (
            <Fact
              key={status}
              name={text.waiting_messages(text.delivery_statuses[status] ?? status)}
            >
              {number(language, count)} · {text.oldest}: {waited(oldest_seconds)}
            </Fact>
          ))}
          {found.deliveries_24h.map(({ status, count }) => (
            <Fact key={status} name={text.messages_24h(text.delivery_statuses[status] ?? status)}>
              {number(language, count)}
            </Fact>
          ))}
        </Facts>
      </Section>
    </>
  )
}
