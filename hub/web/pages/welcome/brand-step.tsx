import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Redirect } from 'wouter'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Input, Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, ok } from '../../api/client.ts'
import { brandQuery, firstOf, projectsQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { setupText } from './setup.text.ts'
import { StepHead } from './step.tsx'
import type { StepProps } from './steps.ts'

/** The last step: who the mails of the first project are from. */
export function BrandStep({ onDone, onSkip }: StepProps) {
  const { brand: text } = useText(setupText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const project = firstOf(useQuery(projectsQuery).data)
  const view = useQuery({ ...brandQuery(project?.slug ?? ''), enabled: Boolean(project) })
  if (!project) return <Redirect to="/welcome" replace />
  if (view.isPending) return <SkeletonRows />
  if (hasFailed(view)) return <FailedQuery error={view.error} onRetry={() => view.refetch()} />
  const { brand } = view.data
  return (
    <>
      <StepHead title={text.title(project.name)} text={text.text} />
      <ApiForm
        onSubmit={async ({ sender_name, sender_email, signature, postal_address }) => {
          const body = {
            slug: project.slug,
            sender_name: sender_name || null,
            sender_email: sender_email || null,
            signature: signature || null,
            postal_address: postal_address || null,
          }
          await ok(api.PUT('/api/cockpit/projects/brand', { body }))
          await queryClient.invalidateQueries({ queryKey: brandQuery(project.slug).queryKey })
          onDone()
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="sender_name" label={text.sender_name}>
            <Input defaultValue={brand.sender_name ?? ''} autoComplete="name" maxLength={80} />
          </FormField>
          <FormField name="sender_email" label={text.sender_email}>
            <Input
              defaultValue={brand.sender_email ?? ''}
              inputMode="email"
              autoComplete="email"
              maxLength={254}
            />
          </FormField>
          <FormField
            name="postal_address"
            label={text.postal_address}
            hint={text.postal_hint}
            className="md:col-span-2"
          >
            <Input
              defaultValue={brand.postal_address ?? ''}
              autoComplete="street-address"
              maxLength={300}
            />
          </FormField>
          <FormField
            name="signature"
            label={text.signature}
            hint={text.signature_hint}
            className="md:col-span-2"
            isOptional
          >
            <Textarea defaultValue={brand.signature ?? ''} rows={3} maxLength={400} />
          </FormField>
        </div>
        <FormError className="mt-4" />
        <Actions>
          <Button size="lg" onClick={onSkip}>
            {words.skip}
          </Button>
          <Submit size="lg">{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </>
  )
}
