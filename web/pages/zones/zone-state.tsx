import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { BellOff, ChevronDown, FlaskConical } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { accountQuery, channelsQuery, type Zone, zoneVersionsQuery } from '../../api/queries.ts'
import { FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { timeNow } from '../../ui/clock.ts'
import { Notice } from '../../ui/form.tsx'
import { localeOf, number, useLanguage, useText } from '../../ui/language.ts'
import { Menu } from '../../ui/menu.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { absolute, Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { sayValue } from './change-value.ts'
import { changesText } from './changes.text.ts'
import { zonesText } from './zones.text.ts'

const HOURS = { hour: 1, day: 24, week: 168 } as const

/** What can be done with a zone beside changing it: silence it for a while, and try its way to the channels. */
export function ZoneActions({ zone }: { zone: Zone }) {
  const text = useText(zonesText)
  const queryClient = useQueryClient()
  const onError = useToastError()
  const path = { id: zone.id }
  const snooze = useMutation({
    mutationFn: (hours: number | null) =>
      ok(
        api.PATCH('/api/v1/zones/{id}', {
          params: { path },
          body: {
            snoozed_until:
              hours === null ? null : new Date(timeNow() + hours * 3_600_000).toISOString(),
          },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['zones'] }),
    onError,
  })
  const drill = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/v1/zones/{id}/drill', {
          // Told by the inbox and the channels: nobody waits here until they have answered.
          params: { path, query: { wait: 0 } },
          body: { ignore_quiet_hours: true, escalate: false },
        }),
      ),
    onSuccess: () => {
      toast(text.drilled)
      void queryClient.invalidateQueries({ queryKey: ['alerts'] })
    },
    onError,
  })
  const isSnoozed = zone.snoozed_until !== null && Date.parse(zone.snoozed_until) > timeNow()
  return (
    <>
      {isSnoozed ? (
        <Notice
          text={
            <>
              {text.is_snoozed} <Time at={zone.snoozed_until ?? ''} />
            </>
          }
          action={
            <Button size="sm" isPending={snooze.isPending} onClick={() => snooze.mutate(null)}>
              {text.wake}
            </Button>
          }
        />
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          isPending={drill.isPending}
          onClick={() => drill.mutate()}
          icon={<FlaskConical size={14} aria-hidden />}
        >
          {text.drill}
        </Button>
        {isSnoozed ? null : (
          <Menu
            trigger={
              <Button
                size="sm"
                isPending={snooze.isPending}
                icon={<BellOff size={14} aria-hidden />}
              >
                {text.snooze} <ChevronDown size={12} aria-hidden />
              </Button>
            }
            items={(['hour', 'day', 'week'] as const).map((name) => ({
              label: text.snoozes[name],
              onSelect: () => snooze.mutate(HOURS[name]),
            }))}
          />
        )}
        <Link
          href={`/alerts?zone=${zone.id}`}
          className="inline-flex min-h-7 items-center px-2 text-sm text-accent-text hover:underline"
        >
          {text.its_alerts}
        </Link>
      </div>
    </>
  )
}

/** Who changed what in a zone, the newest first. */
export function ZoneHistory({ zone }: { zone: Zone }) {
  const text = useText(zonesText)
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="rounded-panel border border-line"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="px-3 py-2 text-sm font-medium">{text.history}</summary>
      {isOpen ? <Versions zone={zone} /> : null}
    </details>
  )
}

function Versions({ zone }: { zone: Zone }) {
  const text = useText(zonesText)
  const found = useQuery(zoneVersionsQuery(zone.id, zone.version))
  const language = useLanguage()
  const changes = useText(changesText)
  const fields: Record<string, string> = text.fields
  const channels = useQuery(channelsQuery).data ?? []
  const orgs = useQuery(accountQuery).data?.account.orgs ?? []
  const names = new Map<string, string>([
    ...channels.map(({ id, label, kind }) => [id, label ?? kind] as const),
    ...orgs.map(({ id, name }) => [id, name] as const),
  ])
  if (found.isPending) return <SkeletonRows rows={2} />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const formats = {
    number: (value: number) => number(language, value, { maximumFractionDigits: 6 }),
    time: (at: string) => absolute(at, localeOf(language)),
  }
  const say = (field: string, value: unknown) =>
    sayValue(field, value, { language, names, formats })
  return (
    <ol className="flex flex-col border-t border-line px-3 text-sm">
      {found.data.versions.map((version) => (
        <li key={version.version} className="border-b border-line py-2 last:border-b-0">
          <div className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium">{text.acts[version.action]}</span>
            <code className="min-w-0 flex-1 truncate font-sans text-muted">
              {version.actor_email ?? '–'}
            </code>
            <Time at={version.at} className="text-muted" />
          </div>
          {version.action === 'updated' ? (
            <ul className="text-muted">
              {Object.entries(version.changes).map(([field, change]) => (
                <li key={field} className="break-words">
                  {fields[field] ? <span>{fields[field]}:</span> : <code>{field}:</code>}{' '}
                  {change === 'changed' ? (
                    changes.redrawn
                  ) : (
                    <code className="font-sans text-fg">
                      {say(field, change[0])} → {say(field, change[1])}
                    </code>
                  )}
                </li>
              ))}
            </ul>
          ) : null}
        </li>
      ))}
    </ol>
  )
}
