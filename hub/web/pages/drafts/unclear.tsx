import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { api, ok } from '../../api/client.ts'
import { stepsText } from './drafts.text.ts'
import { type Draft, type Recipient, recipientsQuery, refreshDrafts } from './queries.ts'

type Word = { outcome: 'sent' | 'not_sent'; email?: string }

/**
 * The mails of which nobody knows whether they were sent; the admin decides for each, or for all at
 * once.
 */
export function Unclear({ draft, isReadOnly }: { draft: Draft; isReadOnly: boolean }) {
  const text = useText(stepsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const { data } = useQuery(recipientsQuery(draft, 'unclear'))
  const settle = useMutation({
    mutationFn: (word: Word) =>
      ok(
        api.POST('/api/cockpit/draft/clear', {
          body: { id: draft.id, project: draft.project, ...word },
        }),
      ),
    onError: say,
    onSettled: () => refreshDrafts(queryClient),
  })
  const people = data?.recipients ?? []
  const { unclear } = draft.progress
  const isBusy = isReadOnly || settle.isPending
  return (
    <div className="flex flex-col gap-3">
      <ul aria-label={text.counts.unclear(unclear)} className="flex flex-col gap-3">
        {people.map((one) => (
          <Person key={one.email} person={one} isReadOnly={isBusy} onSettle={settle.mutate} />
        ))}
      </ul>
      {unclear > people.length && people.length > 0 ? (
        <p className="text-sm text-muted">{text.more_people(unclear - people.length)}</p>
      ) : null}
      {unclear > 1 ? (
        <div className="flex flex-wrap gap-2">
          <Button disabled={isBusy} onClick={() => settle.mutate({ outcome: 'sent' })}>
            {text.all_arrived}
          </Button>
          <Button disabled={isBusy} onClick={() => settle.mutate({ outcome: 'not_sent' })}>
            {text.none_arrived}
          </Button>
        </div>
      ) : null}
    </div>
  )
}

function Person({
  person: { email, name, reason },
  isReadOnly,
  onSettle,
}: {
  person: Recipient
  isReadOnly: boolean
  onSettle: (word: Word) => void
}) {
  const text = useText(stepsText)
  const who = name ?? email
  return (
    <li className="flex flex-col gap-1.5 rounded-panel border border-line p-3">
      <p className="truncate font-medium" title={email}>
        {who}
      </p>
      {reason ? <p className="text-sm break-words text-muted">{reason}</p> : null}
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          aria-label={text.arrived_at(who)}
          disabled={isReadOnly}
          onClick={() => onSettle({ outcome: 'sent', email })}
        >
          {text.arrived}
        </Button>
        <Button
          size="sm"
          aria-label={text.not_arrived_at(who)}
          disabled={isReadOnly}
          onClick={() => onSettle({ outcome: 'not_sent', email })}
        >
          {text.not_arrived}
        </Button>
      </div>
    </li>
  )
}
