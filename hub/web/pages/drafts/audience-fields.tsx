import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Field, Input, Switch } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { useProject } from '../../project.ts'
import { leadsText } from '../leads/leads.text.ts'
import { leadsQuery, nameOf } from '../leads/queries.ts'
import { STAGES } from '../leads/stage.tsx'
import { audienceText } from './audience.text.ts'
import type { Asked, Choices, Draft } from './queries.ts'

type Given = {
  draft: Pick<Draft, 'audience'>
  asked: Asked
  /** The choices that the project's leads offer, once they are loaded. */
  choices: Choices | undefined
  onChange: (asked: Asked) => void
}

const PAUSE_MS = 250
const SHOWN = 6

/** The text that was typed, once the typing has paused. */
function useTyped(first: string, onPause: (text: string) => void) {
  const [typed, setTyped] = useState(first)
  const [told, setTold] = useState(first)
  useEffect(() => {
    if (typed.trim() === told) return
    const timer = setTimeout(() => {
      setTold(typed.trim())
      onPause(typed.trim())
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  })
  return {
    value: typed,
    onChange: (event: { target: { value: string } }) => setTyped(event.target.value),
  }
}

/** The leads of a campaign; they must match all conditions. */
export function ListChoice({ draft, asked, choices, onChange }: Given) {
  const text = useText(audienceText)
  const leads = useText(leadsText)
  const chosen = draft.audience.kind === 'list' ? draft.audience.filter.lead_ids : undefined
  const set = (name: keyof Asked, value: string) => {
    const { [name]: _, ...rest } = asked
    onChange(value ? { ...rest, [name]: value } : rest)
  }
  const search = useTyped(asked.q ?? '', (q) => set('q', q))
  const withNow = (values: string[] | undefined, now: string | undefined) =>
    [...new Set([...(now ? [now] : []), ...(values ?? [])])].map((value) => ({
      value,
      label: value,
    }))
  return (
    <>
      <div className="grid gap-4 md:grid-cols-2">
        <Field label={leads.stage}>
          <Select
            value={asked.stage ?? ''}
            onChange={(event) => set('stage', event.target.value)}
            options={[
              { value: '', label: leads.any_stage },
              ...STAGES.map((stage) => ({ value: stage, label: leads.stages[stage] })),
            ]}
          />
        </Field>
        <Field label={leads.tag}>
          <Select
            value={asked.tag ?? ''}
            onChange={(event) => set('tag', event.target.value)}
            options={[{ value: '', label: text.any_tag }, ...withNow(choices?.tags, asked.tag)]}
          />
        </Field>
        <Field label={text.country}>
          <Select
            value={asked.country ?? ''}
            onChange={(event) => set('country', event.target.value)}
            options={[
              { value: '', label: text.any_country },
              ...withNow(choices?.countries, asked.country),
            ]}
          />
        </Field>
        <Field label={text.answered}>
          <Select
            value={asked.answered ?? ''}
            onChange={(event) => set('answered', event.target.value)}
            options={[
              { value: '', label: text.any_answer },
              { value: 'true', label: text.did_answer },
              { value: 'false', label: text.did_not_answer },
            ]}
          />
        </Field>
        <Field label={text.search} hint={text.search_hint}>
          <Input autoComplete="off" maxLength={200} {...search} />
        </Field>
      </div>
      {chosen ? (
        <div className="flex items-center gap-3">
          <Switch
            label={text.only_chosen(chosen.length)}
            isOn={asked.is_chosen === 'true'}
            onChange={(isOn) => set('is_chosen', isOn ? 'true' : '')}
          />
          <span>{text.only_chosen(chosen.length)}</span>
        </div>
      ) : null}
    </>
  )
}

/** The lead of a draft for one lead. */
export function LeadChoice({ asked, onChange }: Given) {
  const text = useText(audienceText)
  const { slug } = useProject()
  const [q, setQ] = useState('')
  const search = useTyped('', setQ)
  const query = useInfiniteQuery(leadsQuery(slug, q ? { q } : {}))
  const found = (query.data?.pages[0]?.leads ?? []).slice(0, SHOWN)
  return (
    <>
      <Field label={text.find_lead} hint={text.search_hint}>
        <Input autoComplete="off" maxLength={200} {...search} />
      </Field>
      <fieldset className="flex min-w-0 flex-col">
        <legend className="sr-only">{text.other_lead}</legend>
        {found.length === 0 && !query.isPending ? (
          <p className="text-muted">{text.none_found}</p>
        ) : null}
        {found.map((lead) => (
          <label
            key={lead.id}
            className="flex min-h-10 items-center gap-3 rounded-control px-2 hover:bg-hover has-checked:bg-hover"
          >
            <input
              type="radio"
              name="lead_id"
              checked={asked.lead_id === lead.id}
              onChange={() => onChange({ lead_id: lead.id })}
              className="size-4 shrink-0 appearance-none rounded-full border border-line-strong bg-surface checked:border-[5px] checked:border-accent"
            />
            <span className="min-w-0 flex-1 truncate">{nameOf(lead)}</span>
            <span className="max-w-[50%] truncate text-sm text-muted">
              {lead.email ?? text.no_email}
            </span>
          </label>
        ))}
      </fieldset>
    </>
  )
}
