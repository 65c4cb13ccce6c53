import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { useLanguage, useText } from '../../i18n.ts'
import { useProject } from '../../project.ts'
import { stepsText } from './drafts.text.ts'
import { gatesText } from './gates.text.ts'
import type { Detailed } from './queries.ts'

const SHOWN = 100

/** Who gets it, or what became of each mail once it is approved. */
export function People({ detailed }: { detailed: Detailed }) {
  const text = useText(stepsText)
  const { skipped } = useText(gatesText)
  const { draft, recipients } = detailed
  const isFixed = draft.progress.total > 0
  const reason = (code: string | null) =>
    code && Object.hasOwn(skipped, code) ? skipped[code as keyof typeof skipped] : code // safe: tested
  return (
    <section aria-labelledby="people">
      <h3 id="people" className="mb-2 flex justify-between text-sm text-muted">
        <span>{text.recipients}</span>
        <span data-numbers>
          {isFixed
            ? text.of(draft.progress.sent, draft.progress.total)
            : text.will_get(recipients.will_get_it, recipients.total)}
        </span>
      </h3>
      {isFixed ? (
        <Fixed detailed={detailed} />
      ) : (
        <>
          {recipients.sample.length === 0 ? <p className="text-muted">{text.no_people}</p> : null}
          <ul className="flex flex-col">
            {recipients.sample.map((one) => (
              <Person
                key={one.lead_id}
                {...one}
                note={reason(one.skip)}
                isOut={one.skip !== null}
              />
            ))}
          </ul>
          {recipients.total > recipients.sample.length ? (
            <p className="mt-1 text-sm text-muted">
              {text.more_people(recipients.total - recipients.sample.length)}
            </p>
          ) : null}
        </>
      )}
      {recipients.without_email > 0 && !isFixed ? (
        <p className="mt-1 text-sm text-muted">{text.without_email(recipients.without_email)}</p>
      ) : null}
    </section>
  )
}

function Fixed({ detailed: { draft } }: { detailed: Detailed }) {
  const text = useText(stepsText)
  const language = useLanguage()
  const query = useQuery({
    queryKey: ['draft', draft.id, 'recipients', draft.updated_at, draft.progress],
    queryFn: () =>
      ok(
        api.GET('/api/cockpit/drafts/recipients', {
          params: { query: { id: draft.id, project: draft.project, limit: SHOWN } },
        }),
      ),
    placeholderData: (before) => before,
  })
  return (
    <>
      <ul className="flex flex-col">
        {query.data?.recipients.map((one) => {
          const state = text.people_states[one.state]
          const why = one.reason && language === 'en' ? `${state}: ${one.reason}` : state
          return (
            <Person
              key={one.email}
              {...one}
              note={why}
              isOut={one.state === 'skipped' || one.state === 'failed'}
            />
          )
        })}
      </ul>
      {draft.progress.total > SHOWN ? (
        <p className="mt-1 text-sm text-muted">{text.more_people(draft.progress.total - SHOWN)}</p>
      ) : null}
    </>
  )
}

function Person({
  lead_id,
  email,
  name,
  note,
  isOut,
}: {
  lead_id: string | null
  email: string
  name: string | null
  note: string | null
  isOut: boolean
}) {
  const { slug } = useProject()
  const label = name ?? email
  return (
    <li className="flex min-h-7 items-baseline gap-2 text-sm">
      {lead_id ? (
        <Link
          href={`/p/${slug}/leads?lead=${lead_id}`}
          title={email}
          className={`max-w-[60%] shrink-0 truncate hover:underline ${isOut ? 'text-muted line-through' : ''}`}
        >
          {label}
        </Link>
      ) : (
        <span className="max-w-[60%] shrink-0 truncate" title={email}>
          {label}
        </span>
      )}
      <span className="min-w-0 flex-1 truncate text-right text-muted">{note ?? email}</span>
    </li>
  )
}
