import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { DateInput } from '../../../../web/ui/dates/inputs.tsx'
import { Checkbox, Input } from '../../../../web/ui/field.tsx'
import { isReadable } from '../../../../web/ui/form.tsx'
import { localeOf, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { day } from '../../../../web/ui/time.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { useTyped } from '../../typed.ts'
import { leadsText } from './leads.text.ts'
import type { LeadWhole } from './queries.ts'
import { refreshLeads } from './queries.ts'

/** The tasks of a lead. */
export function Tasks({ lead, isReadOnly }: { lead: LeadWhole; isReadOnly: boolean }) {
  const { panel: text } = useText(leadsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const { typed: title, write, sent } = useTyped(`task ${lead.id}`)
  const [due, setDue] = useState('')
  const add = useMutation({
    mutationFn: (task: { title: string; due_on: string | null }) =>
      ok(api.POST('/api/cockpit/lead/task', { body: { lead_id: lead.id, ...task } })),
    onSuccess: (_, task) => {
      sent(task.title)
      setDue('')
    },
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  return (
    <div className="flex flex-col gap-4 p-5">
      {isReadOnly ? null : (
        <form
          className="flex flex-wrap gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            if (!title.trim() || add.isPending || !isReadable(event.currentTarget)) return
            add.mutate({ title: title.trim(), due_on: due || null })
          }}
        >
          <Input
            aria-label={text.add_task}
            placeholder={text.task_placeholder}
            className="min-w-40 flex-1"
            value={title}
            maxLength={500}
            onChange={(event) => write(event.target.value)}
          />
          <DuePicker due={due} onChange={setDue} />
          <Button type="submit" disabled={title.trim() === ''} isPending={add.isPending}>
            {text.add_task}
          </Button>
        </form>
      )}
      {lead.tasks.length === 0 ? <p className="text-muted">{text.no_tasks}</p> : null}
      <ul className="flex flex-col">
        {lead.tasks.map((task) => (
          <TaskRow key={task.id} task={task} isReadOnly={isReadOnly} />
        ))}
      </ul>
    </div>
  )
}

const DAYS = [0, 1, 3, 7, 14, 30] as const

/** The due date of a task: one of the usual days, or any other. */
function DuePicker({ due, onChange }: { due: string; onChange: (due: string) => void }) {
  const { panel: text } = useText(leadsText)
  const language = useLanguage()
  const [isOther, setOther] = useState(false)
  if (isOther) {
    return (
      <DateInput
        aria-label={text.due}
        className="w-36!"
        value={due}
        min={today()}
        onChange={onChange}
      />
    )
  }
  const inDays = (days: number) => today(new Date(Date.now() + days * 86_400_000))
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  return (
    <Select
      aria-label={text.due}
      className="w-36"
      value={due}
      onChange={({ target }) => {
        setOther(target.value === 'other')
        onChange(target.value === 'other' ? '' : target.value)
      }}
      options={[
        { value: '', label: text.no_due },
        ...DAYS.map((days) => ({ value: inDays(days), label: relative.format(days, 'day') })),
        { value: 'other', label: text.other_day },
      ]}
    />
  )
}

/** A task with its checkbox. */
function TaskRow({ task, isReadOnly }: { task: Schemas['Task']; isReadOnly: boolean }) {
  const { panel: text } = useText(leadsText)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const say = useToastError()
  const settled = () => refreshLeads(queryClient)
  const update = useMutation({
    mutationFn: (done: boolean) =>
      ok(api.POST('/api/cockpit/lead/task/update', { body: { task_id: task.id, done } })),
    onError: say,
    onSettled: settled,
  })
  const remove = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/lead/task/delete', { body: { task_id: task.id } })),
    onError: say,
    onSettled: settled,
  })
  const isDone = update.isPending ? update.variables : task.done_at !== null
  const isLate = !isDone && task.due_on !== null && task.due_on < today()
  return (
    <li className="group flex min-h-11 items-center gap-3 border-b border-line py-1.5 last:border-0">
      <div className="min-w-0 flex-1">
        <label htmlFor={`task-${task.id}`} className="flex items-center gap-3">
          <Checkbox
            id={`task-${task.id}`}
            disabled={isReadOnly}
            checked={isDone}
            onChange={(event) => update.mutate(event.target.checked)}
          />
          <span className={cn('min-w-0 break-words', isDone && 'text-muted line-through')}>
            {task.title}
          </span>
        </label>
        {task.due_on ? (
          <p className={cn('pl-7 text-sm', isLate ? 'text-bad' : 'text-muted')}>
            {isLate
              ? text.overdue(day(task.due_on, localeOf(language)))
              : text.due_on(day(task.due_on, localeOf(language)))}
          </p>
        ) : null}
      </div>
      {isReadOnly ? null : (
        <IconButton
          label={text.delete_task}
          onClick={() => remove.mutate()}
          className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
        >
          <Trash2 size={14} aria-hidden />
        </IconButton>
      )}
    </li>
  )
}

/** Today's date in the browser's time zone. */
export function today(now = new Date()): string {
  const part = (value: number) => String(value).padStart(2, '0')
  return `${now.getFullYear()}-${part(now.getMonth() + 1)}-${part(now.getDate())}`
}
