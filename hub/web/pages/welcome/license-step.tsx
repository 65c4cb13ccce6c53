import { useQueryClient } from '@tanstack/react-query'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { setupText } from './setup.text.ts'
import { StepHead } from './step.tsx'
import type { StepProps } from './steps.ts'

/** The license key, or continuing with one project. */
export function LicenseStep({ onDone, onSkip }: StepProps) {
  const { license: text } = useText(setupText)
  const queryClient = useQueryClient()
  return (
    <>
      <StepHead title={text.title} text={text.text} />
      <ApiForm
        onSubmit={async ({ license = '' }) => {
          const { tier, customer } = await ok(
            api.PUT('/api/cockpit/license', { body: { license: license.replace(/\s/g, '') } }),
          )
          await queryClient.invalidateQueries()
          toast(text.accepted(tier, customer ?? ''))
          onDone()
        }}
      >
        <FormField name="license" label={text.label} hint={text.hint}>
          <Textarea rows={4} className="font-mono break-all" spellCheck={false} />
        </FormField>
        <FormError className="mt-4" />
        <Actions>
          <Button size="lg" onClick={onSkip}>
            {text.free}
          </Button>
          <Submit size="lg">{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </>
  )
}
