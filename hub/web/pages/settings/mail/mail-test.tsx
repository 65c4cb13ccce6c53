import { useMutation } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { useToastError } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { api, ok } from '../../../api/client.ts'
import type { MailView } from '../../../api/queries.ts'
import { Card } from '../section.tsx'
import { mailText } from './mail.text.ts'

const tryAll = () => ok(api.POST('/api/cockpit/settings/mail/test'))
type Checks = Awaited<ReturnType<typeof tryAll>>

/** Tests every configured server and names what is missing. */
export function MailTest({ view: { mail } }: { view: MailView }) {
  const text = useText(mailText)
  const say = useToastError()
  const test = useMutation({ mutationFn: tryAll, onError: say })
  const isSet = mail.smtp ?? mail.imap ?? mail.listmonk
  return (
    <Card
      title={text.test}
      text={isSet ? text.test_text : text.nothing_set}
      action={
        <Button disabled={!isSet} isPending={test.isPending} onClick={() => test.mutate()}>
          {text.test}
        </Button>
      }
    >
      {test.data ? <Found checks={test.data} /> : null}
    </Card>
  )
}

function Found({ checks }: { checks: Checks }) {
  const text = useText(mailText)
  return (
    <ul className="flex flex-col gap-3" aria-live="polite">
      {(['smtp', 'imap', 'listmonk'] as const).map((kind) => {
        const check = checks[kind]
        if (!check) return null
        const Icon = check.ok ? CircleCheck : CircleX
        const lacks = 'permissions' in check ? check.permissions.filter((one) => !one.granted) : []
        return (
          <li key={kind} className="flex gap-2">
            <Icon
              size={16}
              aria-hidden
              className={`mt-0.5 shrink-0 ${check.ok ? 'text-good' : 'text-bad'}`}
            />
            <div className="min-w-0">
              <p className="font-medium">
                {text[kind]}: {check.ok ? text.works : text.fails}
              </p>
              <p className="text-sm break-words text-muted">{check.message}</p>
              {'version' in check && check.version ? (
                <p className="text-sm text-muted">{text.version(check.version)}</p>
              ) : null}
              {lacks.length > 0 ? (
                <ul className="mt-1 flex flex-col gap-1 text-sm">
                  {lacks.map(({ name, what_for }) => (
                    <li key={name}>
                      <code className="rounded-[4px] bg-hover px-1.5 py-0.5 font-mono text-xs">
                        {name}
                      </code>{' '}
                      {what_for}
                    </li>
                  ))}
                </ul>
              ) : null}
            </div>
          </li>
        )
      })}
    </ul>
  )
}
