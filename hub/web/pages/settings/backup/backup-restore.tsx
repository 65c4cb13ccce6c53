import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { connection } from '../../../../../web/shared/connection.ts'
import { ApiForm } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { Checkbox, Input, SecretInput } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { common } from '../../../common.text.ts'
import { machineText } from '../machine.text.ts'
import { backupsQuery } from './backup-query.ts'

export type OneBackup = { backup: Schemas['Backup']; onClose: () => void }

/** The field for what opens an encrypted backup. */
export function Secret({ backup }: Pick<OneBackup, 'backup'>) {
  const { backup: text } = useText(machineText)
  if (!backup.encrypted) return null
  return (
    <FormField name="secret" label={text.passphrase} hint={text.secret_hint}>
      <SecretInput />
    </FormField>
  )
}

/** A private age key starts like this; everything else is a passphrase. */
function secretOf(secret: string | undefined) {
  if (!secret) return {}
  return secret.startsWith('AGE-SECRET-KEY-') ? { identity: secret } : { passphrase: secret }
}

export type Checked = Schemas['CheckedBackup']

/** checkOne opens a backup and returns its contents. */
export const checkOne = (name: string, secret: string | undefined) =>
  ok(api.POST('/api/cockpit/backup/check', { body: { name, ...secretOf(secret) } }))

/**
 * First inspects a backup, an encrypted one with its secret: who signed it, and which of its
 * settings could be restored. Then restores it as the admin chooses.
 */
export function Restore({ backup, onClose }: OneBackup) {
  const { backup: text } = useText(machineText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState('')
  const [taken, setTaken] = useState<string[]>([])
  const [found, setFound] = useState<Checked>()
  const { name, encrypted } = backup
  useEffect(() => {
    if (encrypted) return
    const failed = (): Checked | undefined => undefined
    void checkOne(name, undefined).catch(failed).then(setFound)
  }, [name, encrypted])
  const isOpen = !encrypted || found?.ok === true
  return (
    <ApiForm
      className="flex flex-col gap-4"
      onSubmit={async ({ confirm = '', secret, trust }) => {
        if (!isOpen) return setFound(await checkOne(name, secret))
        const take = (found?.settings ?? []).flatMap((one) =>
          taken.includes(one.name) ? [one.name] : [],
        )
        await ok(
          api.POST('/api/cockpit/backup/restore', {
            body: { name, confirm, take, ...(trust ? { trust } : {}), ...secretOf(secret) },
          }),
        )
        onClose()
        await queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey })
        void untilRestored()
      }}
    >
      <p className="rounded-control border border-line px-3 py-2 font-mono text-sm break-all select-all">
        {name}
      </p>
      <Secret backup={backup} />
      {found && !found.ok ? <Notice tone="bad" text={found.reason} /> : null}
      {found && isOpen && found.settings.length > 0 ? (
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-2">{text.take}</legend>
          {found.settings.map(({ name, what }) => (
            <label key={name} htmlFor={`take-${name}`} className="flex items-start gap-2">
              <Checkbox
                id={`take-${name}`}
                className="mt-0.5"
                checked={taken.includes(name)}
                onChange={({ target }) =>
                  setTaken(target.checked ? [...taken, name] : taken.filter((one) => one !== name))
                }
              />
              <span className="min-w-0 break-words">{what}</span>
            </label>
          ))}
        </fieldset>
      ) : null}
      {found?.warning ? (
        <>
          <Notice tone="bad" text={found.warning} />
          <FormField name="trust" label={text.trust}>
            <Input spellCheck={false} autoComplete="off" />
          </FormField>
        </>
      ) : null}
      {isOpen ? (
        <FormField name="confirm" label={text.confirm}>
          <Input
            data-first
            className="font-mono"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </FormField>
      ) : null}
      <FormError />
      <Actions className="mt-2">
        <Button onClick={onClose}>{words.cancel}</Button>
        {isOpen ? (
          <Submit variant="danger" disabled={typed.trim() !== name || !found?.ok}>
            {text.restore_submit}
          </Submit>
        ) : (
          <Submit>{text.look}</Submit>
        )}
      </Actions>
    </ApiForm>
  )
}

const LOOK_MS = 700

/**
 * After a restore the hub restarts itself; the page waits for that and fetches everything again.
 */
async function untilRestored(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    try {
      const { job } = await ok(api.GET('/api/cockpit/backups'))
      if (job?.kind !== 'restore' || job.status === 'failed') return
      if (job.status === 'done') return connection.set('restarting')
    } catch {
      return // It is already restarting; the connection banner says so.
    }
  }
}
