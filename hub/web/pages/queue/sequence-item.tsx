import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { Gates } from '../drafts/gates.tsx'
import { Approve, shutGates, Unproven } from '../sequences/approval.tsx'
import { sequenceQuery } from '../sequences/queries.ts'
import { RemoveDialog } from '../sequences/remove-dialog.tsx'
import { SequenceForm } from '../sequences/sequence-form.tsx'
import { sequencesText } from '../sequences/sequences.text.ts'
import { StepMails } from '../sequences/step-mails.tsx'
import type { ItemProps } from './draft-item.tsx'
import { ItemHead } from './item-head.tsx'
import { forgetItem } from './queries.ts'
import { queueText } from './queue.text.ts'

/** A sequence that waits: what approving it does, what stands in the way, and its mails as each reader gets them. */
export function SequenceItem({ item, isReadOnly, onBack, onDone }: ItemProps) {
  const text = useText(queueText)
  const words = useText(sequencesText)
  const query = useQuery(sequenceQuery(item.project, item.id))
  const queryClient = useQueryClient()
  const [layer, setLayer] = useState<'edit' | 'remove'>()
  // What has begun can be ended on its page, and is not deleted.
  const canRemove = !isReadOnly && query.data?.sequence.started_at === null
  useKeys({
    e: isReadOnly ? undefined : () => setLayer('edit'),
    r: canRemove ? () => setLayer('remove') : undefined,
  })
  if (query.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const { sequence } = query.data
  // What stands in the way comes first; where nothing does, the mails do.
  const isShut = shutGates(query.data) > 0
  const gates = <Gates gates={query.data.gates} />
  const close = () => setLayer(undefined)
  return (
    <div className="flex flex-col gap-4 px-4 py-3 md:px-6">
      <ItemHead
        title={<h2 className="text-xl break-words">{sequence.name}</h2>}
        detail={sequence.agent ? words.by_agent(sequence.agent) : null}
        onBack={onBack}
        open={{
          href: `/p/${item.project}/sequences?sequence=${item.id}`,
          label: text.open_sequence,
        }}
      />
      {sequence.state_reason ? <Notice tone="warn" text={sequence.state_reason} /> : null}
      <div className="flex max-w-2xl flex-col gap-4 rounded-panel border border-line p-4">
        <Approve detailed={query.data} isReadOnly={isReadOnly} onDone={onDone} />
        {isReadOnly ? null : (
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setLayer('edit')}>{text.edit}</Button>
            {canRemove ? <Button onClick={() => setLayer('remove')}>{words.remove}</Button> : null}
          </div>
        )}
        <Unproven detailed={query.data} isReadOnly={isReadOnly} />
        {isShut ? gates : null}
      </div>
      <div className="-mx-4 max-w-2xl md:-mx-5">
        <StepMails sequence={sequence} />
      </div>
      {isShut ? null : gates}
      <SequenceForm sequence={sequence} isOpen={layer === 'edit'} onClose={close} onSaved={close} />
      <RemoveDialog
        sequence={sequence}
        isOpen={layer === 'remove'}
        onClose={close}
        onRemoved={() => {
          toast(text.removed)
          onDone()
          forgetItem(queryClient, item.id)
        }}
      />
    </div>
  )
}
