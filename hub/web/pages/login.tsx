import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'wouter'
import { ApiForm } from '../../../web/shared/errors.tsx'
import { Input, SecretInput } from '../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../web/ui/form.tsx'
import { useText } from '../../../web/ui/language.ts'
import { LanguageSwitch } from '../../../web/ui/language-switch.tsx'
import { Layer } from '../../../web/ui/layer.tsx'
import { api, ok } from '../api/client.ts'
import { healthQuery } from '../api/queries.ts'
import { signedIn, useHasLapsed } from '../api/session.ts'
import { useLook } from '../look.ts'
import { accessText } from './access.text.ts'

/** Signs the admin or a member in and then opens the page that required it. */
export function Login() {
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const queryClient = useQueryClient()
  return (
    <SignIn
      onDone={async () => {
        await queryClient.resetQueries()
        navigate(wanted(search.get('next')), { replace: true })
      }}
    />
  )
}

/** The sign-in above a page whose session has ended: what was typed there is there afterwards. */
export function SignInAgain() {
  const { title } = useText(accessText).login
  return (
    <Layer
      isOpen={useHasLapsed()}
      onClose={() => {}}
      label={title}
      className="m-0 h-dvh max-h-none w-dvw max-w-none bg-ink text-fg outline-none"
    >
      <SignIn />
    </Layer>
  )
}

function SignIn({ onDone }: { onDone?: () => Promise<void> }) {
  const text = useText(accessText).login
  const look = useLook()
  const hasMembers = useQuery(healthQuery).data?.has_members ?? false
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <div className="w-full max-w-sm rounded-panel border border-line bg-surface p-6 md:p-8">
        <div className="mb-6 flex items-center gap-3">
          <img src={look.logo ?? '/hub/icon.svg'} alt="" className="size-8 object-contain" />
          <span className="truncate font-semibold">{look.name}</span>
        </div>
        <h1 className="mb-5 text-xl">{text.title}</h1>
        <ApiForm
          className="flex flex-col gap-4"
          onSubmit={async ({ email = '', password = '' }) => {
            const body = email === '' ? { password } : { email, password }
            await ok(api.POST('/api/cockpit/login', { body }))
            await signedIn()
            await onDone?.()
          }}
        >
          {hasMembers ? (
            <FormField name="email" label={text.email} hint={text.email_hint}>
              <Input type="email" autoComplete="username" maxLength={320} autoFocus />
            </FormField>
          ) : null}
          <FormField name="password" label={text.password}>
            <SecretInput autoComplete="current-password" autoFocus={!hasMembers} />
          </FormField>
          <FormError />
          <Submit size="lg">{text.submit}</Submit>
        </ApiForm>
        <p className="mt-5 text-sm text-muted text-pretty">
          {hasMembers ? text.forgotten_member : text.forgotten}
        </p>
      </div>
      <LanguageSwitch />
    </main>
  )
}

/** Only an address of this interface: a link must not lead elsewhere after the sign-in. */
function wanted(next: string | null): string {
  return next && /^\/(?![/\\])/.test(next) && !next.startsWith('/login') ? next : '/'
}
