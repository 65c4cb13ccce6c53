import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { useProject } from '../../project.ts'
import { dealText } from '../leads/deal.text.ts'
import { dealSettingsQuery } from '../leads/deal-queries.ts'
import { leadsText } from '../leads/leads.text.ts'
import { STAGES } from '../leads/stage.tsx'

/** The reasons for won and lost deals, and how likely a deal of each stage is won. */
export function DealSettings() {
  const { settings: text } = useText(dealText)
  const { slug } = useProject()
  const query = useQuery(dealSettingsQuery(slug))
  return (
    <section className="border-t border-line pt-5">
      <h2>{text.title}</h2>
      <p className="mt-0.5 mb-4 max-w-2xl text-muted text-pretty">{text.text}</p>
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <SettingsForm key={slug} settings={query.data} />
      )}
    </section>
  )
}

/** A decided deal has no probability. */
const OPEN = STAGES.filter((stage) => stage !== 'won' && stage !== 'lost')
const lines = (text = '') => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
]

function SettingsForm({ settings }: { settings: Schemas['DealSettings'] }) {
  const { settings: text } = useText(dealText)
  const { stages } = useText(leadsText)
  const { slug: project, read_only } = useProject()
  const isReadOnly = useIsReadOnly() || read_only
  const queryClient = useQueryClient()
  return (
    <ApiForm
      onSubmit={async (values) => {
        const given = OPEN.flatMap((stage) => {
          const typed = values[`probabilities.${stage}`] ?? ''
          return typed === '' ? [] : [[stage, Number(typed.replace(',', '.'))]]
        })
        await ok(
          api.PUT('/api/cockpit/deals/settings', {
            body: {
              project,
              probabilities: Object.fromEntries(given),
              won_reasons: lines(values.won_reasons),
              lost_reasons: lines(values.lost_reasons),
            },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['deals'] })
        toast(text.saved)
      }}
    >
      <fieldset disabled={isReadOnly} className="grid gap-4 md:grid-cols-2">
        <FormField name="won_reasons" label={text.won}>
          <Textarea rows={4} defaultValue={settings.won_reasons.join('\n')} />
        </FormField>
        <FormField name="lost_reasons" label={text.lost}>
          <Textarea rows={4} defaultValue={settings.lost_reasons.join('\n')} />
        </FormField>
        <div className="grid grid-cols-2 items-end gap-4 md:col-span-2 md:grid-cols-5">
          {OPEN.map((stage) => (
            <FormField
              key={stage}
              name={`probabilities.${stage}`}
              label={text.probability(stages[stage])}
            >
              <Input
                inputMode="decimal"
                maxLength={5}
                defaultValue={settings.probabilities[stage] ?? ''}
              />
            </FormField>
          ))}
        </div>
      </fieldset>
      <FormError className="mt-4" />
      <Actions>
        <Submit variant="secondary" disabled={isReadOnly}>
          {text.save}
        </Submit>
      </Actions>
    </ApiForm>
  )
}
