import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CornerDownRight } from 'lucide-react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { api, ok } from '../../api/client.ts'
import { useMissionAddress } from './address.ts'
import { missionsText } from './missions.text.ts'
import { type Details, refreshMissions } from './queries.ts'

/** What is worth asking the same agent next; one click asks it. */
export function FollowUps({
  mission,
  tasks,
  isReadOnly,
}: {
  mission: Details
  tasks: string[]
  isReadOnly: boolean
}) {
  const { result: text } = useText(missionsText)
  const { set } = useMissionAddress()
  const queryClient = useQueryClient()
  const say = useToastError()
  const ask = useMutation({
    mutationFn: async (task: string) => {
      const { department, project } = mission
      return ok(api.POST('/api/cockpit/mission/compose', { body: { department, task, project } }))
    },
    onSuccess: ({ mission: { id } }) => set({ mission: id }),
    onError: say,
    onSettled: () => refreshMissions(queryClient),
  })
  return (
    <section aria-label={text.next} className="flex flex-wrap items-center gap-2">
      <span className="text-sm text-muted">{text.next}</span>
      {tasks.map((task) => (
        <Button
          key={task}
          size="sm"
          disabled={isReadOnly || ask.isPending}
          icon={<CornerDownRight size={14} aria-hidden />}
          onClick={() => ask.mutate(task)}
        >
          {task}
        </Button>
      ))}
    </section>
  )
}
