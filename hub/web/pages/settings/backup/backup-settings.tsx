import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiForm } from '../../../../../web/shared/errors.tsx'
import { Input, SecretInput } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { Select } from '../../../../../web/ui/select.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { common } from '../../../common.text.ts'
import { machineText } from '../machine.text.ts'
import { Card } from '../section.tsx'
import { systemQuery } from '../system.tsx'
import { SshServer } from './ssh-server.tsx'

type Kept = Schemas['SystemSettings']['backup']
type Encryption = Kept['encryption']['kind']
type Target = Kept['target']['kind']

/** The fields of each target, in the order of the form; the secret follows them. */
const ASKED = {
  none: [],
  s3: ['endpoint', 'bucket', 'region', 'prefix', 'access_key_id'],
  rsync: [],
} as const satisfies Record<Target, string[]>

/** The fields that are shown only for a destination on an SSH server. */
const sshOf = ({ destination, port, host_key }: Record<string, string>) => ({
  destination,
  ...(port ? { port: Number(port) } : {}),
  ...(host_key ? { host_key } : {}),
})

/** When backups are made automatically, how many are kept, and where they are copied to. */
export function BackupSettings() {
  const query = useQuery(systemQuery)
  if (!query.data) return null
  return <Form kept={query.data.backup} />
}

function Form({ kept }: { kept: Kept }) {
  const { backup: text } = useText(machineText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const [encryption, setEncryption] = useState<Encryption>(kept.encryption.kind)
  const [target, setTarget] = useState<Target>(kept.target.kind)
  const options = <T extends string>(values: Record<T, string>) =>
    (Object.keys(values) as T[]).map((value) => ({ value, label: values[value] })) // safe: its own keys
  const now = (name: string) =>
    typeof kept.target[name] === 'string' ? String(kept.target[name]) : ''
  return (
    <Card title={text.settings}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ hour, keep_daily, passphrase, recipient, ...given }) => {
          const { secret_access_key } = given
          const body = {
            backup: {
              hour: Number(hour),
              keep_daily: Number(keep_daily),
              encryption:
                encryption === 'passphrase'
                  ? { kind: encryption, ...(passphrase ? { passphrase } : {}) }
                  : encryption === 'recipient'
                    ? { kind: encryption, recipient }
                    : { kind: encryption },
              target: {
                kind: target,
                ...Object.fromEntries(ASKED[target].map((name) => [name, given[name]])),
                ...(target === 's3' && secret_access_key ? { secret_access_key } : {}),
                ...(target === 'rsync' ? sshOf(given) : {}),
              },
            },
          }
          await ok(api.PUT('/api/cockpit/settings/system', { body: body as never })) // safe: the hub checks it, and says what does not fit
          await queryClient.invalidateQueries({ queryKey: systemQuery.queryKey })
          await queryClient.invalidateQueries({ queryKey: ['backups'] })
          toast(words.saved)
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="hour" label={text.hour}>
            <Select
              defaultValue={kept.hour}
              options={Array.from({ length: 24 }, (_, hour) => ({
                value: String(hour),
                label: `${String(hour).padStart(2, '0')}:00`,
              }))}
            />
          </FormField>
          <FormField name="keep_daily" label={text.keep}>
            <Input inputMode="numeric" defaultValue={kept.keep_daily} />
          </FormField>
          <FormField name="encryption" label={text.encryption} hint={text.encryption_hint}>
            <Select
              value={encryption}
              options={options(text.encryptions)}
              onChange={(event) => setEncryption(event.target.value as Encryption)} // safe: our own options
            />
          </FormField>
          {encryption === 'passphrase' ? (
            <FormField
              name="passphrase"
              label={text.passphrase}
              hint={kept.encryption.has_passphrase ? text.kept : undefined}
            >
              <SecretInput autoComplete="new-password" />
            </FormField>
          ) : encryption === 'recipient' ? (
            <FormField name="recipient" label={text.recipient}>
              <Input
                className="font-mono"
                spellCheck={false}
                placeholder="age1…"
                defaultValue={kept.encryption.recipient ?? ''}
              />
            </FormField>
          ) : (
            <span />
          )}
          <FormField name="target" label={text.target} className="md:col-start-1">
            <Select
              value={target}
              options={options(text.targets)}
              onChange={(event) => setTarget(event.target.value as Target)} // safe: our own options
            />
          </FormField>
          {ASKED[target].map((name) => (
            <FormField key={name} name={name} label={text[name]} isOptional={name === 'prefix'}>
              <Input
                spellCheck={false}
                defaultValue={now(name) || (name === 'region' ? 'us-east-1' : '')}
              />
            </FormField>
          ))}
          {target === 'rsync' ? (
            <SshServer
              kept={{
                destination: now('destination'),
                port: Number(kept.target.port ?? 22),
                host_key: now('host_key') || null,
                public_key: kept.public_key,
              }}
            />
          ) : null}
          {target === 's3' ? (
            <FormField
              name="secret_access_key"
              label={text.secret_access_key}
              hint={kept.target.has_secret ? text.kept : undefined}
            >
              <SecretInput />
            </FormField>
          ) : null}
        </div>
        <FormError />
        <Actions className="mt-0">
          <Submit>{words.save}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}
