import { useQuery } from '@tanstack/react-query'
import { type Zone, zoneVersionsQuery } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/form.tsx'
import { localeOf, useLanguage, useText } from '../../ui/language.ts'
import type { Newer } from './use-draft.ts'
import { zonesText } from './zones.text.ts'

/** Says who has saved the zone since the form was opened, and lets the reader choose what becomes of it. */
export function NewerNotice({
  zone,
  newer,
  onTake,
  onKeep,
}: {
  zone: Zone
  newer: Newer
  onTake: () => void
  onKeep: () => void
}) {
  const text = useText(zonesText)
  const locale = localeOf(useLanguage())
  const versions = useQuery(zoneVersionsQuery(zone.id, zone.version)).data?.versions
  const list = (fields: Newer['fields']) =>
    new Intl.ListFormat(locale).format(fields.map((field) => text.fields[field]))
  const who = versions?.[0]?.actor_email ?? text.somebody
  return (
    <Notice
      tone="bad"
      text={
        <>
          <p>{text.newer(who, list(newer.fields))}</p>
          {newer.both.length > 0 ? <p>{text.newer_both(list(newer.both))}</p> : null}
        </>
      }
      action={
        <div className="flex flex-wrap gap-2">
          <Button size="sm" onClick={onTake}>
            {text.take_theirs}
          </Button>
          {newer.both.length > 0 ? (
            <Button size="sm" onClick={onKeep}>
              {text.keep_mine}
            </Button>
          ) : null}
        </div>
      }
    />
  )
}
