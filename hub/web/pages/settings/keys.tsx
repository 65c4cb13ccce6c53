import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { timeNow } from '../../../../web/ui/clock.ts'
import { CopyText } from '../../../../web/ui/copy.tsx'
import { Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { automationText } from './automation.text.ts'
import { Ask } from './members.tsx'
import { Card, Section } from './section.tsx'

type Key = Schemas['HubKey']

const KEY = ['settings', 'keys']
const DAY_MS = 86_400_000

/** Named keys for scripts and model clients. */
export function Keys() {
  const { keys: text } = useText(automationText)
  const query = useQuery({
    queryKey: KEY,
    queryFn: async () => (await ok(api.GET('/api/cockpit/settings/keys'))).keys,
  })
  const [shown, setShown] = useState<{ name: string; secret: string }>()
  return (
    <Section title={text.title} text={text.text}>
      <Add onMade={setShown} />
      {shown ? (
        <Card title={text.secret(shown.name)} text={text.secret_hint}>
          <CopyText label={text.secret(shown.name)} text={shown.secret} />
        </Card>
      ) : null}
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : query.data.length === 0 ? (
        <p className="text-muted">{text.empty}</p>
      ) : (
        <Card>
          <ul className="-my-2 flex flex-col">
            {query.data.map((key) => (
              <Row key={key.id} one={key} />
            ))}
          </ul>
        </Card>
      )}
    </Section>
  )
}

function Add({ onMade }: { onMade: (made: { name: string; secret: string }) => void }) {
  const { keys: text } = useText(automationText)
  const queryClient = useQueryClient()
  const [scope, setScope] = useState<Key['scope']>('propose')
  const [days, setDays] = useState('365')
  return (
    <Card title={text.add}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ name = '' }) => {
          const end = days === '' ? null : timeNow() + Number(days) * DAY_MS
          const expires_at = end === null ? null : new Date(end).toISOString()
          const body = { name, scope, expires_at }
          const made = await ok(api.POST('/api/cockpit/settings/keys', { body }))
          onMade({ name, secret: made.secret })
          await queryClient.invalidateQueries({ queryKey: KEY })
        }}
      >
        <FormField name="name" label={text.name}>
          <Input autoComplete="off" maxLength={120} />
        </FormField>
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="scope" label={text.scope} hint={text.scopes[scope]}>
            <Select
              value={scope}
              onChange={({ target }) => setScope(target.value as Key['scope'])} // safe: our own options
              options={Object.entries(text.scope_names).map(([value, label]) => ({ value, label }))}
            />
          </FormField>
          <FormField name="expires_at" label={text.expires}>
            <Select
              value={days}
              onChange={({ target }) => setDays(target.value)}
              options={Object.entries(text.expiries).map(([value, label]) => ({ value, label }))}
            />
          </FormField>
        </div>
        <FormError />
        <Actions className="mt-0">
          <Submit>{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

function Row({ one }: { one: Key }) {
  const { keys: text } = useText(automationText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const [isAsked, setAsked] = useState(false)
  const revoke = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/keys/revoke', { body: { id: one.id } })),
    onSuccess: () => toast(text.done),
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  })
  const isExpired = one.expires_at !== null && Date.parse(one.expires_at) <= timeNow()
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line not-last:border-b py-3">
      <div className="min-w-40 flex-1">
        <p className="flex min-w-0 items-center gap-2 font-medium">
          <span className="truncate" data-numbers>
            {one.name}
          </span>
          <code className="text-sm text-muted">…{one.hint}</code>
        </p>
        <p className="text-sm text-muted text-pretty">{text.scopes[one.scope]}</p>
        <p className="flex flex-wrap gap-x-3 text-sm text-muted">
          {one.last_used_at ? (
            <span>
              {text.used} <Time at={one.last_used_at} />
            </span>
          ) : (
            <span>{text.never_used}</span>
          )}
          {one.expires_at ? (
            <span>
              {text.ends} <Time at={one.expires_at} />
            </span>
          ) : null}
        </p>
      </div>
      {one.revoked_at ? (
        <Badge>{text.revoked}</Badge>
      ) : (
        <>
          {isExpired ? <Badge tone="warn">{text.expired}</Badge> : null}
          <Button size="sm" onClick={() => setAsked(true)}>
            {text.revoke}
          </Button>
        </>
      )}
      {isAsked ? (
        <Ask
          title={text.revoke_title(one.name)}
          text={text.revoke_text}
          action={text.revoke}
          isPending={revoke.isPending}
          onConfirm={() => revoke.mutate(undefined, { onSettled: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        />
      ) : null}
    </li>
  )
}
