import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { ActionDetails } from '../missions/approval.tsx'
import { missionsText } from '../missions/missions.text.ts'
import type { ItemProps } from './draft-item.tsx'
import { ItemHead } from './item-head.tsx'
import { refreshQueue, waitingQuery } from './queries.ts'
import { queueText } from './queue.text.ts'

/** An action or an improvement that an agent asks for; exactly what is shown is decided. */
export function ApprovalItem({ item, isReadOnly, onBack, onDone }: ItemProps) {
  const text = useText(queueText)
  const words = useText(common)
  const { kinds } = useText(missionsText).approvals
  const query = useQuery(waitingQuery(item.project))
  const queryClient = useQueryClient()
  const say = useToastError()
  const [isRejecting, setRejecting] = useState(false)
  const approval = query.data?.approvals.find(({ id }) => id === item.id)
  const done = (said: string) => {
    toast(said)
    onDone()
  }
  const approve = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/approvals/approve', {
          body: { id: item.id, hash: approval?.hash ?? '' },
        }),
      ),
    onSuccess: () => done(text.approved),
    onError: say,
    onSettled: () => refreshQueue(queryClient),
  })
  const canApprove = !isReadOnly && approval !== undefined && !approve.isPending
  useKeys({
    a: canApprove ? () => approve.mutate() : undefined,
    r: isReadOnly ? undefined : () => setRejecting(true),
  })
  if (query.isPending) return <SkeletonRows rows={4} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  return (
    <div className="flex max-w-2xl flex-col gap-4 px-4 py-3 md:px-6">
      <ItemHead
        title={<h2 className="text-lg break-words">{item.title}</h2>}
        detail={approval ? kinds[approval.kind] : null}
        onBack={onBack}
      />
      {approval ? <ActionDetails action={approval.action} /> : null}
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          disabled={!canApprove}
          isPending={approve.isPending}
          onClick={() => approve.mutate()}
        >
          {text.approve}
        </Button>
        <Button disabled={isReadOnly} onClick={() => setRejecting(true)}>
          {text.reject}
        </Button>
      </div>
      <Dialog isOpen={isRejecting} onClose={() => setRejecting(false)} title={text.reject_title}>
        <ApiForm
          onSubmit={async ({ reason }) => {
            const body = { id: item.id, reason: reason || null }
            await ok(api.POST('/api/cockpit/approvals/reject', { body }))
            setRejecting(false)
            done(text.rejected)
            await refreshQueue(queryClient)
          }}
        >
          <FormField name="reason" label={text.reason} hint={text.reason_hint} isOptional>
            <Textarea rows={3} maxLength={1000} />
          </FormField>
          <FormError className="mt-4" />
          <Actions>
            <Button onClick={() => setRejecting(false)}>{words.cancel}</Button>
            <Submit variant="danger">{text.reject}</Submit>
          </Actions>
        </ApiForm>
      </Dialog>
    </div>
  )
}
