import type { ChannelDelivery } from '../api/queries.ts'
import { number, useLanguage, useText } from '../ui/language.ts'
import { FactsLine } from '../ui/lists/facts-line.tsx'
import { Time } from '../ui/time.tsx'
import { deliveriesText } from './deliveries.text.ts'
import { failuresText } from './failures.text.ts'

/** One attempt: when, what the receiver answered, and how long it took. */
export function AttemptLine({ attempt }: { attempt: ChannelDelivery['attempt_log'][number] }) {
  const text = useText(deliveriesText)
  const failures = useText(failuresText)
  const language = useLanguage()
  return (
    <div className="flex flex-col gap-1 text-sm">
      <FactsLine>
        {text.attempt(attempt.attempt)}
        <span className={attempt.outcome === 'ok' ? 'text-good' : 'text-bad'}>
          {text.outcomes[attempt.outcome]}
        </span>
        {attempt.status_code === null ? text.no_answer : text.status_code(attempt.status_code)}
        {text.milliseconds(number(language, attempt.duration_ms))}
        <Time at={attempt.at} />
        {attempt.request_id ? text.request_id(attempt.request_id) : null}
      </FactsLine>
      {attempt.error ? (
        <code className="font-sans break-words text-bad">{failures.say(attempt.error)}</code>
      ) : null}
      {attempt.response_excerpt ? (
        <pre className="max-h-40 overflow-auto whitespace-pre-wrap break-words rounded-control border border-line bg-ink p-2 text-xs">
          <code>{attempt.response_excerpt}</code>
        </pre>
      ) : null}
    </div>
  )
}
