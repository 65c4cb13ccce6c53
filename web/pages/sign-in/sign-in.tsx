import { useState } from 'react'
import { mailLink, refusedLink, signInByLink } from '../../api/session.ts'
import { knownSettings } from '../../api/settings.ts'
import { Input } from '../../ui/field.tsx'
import { Form, FormError, FormField, Notice, Submit } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { LanguageSwitch } from '../../ui/language-switch.tsx'
import { IncompleteLink, refusalOf } from './refusal.ts'
import { signInText } from './sign-in.text.ts'

/** Without a session: how to get one; above a page whose session has ended, with what was typed there. */
export function SignInPage({ isAbove = false }: { isAbove?: boolean }) {
  const text = useText(signInText)
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center gap-6 p-6">
      <h1 className="text-xl">{text.title}</h1>
      {knownSettings().by === 'link' ? <ByLink /> : <ByMail isAbove={isAbove} />}
      <LanguageSwitch />
    </main>
  )
}

/** What the issuer refuses, in the reader's language. */
function useRefusal(): (error: unknown) => string {
  const text = useText(signInText)
  return (error) => {
    const refusal = refusalOf(error)
    if ('why' in refusal) return text.refusals[refusal.why]
    // The code may come from the address of the page, and stands for nothing but itself.
    const known = Object.hasOwn(text.codes, refusal.code) ? text.codes[refusal.code] : undefined
    return known ?? text.refused(refusal.message)
  }
}

function ByLink() {
  const text = useText(signInText)
  const say = useRefusal()
  return (
    <Form
      className="flex flex-col gap-4"
      explain={(error) => ({ fields: {}, whole: say(error) })}
      onSubmit={async ({ link = '' }) => {
        const token = link.split('#')[1] ?? ''
        if (token === '') throw new IncompleteLink()
        await signInByLink(token)
      }}
    >
      <p className="text-pretty text-muted">{text.by_link}</p>
      <FormField name="link" label={text.link}>
        <Input type="url" autoComplete="off" required />
      </FormField>
      <FormError />
      <Submit>{text.sign_in}</Submit>
      <p className="text-sm text-muted">
        {text.new_link}
        <code className="mt-1 block select-all break-all font-mono text-xs">
          npm run admin -- account link --email local@watchpost.localhost
        </code>
      </p>
    </Form>
  )
}

function ByMail({ isAbove }: { isAbove: boolean }) {
  const text = useText(signInText)
  const say = useRefusal()
  const [sent, setSent] = useState<string>()
  const refused = refusedLink()
  if (sent) return <Notice text={isAbove ? text.sent_above(sent) : text.sent(sent)} />
  return (
    <Form
      className="flex flex-col gap-4"
      explain={(error) => ({ fields: {}, whole: say(error) })}
      onSubmit={async ({ email = '' }) => {
        await mailLink(email)
        setSent(email)
      }}
    >
      {refused === undefined ? null : <Notice tone="bad" text={say(refused)} />}
      <p className="text-pretty text-muted">{text.by_mail}</p>
      <FormField name="email" label={text.email}>
        <Input type="email" autoComplete="email" required />
      </FormField>
      <FormError />
      <Submit>{text.send}</Submit>
    </Form>
  )
}
