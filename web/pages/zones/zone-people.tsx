import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { accountQuery, channelsQuery } from '../../api/queries.ts'
import { Checkbox, Input } from '../../ui/field.tsx'
import { FormField } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import type { Draft } from './draft.ts'
import { zonesText } from './zones.text.ts'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** Where the alerts of a zone go, and who else sees it. */
export function People({ draft, change }: Part) {
  const text = useText(zonesText)
  const channels = useQuery(channelsQuery).data ?? []
  const orgs = useQuery(accountQuery).data?.account.orgs ?? []
  const chosen = draft.channel_ids
  const way = chosen === null ? 'all' : chosen.length === 0 && !draft.isChoosing ? 'none' : 'some'
  return (
    <>
      <FormField
        name="channel_ids"
        label={text.channels}
        hint={
          channels.length === 0 ? (
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
        <ul className="flex flex-col gap-1" aria-label={text.channels}>
          {channels.map((channel) => (
            <li key={channel.id}>
              <label htmlFor={`channel-${channel.id}`} className="flex items-center gap-2">
                <Checkbox
                  id={`channel-${channel.id}`}
                  checked={chosen?.includes(channel.id) ?? false}
                  onChange={({ target }) =>
                    change({
                      channel_ids: target.checked
                        ? [...(chosen ?? []), channel.id]
                        : (chosen ?? []).filter((id) => id !== channel.id),
                    })
                  }
                />
                <span className="min-w-0 truncate">{channel.label ?? channel.kind}</span>
              </label>
            </li>
          ))}
        </ul>
      ) : null}
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
