import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../api/client.ts'
import type { Alert } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useToastError } from '../../shared/errors.tsx'
import { useText } from '../../ui/language.ts'
import { toast } from '../../ui/toast.tsx'
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
  const words = useText(common)
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
