import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { useLocation } from 'wouter'
import type { Language } from '../../../../shared/words/texts.ts'
import { ApiForm } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Field, SecretInput } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { LANGUAGE_NAMES, setLanguage, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Actions } from '../../../../web/ui/layer.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { setTheme, type Theme, useTheme } from '../../../../web/ui/theme.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, ProblemError } from '../../api/client.ts'
import { meQuery, queryClient } from '../../api/queries.ts'
import { membersText } from './members.text.ts'
import { Card, Section } from './section.tsx'
import { settingsText } from './settings.text.ts'

/** Language, theme, and the own password. */
export function Account() {
  const { account: text } = useText(settingsText)
  const language = useLanguage()
  const theme = useTheme()
  const me = useQuery(meQuery)
  const members = useText(membersText)
  const [, navigate] = useLocation()
  const signOut = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/logout/everywhere')),
    onSuccess: () => {
      navigate('/login')
      queryClient.clear()
    },
  })
  const form = useRef<HTMLDivElement>(null)
  return (
    <Section title={text.title} text={text.text}>
      {me.data?.name ? <p>{text.signed_in(me.data.name, members.roles[me.data.role])}</p> : null}
      <Card>
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={text.language}>
            <Select
              value={language}
              onChange={(event) => setLanguage(event.target.value as Language)} // safe: our own options
              options={Object.entries(LANGUAGE_NAMES).map(([value, label]) => ({ value, label }))}
            />
          </Field>
          <Field label={text.theme}>
            <Select
              value={theme}
              onChange={(event) => setTheme(event.target.value as Theme)} // safe: our own options
              options={Object.entries(text.themes).map(([value, label]) => ({ value, label }))}
            />
          </Field>
        </div>
      </Card>
      <Card title={text.password} text={text.password_text}>
        <div ref={form}>
          <ApiForm
            className="flex max-w-sm flex-col gap-4"
            onSubmit={async ({ current = '', password = '', repeat }) => {
              if (password !== repeat) throw differs(text.differs)
              await ok(api.POST('/api/cockpit/password', { body: { current, password } }))
              toast(text.changed)
              form.current?.querySelector('form')?.reset()
            }}
          >
            <FormField name="current" label={text.current}>
              <SecretInput autoComplete="current-password" />
            </FormField>
            <FormField name="password" label={text.new} hint={text.new_hint}>
              <SecretInput autoComplete="new-password" />
            </FormField>
            <FormField name="repeat" label={text.repeat}>
              <SecretInput autoComplete="new-password" />
            </FormField>
            <FormError />
            <Actions className="mt-0 md:justify-start!">
              <Submit>{text.submit}</Submit>
            </Actions>
          </ApiForm>
        </div>
      </Card>
      <Card
        title={text.everywhere}
        text={text.everywhere_text}
        action={
          <Button isPending={signOut.isPending} onClick={() => signOut.mutate()}>
            {text.everywhere}
          </Button>
        }
      />
    </Section>
  )
}

function differs(message: string): Error {
  return new ProblemError({
    type: 'about:blank',
    title: message,
    status: 422,
    detail: message,
    code: 'invalid',
    request_id: '',
    errors: [{ path: 'repeat', code: 'mismatch', message }],
  })
}
