import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { isOpen, missionQuery } from '../missions/queries.ts'
import { stepsText } from './drafts.text.ts'
import { type Draft, refreshDrafts } from './queries.ts'

const LOOK_MS = 1_500

/** useRedesign starts the designer and refreshes the draft when the designer is done. */
export function useRedesign({ id, project }: Draft) {
  const text = useText(stepsText)
  const [, navigate] = useLocation()
  const queryClient = useQueryClient()
  const say = useToastError()
  const [mission, setMission] = useState<string>()
  const { data } = useQuery({
    ...missionQuery(mission ?? ''),
    enabled: mission !== undefined,
    refetchInterval: ({ state: { data } }) => (data && !isOpen(data) ? false : LOOK_MS),
  })
  const isOver = data !== undefined && data.id === mission && !isOpen(data)
  const failure = isOver && data.status === 'failed' ? data.reason : null
  useEffect(() => {
    if (!isOver) return
    setMission(undefined)
    if (failure) toast(failure, { kind: 'failed' })
    void refreshDrafts(queryClient)
  }, [isOver, failure, queryClient])
  return useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/draft/redesign', { body: { id, project } })),
    onSuccess: ({ mission }) => {
      setMission(mission.id)
      toast(text.redesigning, {
        action: {
          label: text.open_mission,
          onClick: () => navigate(`/p/${project}/missions?mission=${mission.id}`),
        },
      })
    },
    onError: say,
    onSettled: () => refreshDrafts(queryClient),
  })
}
