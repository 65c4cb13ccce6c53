import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Paperclip } from 'lucide-react'
import { type ComponentProps, useEffect, useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { CountedTextarea } from '../../counted.tsx'
import { useProject } from '../../project.ts'
import { AGENTS, AgentMark, type Department } from './agents.tsx'
import { Limits } from './limits.tsx'
import { missionsText } from './missions.text.ts'
import { agentsQuery, refreshMissions } from './queries.ts'
import { inputOf, Recipients, usePreview } from './recipients.tsx'

const PAUSE_MS = 180

/** Gives a task to an agent; shows which one before it is sent. */
export function Compose(props: {
  isOpen: boolean
  onClose: () => void
  onSent: (id: string) => void
}) {
  const { form } = useText(missionsText)
  return (
    <Dialog
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={form.title}
      description={form.description}
      size="md"
    >
      <ComposeForm {...props} />
    </Dialog>
  )
}

/** The text once the typing has paused. */
function useSettled(task: string): string {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(task.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [task])
  return settled
}

/** The agent that would get the task. */
function useRouted(settled: string) {
  return useQuery({
    queryKey: ['route', settled],
    queryFn: async ({ signal }) =>
      (await ok(api.POST('/api/cockpit/mission/route', { body: { task: settled }, signal })))
        .routed,
    enabled: settled !== '',
    placeholderData: settled === '' ? undefined : keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function ComposeForm({ onClose, onSent }: { onClose: () => void; onSent: (id: string) => void }) {
  const { form: text } = useText(missionsText)
  const words = useText(common)
  const { slug } = useProject()
  const queryClient = useQueryClient()
  const [task, setTask] = useState('')
  const [department, setDepartment] = useState<Department>('auto')
  const [hasMaterial, setMaterial] = useState(false)
  const [material, setText] = useState('')
  const settled = useSettled(task)
  const routed = useRouted(settled).data
  const { preview, isCurrent } = usePreview(slug, hasMaterial ? '' : settled, department)
  const [picked, setPicked] = useState<ComponentProps<typeof Recipients>['picked']>()
  const recipients = inputOf(task.trim() && !hasMaterial ? preview : undefined, picked)
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async ({ task = '', text: material }) => {
        const { mission } = await ok(
          api.POST('/api/cockpit/mission/compose', {
            body: {
              department,
              task,
              project: slug,
              input: { ...recipients, ...(material ? { text: material } : {}) },
            },
          }),
        )
        toast(text.sent)
        await refreshMissions(queryClient)
        onSent(mission.id)
      }}
    >
      <FormField name="task" label={text.task}>
        <CountedTextarea
          data-first
          rows={4}
          limit={20_000}
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
      {hasMaterial ? (
        <FormField name="text" label={text.material} isOptional>
          <CountedTextarea
            limit={1_500_000}
            rows={5}
            className="font-mono text-sm!"
            spellCheck={false}
            value={material}
            onChange={(event) => setText(event.target.value)}
          />
        </FormField>
      ) : (
        <Button
          size="sm"
          variant="ghost"
          className="-mt-2 -ml-2 self-start"
          icon={<Paperclip size={14} aria-hidden />}
          onClick={() => setMaterial(true)}
        >
          {text.add_material}
        </Button>
      )}
      <Limits task={task.trim().length} text={material.trim().length} />
      <Chosen department={department} routed={task.trim() ? routed : undefined} />
      <Recipients
        project={slug}
        preview={task.trim() && !hasMaterial ? preview : undefined}
        picked={picked}
        onPick={setPicked}
      />
      <Agents
        department={department}
        routed={department === 'auto' && task.trim() ? (routed?.agent ?? undefined) : undefined}
        onChange={setDepartment}
      />
      <FormError />
      <Actions className="mt-2">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Submit
          disabled={
            // Nobody is written to whom the page has not shown for this very text.
            task.trim() === '' || recipients === undefined || settled !== task.trim() || !isCurrent
          }
        >
          {text.submit}
        </Submit>
      </Actions>
    </ApiForm>
  )
}

/** Which agent gets the task, and why. */
function Chosen({
  department,
  routed,
}: {
  department: Department
  routed: Schemas['Routed'] | undefined
}) {
  const { routed: text, agents } = useText(missionsText)
  const roles = useQuery(agentsQuery).data
  const agent = department === 'auto' ? (routed?.agent ?? 'auto') : department
  const role = roles?.find(({ name }) => name === agent)?.role
  const found = routed?.candidates.find((one) => one.agent === agent)
  const why =
    department !== 'auto'
      ? text.chosen
      : routed?.decided_by === 'command'
        ? text.command
        : found
          ? text.because(found.words.map((word) => `“${word}”`).join(', '))
          : ''
  return (
    <div
      role="status"
      className="flex min-h-14 items-center gap-3 rounded-panel border border-line bg-surface px-3 py-2"
    >
      <AgentMark agent={agent} size={32} />
      <div className="min-w-0 flex-1">
        {agent === 'auto' ? (
          <p className="text-muted text-pretty">
            {routed ? text.unknown(routed.reason) : text.waiting}
          </p>
        ) : (
          <>
            <p>
              <span className="font-medium">{text.to(agents[agent])}</span>{' '}
              <span className="text-sm text-muted">{why}</span>
            </p>
            <p className="text-sm text-muted">{role}</p>
          </>
        )}
      </div>
    </div>
  )
}

function Agents({
  department,
  routed,
  onChange,
}: {
  department: Department
  routed: Department | undefined
  onChange: (department: Department) => void
}) {
  const text = useText(missionsText)
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{text.form.agent}</legend>
      <div className="flex flex-wrap gap-1.5">
        {(['auto', ...AGENTS] as const).map((agent) => (
          <button
            key={agent}
            type="button"
            aria-pressed={agent === department}
            onClick={() => onChange(agent)}
            className={cn(
              'flex h-8 items-center gap-1.5 rounded-full border pr-3 pl-1.5 text-sm pointer-coarse:h-10',
              agent === department
                ? 'border-accent bg-selected font-medium text-fg'
                : agent === routed
                  ? 'border-line-strong text-fg'
                  : 'border-line text-muted hover:text-fg',
            )}
          >
            <AgentMark agent={agent} size={20} />
            {text.agents[agent]}
          </button>
        ))}
      </div>
    </fieldset>
  )
}
