import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { missionQuery } from './queries.ts'

/** How much of the model's output is shown; the rest is in the steps. */
const SHOWN = 6_000

export type Live = { text: string; tokens: number }
const NOTHING: Live = { text: '', tokens: 0 }

/** useLive follows a running mission: its steps and the model's output. */
export function useLive(id: string, isWorking: boolean): Live {
  const queryClient = useQueryClient()
  const [live, setLive] = useState(NOTHING)
  useEffect(() => {
    setLive(NOTHING)
    if (!isWorking) return
    const source = new EventSource(`/api/cockpit/missions/${id}/events`)
    const look = () => {
      void queryClient.invalidateQueries({ queryKey: missionQuery(id).queryKey })
    }
    source.addEventListener('step', () => {
      setLive(NOTHING)
      look()
    })
    source.addEventListener('state', (event) => {
      look()
      const { status } = dataOf(event)
      if (status !== 'queued' && status !== 'processing') {
        // The stream ends with the mission; otherwise the browser would open it again.
        source.close()
        for (const key of ['missions', 'approvals', 'drafts', 'today']) {
          void queryClient.invalidateQueries({ queryKey: [key] })
        }
      }
    })
    source.addEventListener('tokens', (event) => {
      const { text } = dataOf(event)
      if (typeof text !== 'string') return
      setLive((before) => ({
        text: (before.text + text).slice(-SHOWN),
        tokens: before.tokens + 1,
      }))
    })
    return () => source.close()
  }, [id, isWorking, queryClient])
  return live
}

function dataOf(event: MessageEvent): { status?: unknown; text?: unknown } {
  try {
    const data: unknown = JSON.parse(String(event.data))
    return typeof data === 'object' && data !== null ? data : {}
  } catch {
    return {}
  }
}
