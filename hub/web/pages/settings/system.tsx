import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, CircleX, RotateCw } from 'lucide-react'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { bytes, LANGUAGE_NAMES, number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { machineText } from './machine.text.ts'
import { modelsText } from './models/models.text.ts'
import { Card, Facts, memory as inMemory, Section } from './section.tsx'

export const systemQuery = queryOptions({
  queryKey: ['settings', 'system'],
  queryFn: async () => (await ok(api.GET('/api/cockpit/settings/system'))).system,
})

/** The machine, the hub on it, current faults, and a few settings of both. */
export function System() {
  const { system: text } = useText(machineText)
  const query = useQuery({
    queryKey: ['system_info'],
    queryFn: () => ok(api.GET('/api/cockpit/system_info')),
    refetchInterval: 10_000,
  })
  return (
    <Section title={text.title} text={text.text}>
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <>
          <Machine info={query.data} />
          <Alerts alerts={query.data.alerts} />
        </>
      )}
      <Doctor />
      <Names />
    </Section>
  )
}

/** How full something is, next to its numbers. */
function Meter({ used, all, label }: { used: number; all: number; label: string }) {
  const share = all > 0 ? Math.min(1, used / all) : 0
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <span aria-hidden className="h-1.5 w-28 overflow-hidden rounded-full bg-line">
        <span
          className={cn('block h-full', share > 0.9 ? 'bg-bad' : 'bg-fg')}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      {label}
    </span>
  )
}

function Machine({ info }: { info: Schemas['SystemInfo'] }) {
  const { system: text } = useText(machineText)
  const { states } = useText(modelsText)
  const language = useLanguage()
  const { memory, disk, cpu, model } = info
  const size = (value: number) => bytes(language, value)
  const ram = (value: number) => inMemory(language, value)
  return (
    <Card>
      <Facts
        rows={[
          [text.version, info.version],
          [
            text.uptime,
            <Time key="up" at={new Date(Date.now() - info.uptime_seconds * 1000).toISOString()} />,
          ],
          [
            text.cpu,
            text.cpu_value(cpu.cores, number(language, cpu.load_1m, { maximumFractionDigits: 1 })),
          ],
          [
            text.memory,
            <Meter
              key="memory"
              used={memory.total_bytes - memory.free_bytes}
              all={memory.total_bytes}
              label={text.free_beside(
                ram(memory.free_bytes),
                ram(memory.total_bytes),
                ram(memory.hub_bytes),
              )}
            />,
          ],
          [
            text.disk,
            <Meter
              key="disk"
              used={disk.total_bytes - disk.free_bytes}
              all={disk.total_bytes}
              label={text.free(size(disk.free_bytes), size(disk.total_bytes))}
            />,
          ],
          [
            text.model,
            <span key="model" className="flex flex-wrap gap-x-2">
              <span>{states[model.state]}</span>
              {model.name ? (
                <span className="min-w-0 text-muted break-all">{model.name}</span>
              ) : null}
            </span>,
          ],
          [text.key, text.keys[info.database.key_role]],
        ]}
      />
    </Card>
  )
}

function Alerts({ alerts }: { alerts: Schemas['Alert'][] }) {
  const { system: text } = useText(machineText)
  return (
    <Card title={text.alerts}>
      {alerts.length === 0 ? (
        <p className="flex items-center gap-2 text-muted">
          <CircleCheck size={16} aria-hidden className="text-good" />
          {text.no_alerts}
        </p>
      ) : null}
      <ul className="flex flex-col gap-3">
        {alerts.slice(0, 20).map((alert) => (
          <li key={`${alert.cause}-${alert.since}`} className="flex gap-2">
            <CircleAlert
              size={16}
              aria-hidden
              className={cn('mt-0.5 shrink-0', alert.ended_at ? 'text-muted' : 'text-bad')}
            />
            <div className="min-w-0">
              <p className="flex flex-wrap items-center gap-2">
                <span className="font-medium">{text.causes[alert.cause]}</span>
                {alert.ended_at ? <Badge>{text.ended}</Badge> : null}
                <Time at={alert.since} className="text-sm text-muted" />
              </p>
              <p className="text-sm text-muted break-words">{alert.message}</p>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const MARKS = {
  ok: { icon: CircleCheck, tone: 'text-good' },
  warn: { icon: CircleAlert, tone: 'text-warn' },
  fail: { icon: CircleX, tone: 'text-bad' },
}

function Doctor() {
  const { system: text } = useText(machineText)
  const query = useQuery({
    queryKey: ['doctor'],
    queryFn: async () => (await ok(api.GET('/api/cockpit/doctor'))).findings,
  })
  return (
    <Card
      title={text.doctor}
      text={text.doctor_text}
      action={
        <Button
          size="sm"
          isPending={query.isFetching}
          icon={<RotateCw size={14} aria-hidden />}
          onClick={() => query.refetch()}
        >
          {text.examine}
        </Button>
      }
    >
      {query.isPending ? (
        <SkeletonRows rows={4} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <ul className="flex flex-col gap-2.5">
          {query.data.map((one) => {
            const { icon: Icon, tone } = MARKS[one.is]
            return (
              <li key={one.what} className="flex gap-2">
                <Icon
                  size={16}
                  role="img"
                  aria-label={text.findings[one.is]}
                  className={`mt-0.5 shrink-0 ${tone}`}
                />
                <div className="min-w-0">
                  <p className="font-medium">{one.what}</p>
                  <p className="text-sm text-muted break-words">{one.say}</p>
                </div>
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}

function Names() {
  const { system: text } = useText(machineText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const query = useQuery(systemQuery)
  if (!query.data) return null
  const { language, hosts } = query.data
  return (
    <Card title={text.settings}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async (values) => {
          const body = {
            language: values.language === 'tr' ? ('tr' as const) : ('en' as const),
            hosts: (values.hosts ?? '')
              .split(/[\s,]+/)
              .map((host) => host.trim())
              .filter(Boolean),
          }
          await ok(api.PUT('/api/cockpit/settings/system', { body }))
          await queryClient.invalidateQueries({ queryKey: systemQuery.queryKey })
          toast(words.saved)
        }}
      >
        <FormField name="language" label={text.language} hint={text.language_hint}>
          <Select
            className="max-w-60"
            defaultValue={language}
            options={Object.entries(LANGUAGE_NAMES).map(([value, label]) => ({ value, label }))}
          />
        </FormField>
        <FormField name="hosts" label={text.hosts} hint={text.hosts_hint} isOptional>
          <Input spellCheck={false} placeholder="hub.demir.local" defaultValue={hosts.join(', ')} />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit>{words.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}
