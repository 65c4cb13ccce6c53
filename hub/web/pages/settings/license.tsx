import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { absolute } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { projectsQuery } from '../../api/queries.ts'
import { Card, Facts, Section } from './section.tsx'
import { settingsText } from './settings.text.ts'

const KEY = ['settings', 'license']

/** The license, what it allows, and a form to replace it. */
export function License() {
  const { license: text } = useText(settingsText)
  const query = useQuery({ queryKey: KEY, queryFn: () => ok(api.GET('/api/cockpit/license')) })
  return (
    <Section title={text.title} text={text.text}>
      {query.isPending ? (
        <SkeletonRows rows={6} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <Whole license={query.data} />
      )}
    </Section>
  )
}

function Whole({ license }: { license: Schemas['License'] }) {
  const { license: text } = useText(settingsText)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const say = useToastError()
  const projects = useQuery(projectsQuery).data ?? []
  // The license decides which projects are read-only, and the look.
  const refresh = () => queryClient.invalidateQueries()
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/api/cockpit/license')),
    onSuccess: () => toast(text.removed),
    onError: say,
    onSettled: refresh,
  })
  const limit = (most: number | null) => (most === null ? text.unlimited : number(language, most))
  const money = (price: number) =>
    number(language, price, { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })
  const isAmiss = ['grace', 'expired', 'refused'].includes(license.status)
  return (
    <>
      <Card>
        {isAmiss ? (
          <Notice
            tone={license.status === 'grace' ? 'warn' : 'bad'}
            className="mb-3"
            text={
              <>
                {license.status === 'refused' ? (
                  <span className="font-medium">{text.refused}.</span>
                ) : null}{' '}
                <span>{license.reason}</span> <span>{text.surplus}</span>
              </>
            }
          />
        ) : null}
        <Facts
          rows={[
            [
              text.now,
              <span key="now" className="flex flex-wrap items-center gap-2">
                <span className="font-semibold">{text.tiers[license.tier]}</span>
                {isAmiss ? null : (
                  <span className="text-muted">
                    {license.status === 'valid' ? text.valid : text.no_key}
                  </span>
                )}
              </span>,
            ],
            [text.projects, text.in_use(projects.length, limit(license.max_projects))],
            ...(license.customer ? [[text.customer, license.customer] as [string, string]] : []),
            ...(license.valid_until
              ? [[text.until, absolute(license.valid_until, language)] as [string, string]]
              : []),
          ]}
        />
      </Card>
      <ul className="grid gap-px overflow-hidden rounded-panel border border-line bg-line sm:grid-cols-2 lg:grid-cols-4">
        {license.tiers.map((one) => (
          <li key={one.tier} className="flex flex-col gap-1 bg-surface p-4">
            <p className="flex items-center gap-2 font-semibold">
              {text.tiers[one.tier]}
              {one.tier === license.tier ? <Badge tone="good">{text.current}</Badge> : null}
            </p>
            <p data-numbers>
              {text.projects}: {limit(one.max_projects)}
            </p>
            <p className="text-sm text-muted" data-numbers>
              {one.price_usd_year > 0 ? text.per_year(money(one.price_usd_year)) : text.for_free}
            </p>
          </li>
        ))}
      </ul>
      <Card>
        <ApiForm
          className="flex flex-col gap-4"
          onSubmit={async ({ license = '' }) => {
            await ok(api.PUT('/api/cockpit/license', { body: { license } }))
            toast(text.saved)
            await refresh()
          }}
        >
          <FormField name="license" label={text.key} hint={text.key_hint}>
            <Textarea rows={4} spellCheck={false} className="font-mono text-sm!" />
          </FormField>
          <FormError />
          <Actions className="mt-0">
            {license.status === 'none' ? null : (
              <Button isPending={remove.isPending} onClick={() => remove.mutate()}>
                {text.remove}
              </Button>
            )}
            <Submit>{text.submit}</Submit>
          </Actions>
        </ApiForm>
      </Card>
    </>
  )
}
