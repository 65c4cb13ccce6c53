import type { ReactNode } from 'react'
import type { Alert } from '../../api/queries.ts'
import { cn } from '../../ui/class-names.ts'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { absolute, Time } from '../../ui/time.tsx'
import { useWords } from '../../ui/words.tsx'
import { alertsText } from './alerts.text.ts'

type Step = { at: string; tone: string; title: string; text?: ReactNode }

/** What happened to an alert, from when it was raised, in its order. */
export function Timeline({ alert }: { alert: Alert }) {
  const text = useText(alertsText)
  const steps: Step[] = [
    { at: alert.raised_at, tone: 'bg-accent', title: text.is_raised },
    ...alert.updates.map((update) => ({
      at: update.at,
      tone: TONES[update.kind],
      title: text.update_kinds[update.kind],
      text: <Changes changes={update.changes} />,
    })),
    ...(alert.dispatched_at
      ? [{ at: alert.dispatched_at, tone: 'bg-good', title: text.is_sent(alert.channel ?? '') }]
      : []),
    ...(alert.seen_at ? [{ at: alert.seen_at, tone: 'bg-good', title: text.seen }] : []),
    ...(alert.resolved_at
      ? [{ at: alert.resolved_at, tone: 'bg-good', title: text.is_resolved }]
      : []),
  ]
  const ordered = steps.toSorted((one, two) => Date.parse(one.at) - Date.parse(two.at))
  return (
    <section className="flex flex-col gap-3">
      <h3>{text.updates}</h3>
      <ol className="relative ml-1 border-l border-line">
        {ordered.map((step) => (
          <li key={`${step.at} ${step.title}`} className="relative pb-3 pl-4 last:pb-0">
            <span
              aria-hidden
              className={cn(
                'absolute top-1.5 -left-[5px] size-[9px] rounded-full ring-2 ring-ink',
                step.tone,
              )}
            />
            <div className="flex flex-wrap items-baseline gap-x-3 text-sm">
              <span className="font-medium">{step.title}</span>
              <Time at={step.at} className="text-muted" />
            </div>
            {step.text}
          </li>
        ))}
      </ol>
    </section>
  )
}

const TONES = {
  revised: 'bg-line-strong',
  escalated: 'bg-bad',
  ended: 'bg-good',
  retracted: 'bg-line-strong',
  reopened: 'bg-warn',
  linked: 'bg-line-strong',
  unlinked: 'bg-line-strong',
} as const

/** What changed, from and to. */
function Changes({ changes }: { changes: Alert['updates'][number]['changes'] }) {
  const text = useText(alertsText)
  const language = useLanguage()
  const { locale } = useWords()
  const names: Record<string, string> = text.fields
  const say = (value: unknown): string => {
    if (value === null || value === undefined) return '–'
    if (typeof value === 'number') return number(language, value, { maximumFractionDigits: 2 })
    if (typeof value === 'boolean') return value ? text.yes : text.no
    if (typeof value === 'object') {
      return Object.values(value)
        .map((part) => say(part))
        .join(', ')
    }
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
    return isTime ? absolute(value, locale) : String(value)
  }
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 text-sm text-muted">
      {Object.entries(changes).map(([field, [from, to]]) => (
        <div key={field} className="contents">
          <dt>{names[field] ?? <code>{field}</code>}</dt>
          <dd className="min-w-0 break-words">
            <code className="font-sans">{`${say(from)} → ${say(to)}`}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}
