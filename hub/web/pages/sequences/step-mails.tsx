import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Field } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Moment } from './moment.tsx'
import { previewQuery, type Sequence, timetableQuery } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

/** Each step as one recipient gets it, with the time at which it would go. */
export function StepMails({ sequence }: { sequence: Sequence }) {
  const text = useText(sequencesText)
  const [email, setEmail] = useState<string | null>(null)
  const people = useInfiniteQuery(timetableQuery(sequence)).data?.pages.flatMap(
    (page) => page.recipients,
  )
  const query = useQuery(previewQuery(sequence, email))
  if (query.isPending) return <SkeletonRows rows={6} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const { recipient, mails } = query.data
  const inside = (people ?? []).filter(({ left_out }) => left_out === null)
  return (
    <div className="flex flex-col gap-6 p-4 md:p-5">
      {recipient && inside.length > 0 ? (
        <Field label={text.shown_to} hint={text.shown_to_hint}>
          <Select
            value={recipient.email}
            onChange={(event) => setEmail(event.target.value)}
            options={inside.map((one) => ({
              value: one.email,
              label: one.name ? `${one.name}, ${one.email}` : one.email,
            }))}
          />
        </Field>
      ) : null}
      <ol className="flex flex-col gap-6">
        {mails.map((mail, at) => (
          <Mail
            key={mail.step_id}
            mail={mail}
            wait={sequence.steps[at]?.wait_days ?? 0}
            language={sequence.language}
            email={recipient?.email ?? null}
            version={sequence.updated_at}
          />
        ))}
      </ol>
    </div>
  )
}

function Mail({
  mail,
  wait,
  language,
  email,
  version,
}: {
  mail: { step_id: string; step: number; subject: string; text: string; at: string | null }
  wait: number
  language: string
  email: string | null
  version: string
}) {
  const text = useText(sequencesText)
  const [isMail, setMail] = useState(false)
  const address = email ? `?email=${encodeURIComponent(email)}` : ''
  return (
    <li className="rounded-panel border border-line">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 text-sm">
        <span className="font-medium">{text.step(mail.step)}</span>
        <span className="text-muted">{mail.step === 1 ? text.first : text.after(wait)}</span>
        {mail.at && email ? (
          <span className="text-muted">
            {text.goes} <Moment at={mail.at} />
          </span>
        ) : null}
        <Button size="sm" variant="ghost" className="ml-auto" onClick={() => setMail(!isMail)}>
          {isMail ? text.as_text : text.as_mail}
        </Button>
      </div>
      {isMail ? (
        <iframe
          key={`${version} ${email}`}
          title={text.preview(mail.step)}
          src={`/api/cockpit/sequence/preview/${mail.step_id}${address}`}
          sandbox=""
          className="h-[30rem] w-full rounded-b-panel bg-white"
        />
      ) : (
        <div lang={language} className="px-4 py-3 font-mail break-words">
          <h3 className="mb-2 font-mail text-lg">{mail.subject}</h3>
          <p className="whitespace-pre-wrap">{mail.text}</p>
        </div>
      )}
    </li>
  )
}
