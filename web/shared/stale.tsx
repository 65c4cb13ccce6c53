import { notifyManager, type Query, useQueryClient } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useCallback, useSyncExternalStore } from 'react'
import { Button } from '../ui/button.tsx'
import { useWords } from '../ui/words.tsx'
import { useConnection } from './connection.ts'

/** What is shown and could not be loaded again. */
const STALE = {
  type: 'active',
  predicate: ({ state }: Query) => state.status === 'error' && state.data !== undefined,
} as const

/** Says that something on the page is from before, because it could not be loaded again. */
export function StaleNotice() {
  const words = useWords()
  const client = useQueryClient()
  const cache = client.getQueryCache()
  const isStale = useSyncExternalStore(
    useCallback((changed) => cache.subscribe(notifyManager.batchCalls(changed)), [cache]),
    () => cache.findAll(STALE).length > 0,
  )
  // A server that does not answer at all is told in a place of its own.
  const isReached = useConnection() === 'ok'
  if (!isStale || !isReached) return null
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-1.5 text-sm print:hidden"
    >
      <TriangleAlert size={14} className="shrink-0 text-warn" aria-hidden />
      <p className="min-w-0 flex-1">{words.stale}</p>
      <Button size="sm" onClick={() => void client.refetchQueries(STALE)}>
        {words.retry}
      </Button>
    </div>
  )
}
