import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import type { OperatorHealth } from '../../../shared/schemas/operator.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/form.tsx'
import { bytes, duration, number, useLanguage, useText } from '../../ui/language.ts'
import { Time } from '../../ui/time.tsx'
import { get, REFRESH_MS } from '../api.ts'
import { operatorText } from '../operator.text.ts'
import { Fact, Facts, Found, Section } from '../parts.tsx'

/** Whether all is well, and if not, why; the versions, the database, and what runs by itself. */
export function HealthPage() {
  const query = useQuery({
    queryKey: ['health'],
    queryFn: () => get<OperatorHealth>('health'),
    refetchInterval: REFRESH_MS,
  })
  return <Found query={query}>{(health) => <Health health={health} />}</Found>
}

function Health({ health }: { health: OperatorHealth }) {
  const text = useText(operatorText)
  const language = useLanguage()
  const { database } = health
  return (
    <>
      {health.reasons.length === 0 ? (
        <p className="flex items-center gap-2 font-medium text-good">
          <CircleCheck size={18} aria-hidden /> {text.all_well}
        </p>
      ) : (
        <ul className="flex flex-col gap-2">
          {health.reasons.map((reason) => (
            <li key={reason}>
              <Notice tone="warn" text={<code className="font-sans">{reason}</code>} />
            </li>
          ))}
        </ul>
      )}
      <Facts>
        <Fact name={text.version}>{health.version}</Fact>
        <Fact name="Node">{health.node}</Fact>
        <Fact name={text.running_since}>
          <Time at={health.started_at} />
        </Fact>
        <Fact name={text.alerts_24h}>{number(language, health.alerts_24h)}</Fact>
        {health.feeds.map(({ status, count }) => (
          <Fact key={status} name={text.feeds_that[status] ?? status}>
            {number(language, count)}
          </Fact>
        ))}
        {health.accounts.map(({ plan, count }) => (
          <Fact key={plan} name={text.accounts_on(text.plans[plan] ?? plan)}>
            {number(language, count)}
          </Fact>
        ))}
      </Facts>
      <Section title={text.database}>
        <Facts>
          <Fact name="PostgreSQL">{database.version}</Fact>
          <Fact name={text.size}>{bytes(language, database.bytes)}</Fact>
          <Fact name={text.connections}>
            {text.of(
              number(language, database.connections),
              number(language, database.max_connections),
            )}
          </Fact>
          <Fact name={text.oldest_transaction}>
            {database.transaction_seconds === null
              ? text.none
              : duration(language, Math.round(database.transaction_seconds))}
          </Fact>
          <Fact name={text.running_since}>
            <Time at={database.started_at} />
          </Fact>
          <Fact name={text.migration}>{database.migration ?? text.none}</Fact>
          {health.replicas.map(({ name, state, lag_seconds }) => (
            <Fact key={name} name={text.replica(name)}>
              {state ?? text.unknown} ·{' '}
              {lag_seconds === null ? text.no_lag : duration(language, lag_seconds)}
            </Fact>
          ))}
        </Facts>
      </Section>
      <Section title={text.runs}>
        <Facts>
          {health.runs.map(({ name, at }) => (
            <Fact key={name} name={text.run_names[name]}>
              {at ? <Time at={at} /> : <Badge>{text.never}</Badge>}
            </Fact>
          ))}
        </Facts>
        {health.heartbeat_error ? (
          <Notice tone="warn" text={<code className="font-sans">{health.heartbeat_error}</code>} />
        ) : null}
      </Section>
    </>
  )
}
