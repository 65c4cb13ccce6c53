import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { accountQuery, channelsQuery } from '../../api/queries.ts'
import { Input } from '../../ui/field.tsx'
import { FormField } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { ChannelChoices } from './channel-choices.tsx'
import type { Draft } from './draft.ts'
import { Escalation } from './escalation.tsx'
import { zonesText } from './zones.text.ts'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** Where the alerts of a zone go, and who else sees it. */
export function People({ draft, change }: Part) {
  const text = useText(zonesText)
  const { data: channels } = useQuery(channelsQuery)
  const orgs = useQuery(accountQuery).data?.account.orgs ?? []
  const chosen = draft.channel_ids
  const way = chosen === null ? 'all' : chosen.length === 0 && !draft.isChoosing ? 'none' : 'some'
  return (
    <>
      <FormField
        name="channel_ids"
        label={text.channels}
        hint={
          channels?.length === 0 ? (
            <>
              {text.no_channels}{' '}
              <Link href="/channels/new" className="text-accent-text underline">
                {text.add_channel}
              </Link>
            </>
          ) : undefined
        }
      >
        <Select
          value={way}
          onChange={({ target }) =>
            change(
              target.value === 'all'
                ? { channel_ids: null, isChoosing: false }
                : { channel_ids: [], isChoosing: target.value === 'some' },
            )
          }
          options={(['all', 'some', 'none'] as const).map((value) => ({
            value,
            label: text.channel_ways[value],
          }))}
        />
      </FormField>
      {way === 'some' ? (
        <ChannelChoices
          label={text.channels}
          channels={channels}
          chosen={chosen ?? []}
          onChange={(channel_ids) => change({ channel_ids })}
        />
      ) : null}
      <Escalation draft={draft} change={change} channels={channels} />
      {orgs.length > 0 ? (
        <FormField name="org_id" label={text.shared_with}>
          <Select
            value={draft.org_id}
            onChange={({ target }) => change({ org_id: target.value })}
            options={[
              { value: '', label: text.shared_none },
              ...orgs.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </FormField>
      ) : null}
      <FormField
        name="external_id"
        label={text.fields.external_id}
        hint={text.external_id_hint}
        isOptional
      >
        <Input
          value={draft.external_id}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => change({ external_id: target.value })}
        />
      </FormField>
    </>
  )
}
