import { useQueryClient } from '@tanstack/react-query'
import { CornerDownRight } from 'lucide-react'
import { type ComponentProps, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { useTyped } from '../../typed.ts'
import { useMissionAddress } from './address.ts'
import { AgentMark } from './agents.tsx'
import { chipsFor } from './chips.ts'
import { type Details, refreshMissions } from './queries.ts'
import { inputOf, Recipients, usePreview } from './recipients.tsx'
import { StatusBadge } from './status.tsx'
import { threadText } from './thread.text.ts'

const PAUSE_MS = 180

/** The missions of one conversation in their order; the open one stands out. */
export function Conversation({ mission }: { mission: Details }) {
  const text = useText(threadText)
  if (mission.conversation.length < 2) return null
  return (
    <nav aria-label={text.conversation}>
      <ol className="flex flex-col gap-1">
        {mission.conversation.map((turn) => (
          <li key={turn.id}>
            <Link
              href={`/p/${mission.project}/missions?mission=${turn.id}`}
              aria-current={turn.id === mission.id ? 'true' : undefined}
              className={cn(
                'flex items-start gap-3 rounded-panel border px-3 py-2',
                turn.id === mission.id
                  ? 'border-line-strong bg-surface'
                  : 'border-line hover:bg-hover',
              )}
            >
              <AgentMark agent={turn.department} size={20} />
              <span className="flex min-w-0 flex-1 flex-col gap-1">
                <span className="font-medium break-words">{turn.task}</span>
                {turn.summary && turn.id !== mission.id ? (
                  <span className="line-clamp-3 text-sm text-muted break-words">
                    {turn.summary}
                  </span>
                ) : null}
              </span>
              <StatusBadge mission={{ ...turn, waits_for: null }} />
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** Asks the agent further: the result so far is what it goes on from. */
export function AskFurther({ mission, isReadOnly }: { mission: Details; isReadOnly: boolean }) {
  const text = useText(threadText)
  const queryClient = useQueryClient()
  const { set } = useMissionAddress()
  const { typed: task, write: setTask, sent } = useTyped(`ask ${mission.id}`)
  const [settled, setSettled] = useState('')
  const [picked, setPicked] = useState<ComponentProps<typeof Recipients>['picked']>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(task.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [task])
  const { preview, isCurrent } = usePreview(mission.project, settled, 'auto', mission.id)
  const shown = task.trim() ? preview : undefined
  const recipients = inputOf(shown, picked)
  const chips = chipsFor(mission.result)
  return (
    <ApiForm
      className="flex flex-col gap-3"
      onSubmit={async () => {
        const made = await ok(
          api.POST('/api/cockpit/mission/continue', {
            body: { id: mission.id, task: task.trim(), input: { ...recipients } },
          }),
        )
        sent(task)
        toast(text.sent)
        await refreshMissions(queryClient)
        set({ mission: made.mission.id })
      }}
    >
      <FormField name="task" label={text.ask}>
        <Textarea
          rows={2}
          maxLength={20_000}
          disabled={isReadOnly}
          placeholder={text.examples}
          value={task}
          onChange={(event) => setTask(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
        />
      </FormField>
      {chips.length > 0 ? (
        <fieldset className="flex flex-wrap items-center gap-2" aria-label={text.chips}>
          {chips.map((chip) => (
            <Button
              key={chip}
              size="sm"
              disabled={isReadOnly}
              aria-pressed={task === text[chip]}
              icon={<CornerDownRight size={14} aria-hidden />}
              // Whom it is for is shown first, as for words that somebody types.
              onClick={() => setTask(text[chip])}
            >
              {text[chip]}
            </Button>
          ))}
        </fieldset>
      ) : null}
      <Recipients project={mission.project} preview={shown} picked={picked} onPick={setPicked} />
      <FormError />
      <div>
        <Submit
          disabled={
            isReadOnly ||
            task.trim() === '' ||
            recipients === undefined ||
            settled !== task.trim() ||
            !isCurrent
          }
        >
          {text.submit}
        </Submit>
      </div>
    </ApiForm>
  )
}
