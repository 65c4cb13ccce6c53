import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { CopyText } from '../../../../web/ui/copy.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { api, ok, type Schemas } from '../../api/client.ts'
import { brandQuery, useIsAdmin, useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { Card } from '../settings/section.tsx'
import { brandText } from './brand.text.ts'

const TONES = { present: 'good', missing: 'warn', unknown: 'plain' } as const
type View = Schemas['ProjectBrand']

/** What receivers find in the DNS about the sender's domain, and what to publish there. */
export function SenderDns({ view }: { view: View }) {
  const { dns: text } = useText(brandText)
  const { dns, dkim } = view
  if (!dkim) return null
  const records = ['spf', 'dkim', 'dmarc'] as const
  return (
    <Card title={text.title} text={dkim.domain}>
      {dns ? (
        <ul className="mb-5 flex flex-col gap-3">
          {records.map((name) => (
            <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
              <Badge tone={TONES[dns[name].state]}>
                {name.toUpperCase()} {text.states[dns[name].state]}
              </Badge>
              <span className="min-w-0 flex-1 basis-56 text-sm break-words text-muted">
                {dns[name].advice ?? dns[name].record}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      <Signing dkim={dkim} />
    </Card>
  )
}

/** The key that signs the mails, with the record to publish. */
function Signing({ dkim }: { dkim: NonNullable<View['dkim']> }) {
  const { dkim: text } = useText(brandText)
  const { slug, read_only } = useProject()
  const isAdmin = useIsAdmin()
  const isReadOnly = useIsReadOnly() || read_only || !isAdmin
  const queryClient = useQueryClient()
  const say = useToastError()
  const [said, setSaid] = useState<{ message: string; isUnknown: boolean }>()
  const act = useMutation({
    mutationFn: async (what: 'make' | 'remove' | 'check' | 'sign_anyway') => {
      setSaid(undefined)
      if (what === 'make')
        return void (await ok(api.POST('/api/cockpit/projects/dkim/make', { body: { slug } })))
      if (what === 'remove')
        return void (await ok(api.POST('/api/cockpit/projects/dkim/remove', { body: { slug } })))
      const body = { slug, sign_anyway: what === 'sign_anyway' }
      const found = await ok(api.POST('/api/cockpit/projects/dkim/check', { body }))
      setSaid({
        message: found.message,
        isUnknown: found.published === 'unknown' && !found.dkim.signs,
      })
    },
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: brandQuery(slug).queryKey }),
  })
  const button = (what: NonNullable<typeof act.variables>) => (
    <Button
      size="sm"
      disabled={isReadOnly}
      isPending={act.isPending && act.variables === what}
      onClick={() => act.mutate(what)}
    >
      {text[what]}
    </Button>
  )
  const { record } = dkim
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-baseline gap-3">
        <Badge tone={dkim.signs ? 'good' : 'plain'}>
          {dkim.signs ? text.signs : text.unsigned}
        </Badge>
        <span className="min-w-0 flex-1 basis-56 text-sm text-muted text-pretty">{text.text}</span>
      </p>
      {record ? (
        <dl className="flex flex-col gap-2 text-sm">
          {(['name', 'value'] as const).map((field) => (
            <div key={field}>
              <dt className="text-muted">{text.record[field]}</dt>
              <dd>
                <CopyText label={text.copy[field]} text={record[field]} />
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
      {said ? (
        <p role="status" className="text-sm text-pretty">
          {said.message}
        </p>
      ) : null}
      <div className="flex flex-wrap gap-2">
        {record ? button('check') : button('make')}
        {said?.isUnknown ? button('sign_anyway') : null}
        {record ? button('remove') : null}
      </div>
    </div>
  )
}
