import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, FlaskConical, Send } from 'lucide-react'
import { useState } from 'react'
import { FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { draftsText } from '../drafts/drafts.text.ts'
import { EditDialog, RejectDialog } from '../drafts/edit-dialog.tsx'
import { draftQuery } from '../drafts/queries.ts'
import { plainMail } from '../drafts/soft-breaks.ts'
import { BatchView } from './batch-view.tsx'
import { ItemHead } from './item-head.tsx'
import { prospectQuery, type QueueItem, refreshQueue } from './queries.ts'
import { queueText } from './queue.text.ts'

export type ItemProps = {
  item: QueueItem
  isReadOnly: boolean
  onBack: () => void
  /** It was decided: the next one opens. */
  onDone: () => void
}

/** The checks without which a draft cannot even be approved. */
const NEEDED = ['evidence', 'rendering', 'fields', 'recipients']

/** A mail that waits: what it says, what sending it does, and the decision. */
export function DraftItem({ item, isReadOnly, onBack, onDone }: ItemProps) {
  const text = useText(queueText)
  const drafts = useText(draftsText)
  const query = useQuery(draftQuery(item.project, item.id))
  const prospect = useQuery(prospectQuery(item))
  const queryClient = useQueryClient()
  const say = useToastError()
  const [layer, setLayer] = useState<'edit' | 'reject'>()
  const [isComparing, setComparing] = useState(false)
  const approve = useMutation({
    mutationFn: async (send: boolean) => {
      const drafts = [{ id: item.id, hash: prospect.data?.hash ?? '' }]
      const body = { project: item.project, drafts, send }
      return (await ok(api.POST('/api/cockpit/queue/approve', { body }))).outcomes[0]
    },
    onSuccess: (outcome) => {
      if (outcome?.outcome === 'refused') {
        return toast(outcome.detail ?? text.cannot_approve, { kind: 'failed' })
      }
      if (outcome?.detail) toast(outcome.detail, { kind: 'failed' })
      else toast(outcome?.outcome === 'sending' ? text.sending : text.approved)
      onDone()
    },
    onError: say,
    onSettled: () => refreshQueue(queryClient),
  })
  const test = useMutation({
    mutationFn: () =>
      ok(api.POST('/api/cockpit/draft/test', { body: { id: item.id, project: item.project } })),
    onSuccess: ({ to }) => toast(text.test_sent(to)),
    onError: say,
  })
  const closed = prospect.data?.closed ?? []
  const isReady = !isReadOnly && prospect.data !== undefined && !approve.isPending
  const canApprove = isReady && !closed.some(({ name }) => NEEDED.includes(name))
  const canSend = isReady && closed.length === 0
  useKeys(
    {
      a: canApprove ? () => approve.mutate(false) : undefined,
      s: canSend ? () => approve.mutate(true) : undefined,
      e: isReadOnly ? undefined : () => setLayer('edit'),
      r: isReadOnly ? undefined : () => setLayer('reject'),
    },
    !isComparing,
  )
  if (isComparing && item.batch) {
    return (
      <BatchView
        project={item.project}
        batch={item.batch}
        isReadOnly={isReadOnly}
        onClose={() => setComparing(false)}
        onDone={onDone}
      />
    )
  }
  if (query.isPending || prospect.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  if (hasFailed(prospect)) {
    return <FailedQuery error={prospect.error} onRetry={() => prospect.refetch()} />
  }
  const { draft } = query.data
  const close = () => setLayer(undefined)
  return (
    <div className="flex flex-col gap-4 px-4 py-3 md:px-6">
      <ItemHead
        title={
          <h2 className="font-mail text-xl break-words">
            {draft.rendered_subject ?? draft.subject}
          </h2>
        }
        detail={item.who}
        onBack={onBack}
        open={{ href: `/p/${item.project}/drafts?draft=${item.id}`, label: text.open }}
      />
      <section aria-label={text.will} className="max-w-2xl rounded-panel border border-line p-4">
        <p className="font-medium break-words">{prospect.data.what}</p>
        {closed.length > 0 ? (
          <div className="mt-2 text-sm">
            <p className="text-muted">{canApprove ? text.cannot_send : text.cannot_approve}</p>
            <ul className="mt-1 flex flex-col gap-1">
              {closed.map(({ name, detail, way_out }) => (
                <li key={name} className="flex gap-2">
                  <CircleAlert size={16} className="mt-0.5 shrink-0 text-bad" aria-hidden />
                  <span className="min-w-0 break-words">
                    {detail} {way_out}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        ) : null}
        <div className="mt-3 flex flex-wrap gap-2">
          {closed.length === 0 ? (
            <Button
              variant="primary"
              disabled={!canSend}
              isPending={approve.isPending && approve.variables}
              icon={<Send size={14} aria-hidden />}
              onClick={() => approve.mutate(true)}
            >
              {text.approve_and_send}
            </Button>
          ) : null}
          <Button
            variant={closed.length === 0 ? 'secondary' : 'primary'}
            disabled={!canApprove}
            isPending={approve.isPending && !approve.variables}
            onClick={() => approve.mutate(false)}
          >
            {text.approve_only}
          </Button>
          <Button disabled={isReadOnly} onClick={() => setLayer('edit')}>
            {text.edit}
          </Button>
          <Button disabled={isReadOnly} onClick={() => setLayer('reject')}>
            {text.reject}
          </Button>
          <Button
            variant="ghost"
            disabled={isReadOnly}
            isPending={test.isPending}
            icon={<FlaskConical size={14} aria-hidden />}
            onClick={() => test.mutate()}
          >
            {text.test}
          </Button>
        </div>
        {item.batch ? (
          <Button
            size="sm"
            variant="ghost"
            className="mt-2 -ml-2"
            onClick={() => setComparing(true)}
          >
            {text.batch.show(item.batch.size)}
          </Button>
        ) : null}
      </section>
      <p
        lang={draft.language}
        className="max-w-2xl font-mail text-lg leading-relaxed break-words whitespace-pre-wrap"
      >
        {plainMail(draft.rendered_text ?? draft.text, drafts.own_link)}
      </p>
      <EditDialog draft={draft} isOpen={layer === 'edit'} onClose={close} onSaved={close} />
      <RejectDialog
        draft={draft}
        isOpen={layer === 'reject'}
        onClose={close}
        onSaved={() => {
          close()
          toast(text.rejected)
          void refreshQueue(queryClient)
          onDone()
        }}
      />
    </div>
  )
}
