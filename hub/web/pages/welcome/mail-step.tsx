import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Input, SecretInput } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { api, ok } from '../../api/client.ts'
import { mailQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { mailText } from '../settings/mail/mail.text.ts'
import { setupText } from './setup.text.ts'
import { StepHead } from './step.tsx'
import type { StepProps } from './steps.ts'

const SECURITIES = ['starttls', 'tls', 'none'] as const

/** The minimum that is needed to send mail, with what is set up already. */
export function MailStep({ onDone, onSkip }: StepProps) {
  const { mail: text } = useText(setupText)
  const { kept } = useText(mailText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const query = useQuery(mailQuery)
  if (query.isPending) return <SkeletonRows />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const { smtp: now, listmonk } = query.data.mail
  const user = typeof now?.user === 'string' ? now.user : ''
  return (
    <>
      <StepHead title={text.title} text={text.text} />
      {listmonk ? <Notice className="mb-4" text={text.listmonk(listmonk.url)} /> : null}
      <ApiForm
        onSubmit={async ({ host = '', port, ...smtp }) => {
          const security = SECURITIES.find((one) => one === smtp.security) ?? 'starttls'
          await ok(
            api.PUT('/api/cockpit/settings/mail', {
              body: {
                smtp: {
                  host,
                  port: Number(port) || (security === 'tls' ? 465 : 587),
                  security,
                  ...(smtp.user ? { user: smtp.user } : {}),
                  ...(smtp.password ? { password: smtp.password } : {}),
                },
              },
            }),
          )
          await queryClient.invalidateQueries({ queryKey: mailQuery.queryKey })
          onDone()
        }}
      >
        <div className="grid gap-4 md:grid-cols-6">
          <FormField name="host" label={text.host} className="md:col-span-3">
            <Input placeholder="mail.demir.example" spellCheck={false} defaultValue={now?.host} />
          </FormField>
          <FormField name="port" label={text.port} className="md:col-span-1">
            <Input inputMode="numeric" defaultValue={now?.port ?? 587} />
          </FormField>
          <FormField name="security" label={text.security} className="md:col-span-2">
            <Select
              defaultValue={SECURITIES.find((one) => one === now?.security) ?? 'starttls'}
              options={SECURITIES.map((value) => ({ value, label: text.securities[value] }))}
            />
          </FormField>
          <FormField name="user" label={text.user} isOptional className="md:col-span-3">
            <Input spellCheck={false} defaultValue={user} />
          </FormField>
          <FormField
            name="password"
            label={text.password}
            hint={now?.has_password ? kept : undefined}
            isOptional
            className="md:col-span-3"
          >
            <SecretInput autoComplete="new-password" />
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
