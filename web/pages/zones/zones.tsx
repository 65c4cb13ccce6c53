import { useQuery } from '@tanstack/react-query'
import { Hexagon, Plus, Upload } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { foldName } from '../../../shared/words/fold.ts'
import { type Zone, zoneQuery, zonesQuery } from '../../api/queries.ts'
import { zoneIcon } from '../../event/zone-icons.ts'
import { stateOf } from '../../map/shapes.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { LongList } from '../../ui/lists/long-list.tsx'
import { Panes } from '../../ui/lists/panes.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Examples } from './examples.tsx'
import { ImportZones } from './import/import-zones.tsx'
import { ZoneEditor } from './zone-editor.tsx'
import { zonesText } from './zones.text.ts'

/** From here on a list is searched rather than read. */
const MANY = 20
const LINE_PX = 58
const NONE: Zone[] = []
const TONES = { on: 'good', blind: 'bad', snoozed: 'plain', off: 'plain' } as const

/** All zones of the caller, and beside them the one that is edited or made. */
export function ZonesPage({ id }: { id: string | undefined }) {
  const text = useText(zonesText)
  const zones = useQuery(zonesQuery)
  const isSaved = id !== undefined && id !== 'new' && id !== 'import'
  const zone = useQuery({ ...zoneQuery(id ?? ''), enabled: isSaved })
  const [sought, setSought] = useState('')
  const all = zones.data ?? NONE
  const shown = useMemo(() => {
    const wanted = foldName(sought)
    return wanted === '' ? all : all.filter(({ label }) => foldName(label).includes(wanted))
  }, [all, sought])
  const create = (
    <Link href="/zones/new" className={buttonClass({ variant: 'primary' })}>
      <Plus size={14} aria-hidden /> {text.create}
    </Link>
  )
  return (
    <Panes
      isOpen={id !== undefined}
      list={
        <>
          <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-3">
            <h1 className="flex-1 text-lg">{text.title}</h1>
            <Link href="/zones/import" className={buttonClass()}>
              <Upload size={14} aria-hidden /> {text.import}
            </Link>
            {create}
          </header>
          {zones.isPending ? <SkeletonRows /> : null}
          {hasFailed(zones) ? (
            <FailedQuery error={zones.error} onRetry={() => zones.refetch()} />
          ) : null}
          {zones.data?.length === 0 ? (
            <Empty
              picture={<Hexagon size={24} strokeWidth={1.5} aria-hidden />}
              title={text.none}
              text={text.none_text}
              action={<Examples />}
              className="py-8"
            />
          ) : null}
          {all.length >= MANY ? (
            <div className="border-b border-line p-2">
              <Input
                type="search"
                aria-label={text.find}
                placeholder={text.find}
                value={sought}
                onChange={({ target }) => setSought(target.value)}
              />
            </div>
          ) : null}
          {all.length > 0 && shown.length === 0 ? (
            <p className="p-4 text-muted">{text.found_none}</p>
          ) : null}
          {zones.data ? (
            <LongList items={shown} keyOf={(one) => one.id} height={LINE_PX} open={id}>
              {(one) => <ZoneLine zone={one} isHere={one.id === id} />}
            </LongList>
          ) : null}
        </>
      }
    >
      {id === undefined && all.length > 0 ? (
        <Empty
          picture={<Hexagon size={24} strokeWidth={1.5} aria-hidden />}
          title={text.choose}
          text={text.choose_text}
          className="py-16"
        />
      ) : null}
      {id === 'import' ? <ImportZones /> : null}
      {id === 'new' ? <ZoneEditor key="new" zone={undefined} /> : null}
      {isSaved && zone.isPending ? <SkeletonRows /> : null}
      {isSaved && hasFailed(zone) ? (
        <FailedQuery error={zone.error} onRetry={() => zone.refetch()} />
      ) : null}
      {isSaved && zone.data ? <ZoneEditor key={id} zone={zone.data} /> : null}
    </Panes>
  )
}

function ZoneLine({ zone, isHere }: { zone: Zone; isHere: boolean }) {
  const text = useText(zonesText)
  const language = useLanguage()
  const state = stateOf(zone)
  const Icon = zone.icon ? zoneIcon(zone.icon) : undefined
  const shape =
    zone.shape_type === 'polygon' ? text.polygon : text.circle(number(language, zone.radius_km))
  // One line: rows that are higher than the list expects are found by many small steps.
  const rule = `${shape}, ${text.threshold(number(language, zone.min_severity))}`
  return (
    <Link
      href={`/zones/${zone.id}`}
      aria-current={isHere ? 'true' : undefined}
      className="flex items-center gap-3 border-b border-line px-4 py-2 -outline-offset-2 hover:bg-hover aria-[current]:bg-selected"
    >
      {Icon ? (
        <Icon
          size={18}
          strokeWidth={1.75}
          aria-hidden
          className="shrink-0"
          {...(zone.color ? { color: zone.color } : {})}
        />
      ) : null}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{zone.label}</span>
        <span className="block truncate text-sm text-muted" title={rule}>
          {rule}
        </span>
      </span>
      <Badge tone={TONES[state]} className="shrink-0 bg-surface">
        {text.states[state]}
      </Badge>
    </Link>
  )
}
