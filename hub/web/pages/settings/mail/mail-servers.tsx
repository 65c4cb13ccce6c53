import { useMutation } from '@tanstack/react-query'
import { ApiForm, useToastError } from '../../../../../web/shared/errors.tsx'
import { Badge } from '../../../../../web/ui/badge.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { Input, SecretInput } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { Select } from '../../../../../web/ui/select.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import type { MailView } from '../../../api/queries.ts'
import { common } from '../../../common.text.ts'
import { Card } from '../section.tsx'
import { mailText } from './mail.text.ts'
import { useChangeMail } from './use-change-mail.ts'

type Kind = 'smtp' | 'listmonk' | 'imap'

/** The servers for outgoing and incoming mail. */
export function MailServers({ view }: { view: MailView }) {
  return (
    <>
      <Listmonk view={view} />
      <Server kind="smtp" view={view} />
      <Server kind="imap" view={view} />
    </>
  )
}

function Frame({
  kind,
  isSet,
  onSubmit,
  children,
}: {
  kind: Kind
  isSet: boolean
  onSubmit: (values: Record<string, string>) => Promise<void>
  children: React.ReactNode
}) {
  const text = useText(mailText)
  const words = useText(common)
  const say = useToastError()
  const change = useChangeMail()
  const remove = useMutation({
    mutationFn: () => change({ [kind]: null }),
    onSuccess: () => toast(text.removed),
    onError: say,
  })
  return (
    <Card
      title={text[kind]}
      text={text[`${kind}_text`]}
      action={<Badge tone={isSet ? 'good' : 'plain'}>{isSet ? text.on : text.off}</Badge>}
    >
      <ApiForm
        key={String(isSet)}
        className="flex flex-col gap-4"
        onSubmit={async (values) => {
          await onSubmit(values)
          toast(words.saved)
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">{children}</div>
        <FormError />
        <Actions className="mt-0">
          {isSet ? (
            <Button isPending={remove.isPending} onClick={() => remove.mutate()}>
              {text.remove}
            </Button>
          ) : null}
          <Submit variant={isSet ? 'secondary' : 'primary'}>{words.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

function Listmonk({ view: { mail } }: { view: MailView }) {
  const text = useText(mailText)
  const change = useChangeMail()
  const now = mail.listmonk
  return (
    <Frame
      kind="listmonk"
      isSet={now !== null}
      onSubmit={({ url = '', user = '', token }) =>
        change({ listmonk: { url, user, ...(token ? { token } : {}) } })
      }
    >
      <FormField name="url" label={text.url} className="md:col-span-2">
        <Input
          inputMode="url"
          spellCheck={false}
          placeholder="https://listmonk.demir.example"
          defaultValue={now?.url}
        />
      </FormField>
      <FormField name="user" label={text.user}>
        <Input spellCheck={false} defaultValue={now?.user} />
      </FormField>
      <FormField name="token" label={text.token} hint={now ? text.kept : undefined}>
        <SecretInput />
      </FormField>
    </Frame>
  )
}

function Server({ kind, view: { mail } }: { kind: 'smtp' | 'imap'; view: MailView }) {
  const text = useText(mailText)
  const change = useChangeMail()
  const now = mail[kind]
  const string = (name: string) => (typeof now?.[name] === 'string' ? now[name] : '')
  return (
    <Frame
      kind={kind}
      isSet={now !== null}
      onSubmit={({ host = '', port, security, user, password, mailbox }) =>
        change({
          [kind]: {
            host,
            port: Number(port),
            security,
            ...(user || kind === 'imap' ? { user } : {}),
            ...(password ? { password } : {}),
            ...(kind === 'imap' ? { mailbox: mailbox || 'INBOX' } : {}),
          },
        })
      }
    >
      <FormField name="host" label={text.host}>
        <Input spellCheck={false} placeholder={`${kind}.demir.example`} defaultValue={now?.host} />
      </FormField>
      <div className="grid grid-cols-[6rem_minmax(0,1fr)] gap-4">
        <FormField name="port" label={text.port}>
          <Input inputMode="numeric" defaultValue={now?.port ?? (kind === 'smtp' ? 587 : 993)} />
        </FormField>
        <FormField name="security" label={text.security}>
          <Select
            defaultValue={string('security') || (kind === 'smtp' ? 'starttls' : 'tls')}
            options={Object.entries(text.securities).map(([value, label]) => ({ value, label }))}
          />
        </FormField>
      </div>
      <FormField name="user" label={text.user} isOptional={kind === 'smtp'}>
        <Input spellCheck={false} defaultValue={string('user')} />
      </FormField>
      <FormField
        name="password"
        label={text.password}
        hint={now?.has_password ? text.kept : undefined}
        isOptional={kind === 'smtp'}
      >
        <SecretInput autoComplete="off" />
      </FormField>
      {kind === 'imap' ? (
        <FormField name="mailbox" label={text.mailbox}>
          <Input spellCheck={false} defaultValue={string('mailbox') || 'INBOX'} />
        </FormField>
      ) : null}
    </Frame>
  )
}
