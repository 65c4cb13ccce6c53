import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ApiForm, errorMessage } from '../../../web/shared/errors.tsx'
import { buttonClass } from '../../../web/ui/button.tsx'
import { Input, SecretInput } from '../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../web/ui/form.tsx'
import { useText } from '../../../web/ui/language.ts'
import { LanguageSwitch } from '../../../web/ui/language-switch.tsx'
import { SkeletonRows } from '../../../web/ui/states.tsx'
import { useWords } from '../../../web/ui/words.tsx'
import { api, ok } from '../api/client.ts'
import { signedIn } from '../api/session.ts'
import { useLook } from '../look.ts'
import { accessText } from './access.text.ts'

/** The page of an invitation: a person sets name and password, and is signed in. */
export function Join() {
  const text = useText(accessText).join
  const look = useLook()
  // Behind the #, so that no server writes it into a log.
  const [secret] = useState(() => location.hash.slice(1))
  const invitation = useQuery({
    queryKey: ['invitation', secret],
    queryFn: () => ok(api.POST('/api/cockpit/invitation/look', { body: { secret } })),
    enabled: secret !== '',
    retry: false,
  })
  const words = useWords()
  const failure =
    secret === '' ? text.no_link : invitation.error && errorMessage(invitation.error, words)
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <div className="w-full max-w-sm rounded-panel border border-line bg-surface p-6 md:p-8">
        <div className="mb-6 flex items-center gap-3">
          <img src={look.logo ?? '/hub/icon.svg'} alt="" className="size-8 object-contain" />
          <span className="truncate font-semibold">{look.name}</span>
        </div>
        <h1 className="mb-5 text-xl">{failure ? text.bad : text.title}</h1>
        {failure ? (
          <div className="flex flex-col gap-4">
            <Notice tone="bad" text={failure} />
            <Link href="/login" className={buttonClass()}>
              {text.sign_in}
            </Link>
          </div>
        ) : invitation.data ? (
          <JoinForm secret={secret} {...invitation.data} />
        ) : (
          <SkeletonRows rows={3} />
        )}
      </div>
      <LanguageSwitch />
    </main>
  )
}

type Invited = { secret: string; email: string; name: string | null; role: keyof Roles }
type Roles = (typeof accessText)['en']['join']['roles']

function JoinForm({ secret, email, name, role }: Invited) {
  const text = useText(accessText).join
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [differs, setDiffers] = useState(false)
  return (
    <>
      <p className="text-pretty">{text.for(email)}</p>
      <p className="mt-1 mb-5 text-muted text-pretty">{text.roles[role]}</p>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ name = '', password = '', repeat }) => {
          setDiffers(password !== repeat)
          if (password !== repeat) return
          await ok(api.POST('/api/cockpit/invitation/accept', { body: { secret, name, password } }))
          queryClient.clear()
          await signedIn()
          navigate('/', { replace: true })
        }}
      >
        <FormField name="name" label={text.name} hint={text.name_hint}>
          <Input autoComplete="name" maxLength={120} defaultValue={name ?? ''} autoFocus />
        </FormField>
        <FormField name="password" label={text.password} hint={text.password_hint}>
          <SecretInput autoComplete="new-password" />
        </FormField>
        <FormField name="repeat" label={text.repeat} {...(differs ? { error: text.differs } : {})}>
          <SecretInput autoComplete="new-password" />
        </FormField>
        <FormError />
        <Submit size="lg">{text.submit}</Submit>
      </ApiForm>
    </>
  )
}
