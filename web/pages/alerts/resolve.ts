import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../api/client.ts'
import type { Alert } from '../../api/queries.ts'
import { useToastError } from '../../shared/errors.tsx'
import { useText } from '../../ui/language.ts'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { alertsText } from './alerts.text.ts'

type Patch = { resolved?: boolean; note?: string | null }

/** Changes an alert; what is shown of it follows. */
export function useAlertPatch() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: Patch & { id: string }) =>
      ok(api.PATCH('/api/v1/alerts/{id}', { params: { path: { id } }, body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['alerts'] }),
    onError: useToastError(),
  })
}

/** Resolves an alert or reopens it, with a way back instead of a question. */
export function useResolve() {
  const text = useText(alertsText)
  const words = useWords()
  const patch = useAlertPatch()
  const resolve = ({ id, resolved }: Pick<Alert, 'id' | 'resolved'>) => {
    const back = { label: words.undo, onClick: () => patch.mutate({ id, resolved }) }
    patch.mutate(
      { id, resolved: !resolved },
      {
        onSuccess: () => toast(resolved ? text.reopened : text.resolved, { action: back }),
      },
    )
  }
  return { mutate: resolve, isPending: patch.isPending }
}

/** How many requests are under way at once: the service answers others meanwhile. */
const AT_ONCE = 4

/** Resolves several alerts, with one way back for all of them. */
export function useResolveMany() {
  const text = useText(alertsText)
  const words = useWords()
  const queryClient = useQueryClient()
  const setAll = async ({ ids, resolved }: { ids: string[]; resolved: boolean }) => {
    const done: string[] = []
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const part = ids.slice(from, from + AT_ONCE).map(async (id) => {
        const path = { id }
        await ok(api.PATCH('/api/v1/alerts/{id}', { params: { path }, body: { resolved } }))
        done.push(id)
      })
      await Promise.allSettled(part)
    }
    return { done, failed: ids.length - done.length }
  }
  const after = () => queryClient.invalidateQueries({ queryKey: ['alerts'] })
  const tellFailed = (count: number) => {
    if (count > 0) toast(text.not_resolved(count), { kind: 'failed' })
  }
  const back = useMutation({
    mutationFn: setAll,
    onSuccess: ({ failed }) => tellFailed(failed),
    onSettled: after,
  })
  return useMutation({
    mutationFn: (ids: string[]) => setAll({ ids, resolved: true }),
    onSuccess: ({ done, failed }) => {
      const undo = () => back.mutate({ ids: done, resolved: false })
      if (done.length > 0) {
        toast(text.resolved_many(done.length), { action: { label: words.undo, onClick: undo } })
      }
      tellFailed(failed)
    },
    onSettled: after,
  })
}
