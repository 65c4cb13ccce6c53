import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { DateInput } from '../../../../web/ui/dates/inputs.tsx'
import { Checkbox, Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { dealText } from './deal.text.ts'
import { leadsText } from './leads.text.ts'
import { type LeadFilter, refreshLeads } from './queries.ts'

export const BASES = ['consent', 'contract', 'legitimate_interest'] as const
export type Basis = (typeof BASES)[number]

/** The three bases with what each means in one sentence. */
export function BasisChoice({
  value,
  onChange,
}: {
  value: Basis | undefined
  onChange: (basis: Basis) => void
}) {
  const { basis } = useText(leadsText)
  const text = useText(dealText)
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{text.bulk.which}</legend>
      {BASES.map((one) => (
        <label
          key={one}
          htmlFor={`basis-${one}`}
          className="flex items-start gap-3 rounded-control border border-line px-3 py-2 has-checked:border-accent has-checked:bg-selected"
        >
          <input
            type="radio"
            id={`basis-${one}`}
            name="lawful_basis"
            value={one}
            checked={value === one}
            onChange={() => onChange(one)}
            className="mt-1 accent-(--accent)"
          />
          <span>
            <span className="font-medium">{basis[one]}</span>
            <span className="mt-0.5 block text-sm text-muted text-pretty">{text.meaning[one]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Gives chosen leads, or all that a filter finds, a lawful basis. */
export function BasisDialog({
  ids,
  filter,
  onClose,
  onDone,
}: {
  ids: string[]
  /** Set when the whole filter may be meant and not only the chosen leads. */
  filter: LeadFilter | undefined
  onClose: () => void
  onDone: () => void
}) {
  const { bulk: text } = useText(dealText)
  const words = useText(common)
  const { slug: project } = useProject()
  const queryClient = useQueryClient()
  const [basis, setBasis] = useState<Basis>()
  const [isAll, setAll] = useState(false)
  const [overwrite, setOverwrite] = useState(false)
  return (
    <Dialog isOpen onClose={onClose} title={text.title(ids.length)} size="md">
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ note, source, on }) => {
          if (!basis) return
          const whom = isAll && filter ? { filter } : { ids }
          const done = await ok(
            api.POST('/api/cockpit/leads/lawful_basis', {
              body: {
                project,
                ...whom,
                lawful_basis: basis,
                note: note || null,
                source: source || null,
                on: on || null,
                overwrite,
              },
            }),
          )
          await refreshLeads(queryClient)
          toast(text.done(done.changed, done.kept))
          onDone()
        }}
      >
        {filter ? (
          <Tick id="basis-all" label={text.all_found} isOn={isAll} onChange={setAll} />
        ) : null}
        <BasisChoice value={basis} onChange={setBasis} />
        {basis === 'legitimate_interest' ? (
          <FormField name="note" label={text.note}>
            <Textarea rows={2} maxLength={1000} />
          </FormField>
        ) : null}
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="source" label={text.source} hint={text.source_hint} isOptional>
            <Input maxLength={500} />
          </FormField>
          <FormField name="on" label={text.on} isOptional>
            <DateInput />
          </FormField>
        </div>
        <Tick id="basis-over" label={text.overwrite} isOn={overwrite} onChange={setOverwrite} />
        <FormError />
        <Actions className="mt-0">
          <Button onClick={onClose}>{words.cancel}</Button>
          <Submit disabled={!basis}>{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </Dialog>
  )
}

function Tick({
  id,
  label,
  isOn,
  onChange,
}: {
  id: string
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
}) {
  return (
    <label htmlFor={id} className="flex items-center gap-2">
      <Checkbox id={id} checked={isOn} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  )
}
