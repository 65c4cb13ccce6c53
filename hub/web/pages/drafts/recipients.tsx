import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useText } from '../../../../web/ui/language.ts'
import { useProject } from '../../project.ts'
import { stepsText } from './drafts.text.ts'
import { type Detailed, MAX_PEOPLE, type Preview, recipientsQuery } from './queries.ts'

/** The recipients, or the outcome of each mail after the approval. */
export function Recipients({ detailed, action }: { detailed: Detailed; action: ReactNode }) {
  const text = useText(stepsText)
  const { draft, recipients } = detailed
  const isApproved = draft.progress.total > 0
  return (
    <section aria-labelledby="people">
      <h3 id="people" className="mb-2 flex justify-between text-sm text-muted">
        <span>{text.recipients}</span>
        <span data-numbers>
          {isApproved
            ? text.of(draft.progress.sent, draft.progress.total)
            : text.will_get(recipients.will_get_it, recipients.total)}
        </span>
      </h3>
      {isApproved ? <Outcomes detailed={detailed} /> : <RecipientPreview recipients={recipients} />}
      {action}
    </section>
  )
}

/** The first of the recipients, and why some leads are not among them. */
export function RecipientPreview({ recipients }: { recipients: Preview }) {
  const text = useText(stepsText)
  const { sample, total, without_email } = recipients
  return (
    <>
      {sample.length === 0 ? <p className="text-muted">{text.no_people}</p> : null}
      <ul className="flex flex-col">
        {sample.map((one) => (
          <RecipientRow
            key={one.lead_id}
            {...one}
            note={null}
            why={one.skipped}
            isOut={one.skip !== null}
          />
        ))}
      </ul>
      {total > sample.length ? (
        <p className="mt-1 text-sm text-muted">{text.more_people(total - sample.length)}</p>
      ) : null}
      {without_email > 0 ? (
        <p className="mt-1 text-sm text-muted">{text.without_email(without_email)}</p>
      ) : null}
    </>
  )
}

function Outcomes({ detailed: { draft } }: { detailed: Detailed }) {
  const text = useText(stepsText)
  const { data } = useQuery(recipientsQuery(draft))
  return (
    <>
      <ul className="flex flex-col">
        {data?.recipients.map((one) => (
          <RecipientRow
            key={one.email}
            {...one}
            note={text.people_states[one.state]}
            why={one.reason}
            isOut={one.state === 'skipped' || one.state === 'failed'}
          />
        ))}
      </ul>
      {draft.progress.total > MAX_PEOPLE ? (
        <p className="mt-1 text-sm text-muted">
          {text.more_people(draft.progress.total - MAX_PEOPLE)}
        </p>
      ) : null}
    </>
  )
}

function RecipientRow({
  lead_id,
  email,
  name,
  note,
  why = null,
  isOut,
}: {
  lead_id: string | null
  email: string
  name: string | null
  note: string | null
  /** A sentence with details. */
  why?: string | null
  isOut: boolean
}) {
  const { slug } = useProject()
  const label = name ?? email
  return (
    <li className="py-0.5 text-sm">
      <p className="flex min-h-6 items-baseline gap-2">
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
        <span className="min-w-0 flex-1 truncate text-right text-muted" title={note ?? undefined}>
          {note ?? email}
        </span>
      </p>
      {why ? <p className="pb-1 break-words text-muted">{why}</p> : null}
    </li>
  )
}
