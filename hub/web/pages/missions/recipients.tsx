import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Field, Input } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { api, ok, type Schemas } from '../../api/client.ts'
import { leadsQuery } from '../leads/queries.ts'
import type { Department } from './agents.tsx'
import { personName } from './person-name.ts'
import { recipientsText } from './recipients.text.ts'

type Preview = Schemas['MissionRecipients']
type Person = Preview['leads'][number]
/** What a mission is given of its recipients; nothing, where its text says it all. */
export type RecipientsInput = Pick<
  NonNullable<Schemas['MissionDetails']['input']>,
  'lead_ids' | 'filter'
>

const PAUSE_MS = 250
const SHOWN = 5

/**
 * Whom the mission, which may go on from another, would be for, requested when the typing pauses. `isCurrent`: it is about this very
 * text, or could not be had.
 */
export function usePreview(
  project: string,
  task: string,
  department: Department,
  continues?: string,
) {
  const query = useQuery({
    queryKey: ['mission-recipients', project, task, department, continues ?? null],
    queryFn: async ({ signal }) =>
      (
        await ok(
          api.POST('/api/cockpit/mission/recipients', {
            body: { task, department, project, ...(continues ? { continues } : {}) },
            signal,
          }),
        )
      ).recipients,
    enabled: task !== '',
    placeholderData: task === '' ? undefined : keepPreviousData,
  })
  return {
    preview: query.data,
    isCurrent: task === '' || query.isError || (query.isSuccess && !query.isPlaceholderData),
  }
}

/** inputOf returns what a mission has to be told of its recipients; `undefined`: somebody has to choose first. */
export function inputOf(
  preview: Preview | undefined,
  picked: Person[] | undefined,
): RecipientsInput | undefined {
  if (picked) return picked.length > 0 ? { lead_ids: picked.map(({ id }) => id) } : undefined
  if (!preview || preview.kind === 'none') return {}
  if (preview.kind === 'unclear') return undefined
  if (preview.kind === 'filter') return preview.filter ? { filter: preview.filter } : {}
  // What does not fit into the list is found again by the text.
  return preview.leads.length === preview.total
    ? { lead_ids: preview.leads.map(({ id }) => id) }
    : {}
}

/** Shows whom the mission is for, and lets people choose others. */
export function Recipients(props: {
  project: string
  preview: Preview | undefined
  picked: Person[] | undefined
  onPick: (picked: Person[] | undefined) => void
}) {
  const { project, preview, picked, onPick } = props
  const text = useText(recipientsText)
  if (!preview || (preview.kind === 'none' && !picked)) return null
  const isOpen = preview.kind === 'unclear' && !picked
  const people = picked ?? (isOpen ? [] : preview.leads)
  const total = picked?.length ?? preview.total
  const choices = preview.leads.filter(({ id }) => !people.some((one) => one.id === id))
  const called = (person: Person) => personName(person, [...people, ...choices])
  return (
    <section
      aria-label={text.title}
      className={cn(
        'flex flex-col gap-2 rounded-panel border bg-surface px-3 py-2',
        isOpen ? 'border-line-strong' : 'border-line',
      )}
    >
      <div className="flex items-start gap-2">
        <p role="status" className="min-w-0 flex-1 text-pretty">
          <span className="font-medium">
            {isOpen || total === 0 ? text.unclear : text.count(total)}
          </span>{' '}
          <span className="text-sm text-muted">
            {picked ? text.chosen : [preview.because, preview.spoken].filter(Boolean).join(' ')}
          </span>
        </p>
        {picked ? (
          <Button size="sm" variant="ghost" onClick={() => onPick(undefined)}>
            {text.back}
          </Button>
        ) : isOpen ? null : (
          <Button size="sm" variant="ghost" onClick={() => onPick(preview.leads)}>
            {text.change}
          </Button>
        )}
      </div>
      <ul className="flex flex-wrap gap-1.5">
        {people.map((person) => (
          <li key={person.id}>
            <Chip
              name={called(person)}
              label={picked ? text.remove(called(person)) : undefined}
              onClick={
                picked ? () => onPick(picked.filter(({ id }) => id !== person.id)) : undefined
              }
            />
          </li>
        ))}
        {picked || isOpen
          ? choices.map((person) => (
              <li key={person.id}>
                <Chip
                  name={called(person)}
                  isNew
                  label={text.add(called(person))}
                  onClick={() => onPick([...people, person])}
                />
              </li>
            ))
          : null}
        {!picked && total > people.length && !isOpen ? (
          <li className="self-center text-sm text-muted">{text.more(total - people.length)}</li>
        ) : null}
      </ul>
      {picked || isOpen ? (
        <Search
          project={project}
          known={[...people, ...choices]}
          onAdd={(person) => onPick([...people, person])}
        />
      ) : null}
    </section>
  )
}

/** The label of a chip for screen readers contains what it shows. */
function Chip(props: {
  name: string
  label: string | undefined
  isNew?: boolean
  onClick: (() => void) | undefined
}) {
  const { name, label, isNew = false, onClick } = props
  const content = <span className="max-w-72 truncate">{name}</span>
  const look = cn(
    'flex h-8 items-center gap-1 rounded-full border px-3 text-sm pointer-coarse:h-10',
    isNew ? 'border-dashed border-line-strong' : 'border-line bg-hover',
  )
  if (!onClick) return <span className={look}>{content}</span>
  return (
    <button
      type="button"
      aria-label={label}
      onClick={onClick}
      className={cn(look, 'hover:bg-hover')}
    >
      {isNew ? <Plus size={14} aria-hidden /> : null}
      {content}
      {isNew ? null : <X size={14} aria-hidden />}
    </button>
  )
}

/** Finds further leads by name, company or e-mail. */
function Search(props: { project: string; known: Person[]; onAdd: (person: Person) => void }) {
  const text = useText(recipientsText)
  const [typed, setTyped] = useState('')
  const [q, setQ] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const query = useInfiniteQuery({ ...leadsQuery(props.project, { q }), enabled: q !== '' })
  const found = (q === '' ? [] : (query.data?.pages[0]?.leads ?? []))
    .filter(({ id }) => !props.known.some((one) => one.id === id))
    .slice(0, SHOWN)
  const called = (person: Person) => personName(person, [...props.known, ...found])
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={text.find}>
        <Input
          autoComplete="off"
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            // Enter here is no order to start the mission.
            if (event.key === 'Enter') event.preventDefault()
          }}
        />
      </Field>
      {q !== '' && found.length === 0 && !query.isPending ? (
        <p className="text-sm text-muted">{text.none_found}</p>
      ) : null}
      <ul className="flex flex-wrap gap-1.5">
        {found.map((lead) => (
          <li key={lead.id}>
            <Chip
              name={called(lead)}
              isNew
              label={text.add(called(lead))}
              onClick={() => {
                props.onAdd(lead)
                setTyped('')
                setQ('')
              }}
            />
          </li>
        ))}
      </ul>
    </div>
  )
}
