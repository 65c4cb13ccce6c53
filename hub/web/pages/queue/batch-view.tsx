import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Choice } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { draftsText } from '../drafts/drafts.text.ts'
import { withOwnLink } from '../drafts/soft-breaks.ts'
import { type BatchMail, batchQuery, refreshQueue } from './queries.ts'
import { queueText } from './queue.text.ts'

/** Mails that were written alike, side by side, with what differs marked; approved in one act. */
export function BatchView({
  project,
  batch,
  isReadOnly,
  onClose,
  onDone,
}: {
  project: string
  batch: { key: string; size: number }
  isReadOnly: boolean
  onClose: () => void
  onDone: () => void
}) {
  const { batch: text, skipped, approved, cannot_approve } = useText(queueText)
  const query = useQuery(batchQuery(project, batch.key))
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string>>(new Map())
  const queryClient = useQueryClient()
  const say = useToastError()
  const drafts = query.data?.drafts ?? []
  const chosen = drafts.filter(({ id, can_approve, hash }) => can_approve && hash && !left.has(id))
  const sendable = chosen.filter(({ can_send }) => can_send)
  const approve = useMutation({
    mutationFn: async (send: boolean) => {
      const of = send ? sendable : chosen
      const body = { project, drafts: of.map(({ id, hash }) => ({ id, hash: hash ?? '' })), send }
      return (await ok(api.POST('/api/cockpit/queue/approve', { body }))).outcomes
    },
    onSuccess: (outcomes) => {
      const told = outcomes.filter(({ detail }) => detail !== null)
      const refused = outcomes.filter(({ outcome }) => outcome === 'refused')
      setRefusals(new Map(told.map(({ id, detail }) => [id, detail ?? ''])))
      toast(text.done(outcomes.length - refused.length))
      if (refused.length > 0) toast(skipped(refused.length), { kind: 'failed' })
      if (refused.length === 0 && outcomes.length === drafts.length) onDone()
    },
    onError: say,
    onSettled: () => refreshQueue(queryClient),
  })
  if (query.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const toggle = (id: string) => {
    const next = new Set(left)
    if (!next.delete(id)) next.add(id)
    setLeft(next)
  }
  return (
    <div className="flex flex-col gap-4 px-4 py-3 md:px-6">
      <header>
        <h2 className="text-lg">{text.title(drafts.length)}</h2>
        <p className="text-sm text-muted">{text.hint}</p>
        <div className="mt-3 flex flex-wrap gap-2">
          <Button
            variant="primary"
            disabled={isReadOnly || sendable.length === 0}
            isPending={approve.isPending && approve.variables}
            onClick={() => approve.mutate(true)}
          >
            {text.send(sendable.length)}
          </Button>
          <Button
            disabled={isReadOnly || chosen.length === 0}
            isPending={approve.isPending && !approve.variables}
            onClick={() => approve.mutate(false)}
          >
            {text.approve(chosen.length)}
          </Button>
          <Button variant="ghost" onClick={onClose}>
            {text.hide}
          </Button>
        </div>
      </header>
      <ul aria-label={approved} className="grid gap-3 @4xl:grid-cols-2">
        {drafts.map((mail) => (
          <li key={mail.id} className="min-w-0 rounded-panel border border-line bg-surface p-4">
            <Choice
              className="items-start"
              label={
                <>
                  <span className="block font-medium break-words">{mail.who ?? mail.email}</span>
                  <span className="block text-muted break-words">{mail.subject}</span>
                </>
              }
              isOn={mail.can_approve && !left.has(mail.id)}
              disabled={!mail.can_approve}
              onChange={() => toggle(mail.id)}
            />
            {[...mail.closed.map(({ detail }) => detail), refusals.get(mail.id), mail.skipped]
              .filter(Boolean)
              .map((why) => (
                <p key={why} className="mt-1 text-sm text-bad break-words">
                  {why}
                </p>
              ))}
            {mail.can_approve ? null : <p className="text-sm text-muted">{cannot_approve}</p>}
            <Pieces pieces={mail.pieces} />
          </li>
        ))}
      </ul>
      {query.data.left_out > 0 ? (
        <p className="text-sm text-muted">{text.left_out(query.data.left_out)}</p>
      ) : null}
    </div>
  )
}

/** A mark is an element of its own, so that it is not told by colour alone. */
function Pieces({ pieces }: { pieces: BatchMail['pieces'] }) {
  const { own_link } = useText(draftsText)
  return (
    <p className="mt-3 font-mail leading-relaxed break-words whitespace-pre-wrap">
      {pieces.map(({ text, is_common }, at) =>
        is_common ? (
          <span key={at} className="text-muted">
            {withOwnLink(text, own_link)}
          </span>
        ) : (
          <mark key={at} className="rounded-[3px] bg-warn/20 text-fg underline decoration-warn/60">
            {withOwnLink(text, own_link)}
          </mark>
        ),
      )}
    </p>
  )
}
