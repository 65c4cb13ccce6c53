import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { accountQuery } from '../../api/queries.ts'
import { deliveriesText } from '../../event/deliveries.text.ts'
import { Checkbox, Field, Input, SecretInput, Switch, Textarea } from '../../ui/field.tsx'
import { FormField } from '../../ui/form.tsx'
import { useLanguage, useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { TimeZoneInput } from '../../ui/time-zone.tsx'
import { channelsText } from './channels.text.ts'
import { kindsText } from './kinds.text.ts'
import { type Config, configOf, fieldsOf, type KindName, settingsOf } from './kinds.ts'

type MessageType = Schemas['Channel']['messages'][number]

/** A channel while it is made or changed. */
export type Draft = {
  target: string
  fields: Record<string, string>
  label: string
  org_id: string
  language: 'en' | 'tr'
  time_zone: string
  messages: MessageType[]
}

/** The messages that a channel takes unless it chooses, as the API has them. */
const DEFAULT_MESSAGES: MessageType[] = [
  'alert.raised',
  'alert.escalated',
  'alert.ended',
  'alert.retracted',
  'alert.digest',
  'zone.blind',
  'zone.sighted',
  'channel.failing',
  'channel.recovered',
]
const MESSAGES: MessageType[] = [
  'alert.raised',
  'alert.escalated',
  'alert.revised',
  'alert.ended',
  'alert.retracted',
  'alert.digest',
  'alert.acknowledged',
  'alert.resolved',
  'alert.reopened',
  'zone.blind',
  'zone.sighted',
  'channel.failing',
  'channel.recovered',
]

/** The draft of a channel, or of a new one of a kind. */
export function draftOf(
  kind: KindName,
  channel: Schemas['Channel'] | undefined,
  language: 'en' | 'tr',
): Draft {
  return {
    target: channel?.target ?? '',
    fields: fieldsOf(kind, (channel?.config ?? null) as Config | null), // safe: the API answers an object
    label: channel?.label ?? '',
    org_id: channel?.org_id ?? '',
    language: channel?.language ?? language,
    time_zone: channel?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    messages: channel?.messages ?? DEFAULT_MESSAGES,
  }
}

/** A draft while it is edited, and a function that changes a part of it. */
export function useDraft(kind: KindName, channel?: Schemas['Channel']) {
  const language = useLanguage()
  const [draft, setDraft] = useState(() => draftOf(kind, channel, language))
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  return [draft, change] as const
}

/** What is sent to the API. */
export function bodyOf(kind: KindName, draft: Draft, before: Config | null) {
  return {
    target: draft.target.trim(),
    config: configOf(kind, draft.fields, before),
    label: draft.label.trim() || null,
    org_id: draft.org_id || null,
    language: draft.language,
    time_zone: draft.time_zone.trim(),
    // In the order of the API, so that a choice that was taken back is no change.
    messages: MESSAGES.filter((type) => draft.messages.includes(type)),
  }
}

type Part = { kind: KindName; draft: Draft; change: (part: Partial<Draft>) => void }

/** Where the messages go, and what the service there wants to know. */
export function ReceiverFields({ kind, draft, change }: Part) {
  const kinds = useText(kindsText)
  const set = (name: string, value: string) =>
    change({ fields: { ...draft.fields, [name]: value } })
  return (
    <>
      <FormField name="target" label={kinds.targets[kind]}>
        <Input
          spellCheck={false}
          placeholder={kinds.examples[kind]}
          value={draft.target}
          onChange={({ target }) => change({ target: target.value })}
        />
      </FormField>
      {settingsOf(kind).map(({ name, control, isRequired, choices }) => {
        const label = kinds.settings[name] ?? name
        const value = draft.fields[name] ?? ''
        if (control === 'switch') {
          return (
            <div key={name} className="flex items-center justify-between gap-3">
              {label}
              <Switch
                label={label}
                isOn={value !== ''}
                onChange={(isOn) => set(name, isOn ? 'on' : '')}
              />
            </div>
          )
        }
        const common = {
          value,
          onChange: ({ target }: { target: { value: string } }) => set(name, target.value),
        }
        return (
          <FormField
            key={name}
            name={`config.${name}`}
            label={label}
            hint={kinds.hints[name]}
            isOptional={!isRequired && control !== 'choice'}
          >
            {control === 'headers' ? <Textarea rows={2} {...common} /> : null}
            {control === 'secret' ? <SecretInput {...common} /> : null}
            {control === 'text' ? <Input {...common} /> : null}
            {control === 'number' ? <Input inputMode="numeric" {...common} /> : null}
            {control === 'choice' ? (
              <Select
                {...common}
                options={(choices ?? []).map((choice) => ({
                  value: choice,
                  label: kinds.choices[choice] ?? choice,
                }))}
              />
            ) : null}
          </FormField>
        )
      })}
    </>
  )
}

/** What it is called, who uses it, and in which words and times it is written. */
export function NameFields({ kind, draft, change }: Part) {
  const text = useText(channelsText)
  const orgs = useQuery(accountQuery).data?.account.orgs ?? []
  const shown = orgs.filter(({ id, role }) => role !== 'member' || id === draft.org_id)
  return (
    <>
      <FormField name="label" label={text.label} hint={text.label_hint} isOptional>
        <Input
          value={draft.label}
          maxLength={120}
          onChange={({ target }) => change({ label: target.value })}
        />
      </FormField>
      {shown.length > 0 ? (
        <FormField name="org_id" label={text.org}>
          <Select
            value={draft.org_id}
            onChange={({ target }) => change({ org_id: target.value })}
            options={[
              { value: '', label: text.org_none },
              ...shown.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </FormField>
      ) : null}
      {isForPeople(kind) ? (
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="language" label={text.language}>
            <Select
              value={draft.language}
              onChange={({ target }) => change({ language: target.value === 'tr' ? 'tr' : 'en' })}
              options={(['en', 'tr'] as const).map((value) => ({
                value,
                label: text.languages[value],
              }))}
            />
          </FormField>
          <FormField name="time_zone" label={text.time_zone}>
            <TimeZoneInput
              value={draft.time_zone}
              onChange={({ target }) => change({ time_zone: target.value })}
            />
          </FormField>
        </div>
      ) : null}
    </>
  )
}

/** Programs get data: their sentences are English and their times UTC. */
const isForPeople = (kind: KindName) => kind !== 'webhook' && kind !== 'mqtt'

/** Which messages it takes. */
export function MessageFields({ draft, change }: Omit<Part, 'kind'>) {
  const text = useText(channelsText)
  const names = useText(deliveriesText).message_names
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{text.messages}</legend>
      <div className="grid gap-x-4 gap-y-1 md:grid-cols-2">
        {MESSAGES.map((type) => (
          <label key={type} htmlFor={`message-${type}`} className="flex items-center gap-2">
            <Checkbox
              id={`message-${type}`}
              checked={draft.messages.includes(type)}
              onChange={({ target }) =>
                change({
                  messages: target.checked
                    ? [...draft.messages, type]
                    : draft.messages.filter((one) => one !== type),
                })
              }
            />
            {names[type]}
          </label>
        ))}
      </div>
      <p className="text-sm text-muted">{text.messages_hint}</p>
    </fieldset>
  )
}

/** Where to find the address of this kind. */
export function KindHelp({ kind, link }: { kind: KindName; link: string | undefined }) {
  const text = useText(channelsText)
  const kinds = useText(kindsText)
  return (
    <Field label={text.where}>
      <p className="text-pretty text-muted">
        {kinds.help[kind]}{' '}
        {link ? (
          <a
            href={link}
            target="_blank"
            rel="noreferrer noopener"
            className="text-accent-text hover:underline"
          >
            <code>{new URL(link).host}</code>
          </a>
        ) : null}
      </p>
    </Field>
  )
}
