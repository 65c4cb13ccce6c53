import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Checkbox, Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { TimeZoneInput } from '../../../../web/ui/time-zone.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { audienceText } from '../drafts/audience.text.ts'
import { askedOf, audienceOf } from '../drafts/audience-dialog.tsx'
import { ListChoice } from '../drafts/audience-fields.tsx'
import { RecipientPreview } from '../drafts/recipients.tsx'
import { refreshSequences, type Sequence, sequenceAudienceQuery } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Step = { key: number; id?: string; wait_days: number; subject: string; text: string }

type Props = {
  /** null: a new one. */
  sequence: Sequence | null
  isOpen: boolean
  onClose: () => void
  onSaved: (id: string) => void
}

/** Writes a sequence: its steps with the days between, its recipients, and its office hours. */
export function SequenceForm(props: Props) {
  const text = useText(sequencesText)
  return (
    <Dialog
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={props.sequence ? text.form.edit : text.form.create}
      size="lg"
    >
      <Fields {...props} />
    </Dialog>
  )
}

function Fields({ sequence, onClose, onSaved }: Props) {
  const text = useText(sequencesText)
  const audience = useText(audienceText)
  const words = useText(common)
  const language = useLanguage()
  const { slug } = useProject()
  const queryClient = useQueryClient()
  const filter = sequence?.filter ?? {}
  const [asked, setAsked] = useState(() => askedOf({ kind: 'list', filter }))
  const [steps, setSteps] = useState<Step[]>(() => stepsOf(sequence))
  const [days, setDays] = useState<string[]>(sequence?.window.days ?? DAYS.slice(0, 5))
  const { data } = useQuery(sequenceAudienceQuery(slug, sequence?.id ?? null, asked))
  /** null: that of its recipients. */
  const [chosen, setChosen] = useState<string | null>(sequence?.language ?? null)
  const written = chosen ?? data?.language ?? language
  const change = (key: number, part: Partial<Step>) =>
    setSteps(steps.map((one) => (one.key === key ? { ...one, ...part } : one)))
  const zone = sequence?.window.time_zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <ApiForm
      className="flex flex-col gap-5"
      onSubmit={async (values) => {
        const value = (name: string) => values[name] ?? ''
        const chosen = audienceOf({ kind: 'list', filter }, asked)
        const body = {
          project: slug,
          name: value('name'),
          language: written === 'tr' ? ('tr' as const) : ('en' as const),
          filter: chosen.kind === 'list' ? chosen.filter : {},
          window: {
            days: DAYS.filter((day) => days.includes(day)),
            from: value('window.from'),
            to: value('window.to'),
            time_zone: value('window.time_zone'),
          },
          steps: steps.map(({ id, wait_days, subject, text }, at) => ({
            ...(id ? { id } : {}),
            wait_days: at === 0 ? 0 : wait_days,
            subject: subject.trim() || null,
            text,
          })),
        }
        const saved = sequence
          ? await ok(api.POST('/api/cockpit/sequence/edit', { body: { ...body, id: sequence.id } }))
          : await ok(api.POST('/api/cockpit/sequence/create', { body }))
        await refreshSequences(queryClient)
        onSaved(saved.sequence.id)
        onClose()
      }}
    >
      {sequence?.approved_at ? <Notice tone="warn" text={text.form.voids} /> : null}
      <div className="grid gap-4 md:grid-cols-2">
        <FormField name="name" label={text.form.name}>
          <Input required maxLength={120} defaultValue={sequence?.name ?? ''} />
        </FormField>
        <FormField
          name="language"
          label={text.form.language}
          hint={data?.language_note ?? undefined}
        >
          <Select
            value={written}
            onChange={(event) => setChosen(event.target.value)}
            options={[
              { value: 'en', label: 'English' },
              { value: 'tr', label: 'Türkçe' },
            ]}
          />
        </FormField>
      </div>
      <fieldset className="flex min-w-0 flex-col gap-4">
        <legend className="mb-2 font-medium">{text.form.steps}</legend>
        {steps.map((step, at) => (
          <StepFields
            key={step.key}
            step={step}
            at={at}
            canRemove={steps.length > 1 && !hasMails(sequence, step)}
            onChange={(part) => change(step.key, part)}
            onRemove={() => setSteps(steps.filter(({ key }) => key !== step.key))}
          />
        ))}
        {steps.length < 8 ? (
          <Button
            className="self-start"
            icon={<Plus size={16} aria-hidden />}
            onClick={() =>
              setSteps([...steps, { key: nextKey(steps), wait_days: 3, subject: '', text: '' }])
            }
          >
            {text.form.add_step}
          </Button>
        ) : null}
      </fieldset>
      <fieldset className="flex min-w-0 flex-col gap-4">
        <legend className="mb-2 font-medium">{text.form.recipients}</legend>
        <ListChoice
          draft={{ audience: { kind: 'list', filter } }}
          asked={asked}
          choices={data?.choices}
          onChange={setAsked}
        />
        <div aria-live="polite" className="min-h-7">
          {data ? (
            <>
              <p className="mb-1 font-medium" data-numbers>
                {audience.get_it(data.recipients.will_get_it, data.recipients.total)}
              </p>
              <RecipientPreview recipients={data.recipients} />
            </>
          ) : null}
        </div>
      </fieldset>
      <fieldset className="flex min-w-0 flex-col gap-3">
        <legend className="mb-2 font-medium">{text.form.window}</legend>
        <p className="text-sm text-muted">{text.form.window_hint}</p>
        <fieldset className="flex flex-wrap gap-x-4 gap-y-2">
          <legend className="sr-only">{text.form.days}</legend>
          {DAYS.map((day) => (
            <span key={day} className="flex items-center gap-2">
              <Checkbox
                id={`day-${day}`}
                checked={days.includes(day)}
                onChange={(event) =>
                  setDays(event.target.checked ? [...days, day] : days.filter((one) => one !== day))
                }
              />
              <label htmlFor={`day-${day}`}>{text.form.weekdays[day]}</label>
            </span>
          ))}
        </fieldset>
        <div className="grid gap-4 md:grid-cols-3">
          <FormField name="window.from" label={text.form.from}>
            <Input required maxLength={5} defaultValue={sequence?.window.from ?? '09:00'} />
          </FormField>
          <FormField name="window.to" label={text.form.to}>
            <Input required maxLength={5} defaultValue={sequence?.window.to ?? '17:00'} />
          </FormField>
          <FormField name="window.time_zone" label={text.form.zone}>
            <TimeZoneInput required maxLength={60} defaultValue={zone} />
          </FormField>
        </div>
      </fieldset>
      <FormError />
      <Actions className="mt-0">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Submit disabled={days.length === 0}>{words.save}</Submit>
      </Actions>
    </ApiForm>
  )
}

function StepFields({
  step,
  at,
  canRemove,
  onChange,
  onRemove,
}: {
  step: Step
  at: number
  canRemove: boolean
  onChange: (part: Partial<Step>) => void
  onRemove: () => void
}) {
  const text = useText(sequencesText)
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 rounded-panel border border-line p-4">
      <legend className="px-1 text-sm text-muted">{text.step(at + 1)}</legend>
      {at > 0 ? (
        <FormField name={`steps.${at}.wait_days`} label={text.form.wait}>
          <Input
            type="number"
            min={1}
            max={90}
            required
            className="w-24"
            value={step.wait_days}
            onChange={(event) => onChange({ wait_days: Number(event.target.value) })}
          />
        </FormField>
      ) : null}
      <FormField
        name={`steps.${at}.subject`}
        label={text.form.subject}
        hint={at > 0 ? text.form.subject_hint : undefined}
      >
        <Input
          required={at === 0}
          maxLength={150}
          value={step.subject}
          onChange={(event) => onChange({ subject: event.target.value })}
        />
      </FormField>
      <FormField name={`steps.${at}.text`} label={text.form.text} hint={text.form.text_hint}>
        <Textarea
          required
          rows={6}
          maxLength={20_000}
          className="font-mail"
          value={step.text}
          onChange={(event) => onChange({ text: event.target.value })}
        />
      </FormField>
      {canRemove ? (
        <Button
          size="sm"
          variant="ghost"
          className="self-start"
          icon={<Trash2 size={14} aria-hidden />}
          onClick={onRemove}
        >
          {text.form.remove_step(at + 1)}
        </Button>
      ) : null}
    </fieldset>
  )
}

const nextKey = (steps: Step[]) => 1 + Math.max(0, ...steps.map(({ key }) => key))

function stepsOf(sequence: Sequence | null): Step[] {
  if (!sequence) return [{ key: 1, wait_days: 0, subject: '', text: '' }]
  return sequence.steps.map(({ id, wait_days, subject, text }, at) => ({
    key: at + 1,
    id,
    wait_days,
    subject: subject ?? '',
    text,
  }))
}

/** A step that somebody has had, or may have had, stays. */
function hasMails(sequence: Sequence | null, { id }: Step): boolean {
  const mails = sequence?.steps.find((one) => one.id === id)?.mails
  return mails !== undefined && mails.sent + mails.unclear > 0
}
