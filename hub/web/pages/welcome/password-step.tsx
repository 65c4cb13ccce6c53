import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Input, SecretInput } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { api, ok } from '../../api/client.ts'
import { accessText } from '../access.text.ts'
import { StepHead } from './step.tsx'
import type { StepProps } from './steps.ts'

/** Exchanges the set-up code for the admin's password. */
export function PasswordStep({ onDone }: StepProps) {
  const text = useText(accessText).password
  const queryClient = useQueryClient()
  const [differs, setDiffers] = useState(false)
  return (
    <>
      <StepHead title={text.title} text={text.text} />
      <ApiForm
        className="flex flex-col gap-5"
        onSubmit={async ({ code = '', password = '', repeat }) => {
          setDiffers(password !== repeat)
          if (password !== repeat) return
          await ok(api.POST('/api/cockpit/setup', { body: { code, password } }))
          await queryClient.invalidateQueries()
          onDone()
        }}
      >
        <FormField name="code" label={text.code} hint={text.code_hint}>
          <Input className="font-mono" spellCheck={false} autoFocus />
        </FormField>
        <div className="grid gap-5 md:grid-cols-2">
          <FormField name="password" label={text.password} hint={text.password_hint}>
            <SecretInput autoComplete="new-password" />
          </FormField>
          <FormField
            name="repeat"
            label={text.repeat}
            {...(differs ? { error: text.differs } : {})}
          >
            <SecretInput autoComplete="new-password" />
          </FormField>
        </div>
        <FormError />
        <Actions className="mt-2">
          <Submit size="lg">{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </>
  )
}
