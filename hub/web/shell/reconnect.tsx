import { useQueryClient } from '@tanstack/react-query'
import { LoaderCircle, PlugZap } from 'lucide-react'
import { useEffect } from 'react'
import { connection, useConnection } from '../../../web/shared/connection.ts'
import { useText } from '../../../web/ui/language.ts'
import { toast } from '../../../web/ui/toast.tsx'
import { api, ok } from '../api/client.ts'
import { healthQuery } from '../api/queries.ts'
import { common } from '../common.text.ts'

const EVERY_MS = 700
/** After a restart was requested, the old process still answers for a moment. */
const AT_LEAST_MS = 1_500

/** Shows that the hub is unavailable, keeps trying, and refreshes the page when it is back. */
export function Reconnect() {
  const state = useConnection()
  const text = useText(common).connection
  const queryClient = useQueryClient()
  useEffect(() => {
    if (state === 'ok') return
    const began = performance.now()
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      try {
        const health = await ok(api.GET('/api/cockpit/health'))
        const isEarly = state === 'restarting' && performance.now() - began < AT_LEAST_MS
        if (isOver) return
        if (!isEarly) {
          queryClient.setQueryData(healthQuery.queryKey, health)
          connection.set('ok')
          void queryClient.invalidateQueries()
          toast(text.back)
          return
        }
      } catch {
        // Still unavailable: the next round tries again.
      }
      if (!isOver) timer = setTimeout(ask, EVERY_MS)
    }
    timer = setTimeout(ask, EVERY_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [state, queryClient, text.back])
  if (state === 'ok') return null
  return (
    <div
      role="status"
      className="fixed inset-x-0 top-3 z-40 mx-auto flex w-fit max-w-[calc(100vw-24px)] items-center gap-2 rounded-full bg-raised px-4 py-2 text-sm shadow-panel"
    >
      {state === 'lost' ? (
        <PlugZap size={16} className="text-warn" aria-hidden />
      ) : (
        <LoaderCircle size={16} className="spinner text-muted" aria-hidden />
      )}
      {state === 'lost' ? text.lost : text.restarting}
    </div>
  )
}
