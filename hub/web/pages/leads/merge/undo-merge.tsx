import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useToastError } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../../web/ui/layer.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { useIsReadOnly } from '../../../api/queries.ts'
import { common } from '../../../common.text.ts'
import { useProject } from '../../../project.ts'
import { leadsText } from '../leads.text.ts'
import { refreshLeads } from '../queries.ts'
import { mergeText } from './merge.text.ts'

export type Merge = Schemas['MergeRecord']

/** The merges of a project, from the record of them. */
export const mergesQuery = (project: string) => ({
  queryKey: ['duplicates', project, 'merges'],
  queryFn: async () =>
    (await ok(api.GET('/api/cockpit/leads/merges', { params: { query: { project } } }))).merges,
})

/** What people call a lead of a merge. */
export function useNameOfSide(): (lead: Record<string, unknown>) => string {
  const { unnamed } = useText(leadsText)
  return (lead) =>
    [lead.name, lead.company, lead.email].find((one) => typeof one === 'string') ?? unnamed
}

/** Undoes a merge, and says that it did, or why not. */
export function useUndoMerge() {
  const { merge: text } = useText(mergeText)
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: (id: string) =>
      ok(api.POST('/api/cockpit/leads/merges/{id}/undo', { params: { path: { id } } })),
    onSuccess: () => toast(text.undone),
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
}

/** Asks before it undoes a merge; nothing when that is no longer possible. */
export function UndoMerge({ merge }: { merge: Merge }) {
  const { merge: text } = useText(mergeText)
  const { cancel } = useText(common)
  const words = useWords()
  const project = useProject()
  const isReadOnly = useIsReadOnly() || project.read_only
  const name = useNameOfSide()
  const [isAsking, setAsking] = useState(false)
  const undo = useUndoMerge()
  if (!merge.undo_until) return null
  const [kept, gone] = [name(merge.kept), name(merge.gone)]
  return (
    <>
      <Button
        size="sm"
        disabled={isReadOnly}
        aria-label={text.undo_label(gone, kept)}
        onClick={() => setAsking(true)}
      >
        {words.undo}
      </Button>
      {isAsking ? (
        <Dialog
          isOpen
          onClose={() => setAsking(false)}
          title={text.undo_title}
          description={text.undo_of(gone, kept)}
        >
          <p className="text-muted text-pretty">{text.undo_text}</p>
          <Actions>
            <Button onClick={() => setAsking(false)}>{cancel}</Button>
            <Button
              variant="primary"
              isPending={undo.isPending}
              onClick={() => undo.mutate(merge.id, { onSettled: () => setAsking(false) })}
            >
              {text.undo_submit}
            </Button>
          </Actions>
        </Dialog>
      ) : null}
    </>
  )
}

/** The way back on the timeline of the lead that stayed. */
export function UndoOnTimeline({ id }: { id: string }) {
  const { slug } = useProject()
  const merge = useQuery(mergesQuery(slug)).data?.find((one) => one.id === id)
  return merge ? <UndoMerge merge={merge} /> : null
}
