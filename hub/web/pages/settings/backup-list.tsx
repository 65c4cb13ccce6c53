import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Archive, Download, Ellipsis, Lock, RotateCcw, ShieldCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { Input, SecretInput } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../web/ui/form.tsx'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { Menu } from '../../../../web/ui/menu.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { connection } from '../../api/connection.ts'
import { useIsReadOnly } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { HubForm, useToastError } from '../../errors.tsx'
import { bytes, number, useLanguage, useText } from '../../i18n.ts'
import { backupsQuery } from './backup.tsx'
import { machineText } from './machine.text.ts'
import { Card } from './section.tsx'

type Backup = Schemas['Backup']
type Doing = { what: 'check' | 'restore' | 'delete'; backup: Backup }

/** The backups on this machine, and what can be done with each. */
export function BackupList({ backups, isBusy }: { backups: Backup[]; isBusy: boolean }) {
  const { backup: text } = useText(machineText)
  const words = useText(common)
  const language = useLanguage()
  const isReadOnly = useIsReadOnly()
  const [doing, setDoing] = useState<Doing>()
  const close = () => setDoing(undefined)
  return (
    <Card title={text.list}>
      {backups.length === 0 ? <p className="text-muted">{text.empty}</p> : null}
      <ul className="flex flex-col">
        {backups.map((backup) => (
          <li
            key={backup.name}
            className="flex items-center gap-3 border-line py-2.5 not-last:border-b"
          >
            <Archive size={16} aria-hidden className="shrink-0 text-muted max-md:hidden" />
            <div className="min-w-0 flex-1">
              <p className="truncate font-mono text-sm" title={backup.name}>
                {backup.name}
              </p>
              <p className="flex flex-wrap items-center gap-x-2 text-sm text-muted">
                <span>{text.kinds[backup.kind]}</span>
                <span aria-hidden>·</span>
                <Time at={backup.created_at} />
                <span aria-hidden>·</span>
                <span data-numbers>{bytes(language, backup.bytes)}</span>
                {backup.encrypted ? (
                  <Badge icon={<Lock size={10} aria-hidden />}>{text.encrypted}</Badge>
                ) : null}
              </p>
            </div>
            <Menu
              align="end"
              trigger={
                <IconButton label={`${words.more_actions}: ${backup.name}`}>
                  <Ellipsis size={16} aria-hidden />
                </IconButton>
              }
              items={[
                {
                  label: text.download,
                  icon: <Download size={16} aria-hidden />,
                  onSelect: () =>
                    location.assign(
                      `/api/cockpit/backup/download?${new URLSearchParams({ name: backup.name })}`,
                    ),
                },
                {
                  label: text.check,
                  icon: <ShieldCheck size={16} aria-hidden />,
                  onSelect: () => setDoing({ what: 'check', backup }),
                },
                {
                  label: text.restore,
                  icon: <RotateCcw size={16} aria-hidden />,
                  isDisabled: isBusy || isReadOnly,
                  onSelect: () => setDoing({ what: 'restore', backup }),
                },
                { kind: 'line' },
                {
                  label: text.delete,
                  icon: <Trash2 size={16} aria-hidden />,
                  isDanger: true,
                  isDisabled: isBusy,
                  onSelect: () => setDoing({ what: 'delete', backup }),
                },
              ]}
            />
          </li>
        ))}
      </ul>
      <Dialog
        isOpen={doing?.what === 'check'}
        onClose={close}
        title={text.check_title}
        description={doing?.backup.name}
      >
        {doing ? <Check backup={doing.backup} onClose={close} /> : null}
      </Dialog>
      <Dialog
        isOpen={doing?.what === 'restore'}
        onClose={close}
        title={text.restore_title}
        description={text.restore_text}
        size="md"
      >
        {doing ? <Restore backup={doing.backup} onClose={close} /> : null}
      </Dialog>
      <Dialog
        isOpen={doing?.what === 'delete'}
        onClose={close}
        title={text.delete_title}
        description={text.delete_text}
      >
        {doing ? <Delete backup={doing.backup} onClose={close} /> : null}
      </Dialog>
    </Card>
  )
}

type Props = { backup: Backup; onClose: () => void }

function Secret({ backup }: { backup: Backup }) {
  const { backup: text } = useText(machineText)
  if (!backup.encrypted) return null
  return (
    <FormField name="secret" label={text.passphrase} hint={text.secret_hint}>
      <SecretInput />
    </FormField>
  )
}

/** A private age key begins so; everything else is a passphrase. */
function secretOf(secret: string | undefined) {
  if (!secret) return {}
  return secret.startsWith('AGE-SECRET-KEY-') ? { identity: secret } : { passphrase: secret }
}

const checkOne = (name: string, secret: string | undefined) =>
  ok(api.POST('/api/cockpit/backup/check', { body: { name, ...secretOf(secret) } }))

function Check({ backup, onClose }: Props) {
  const { backup: text } = useText(machineText)
  const words = useText(common)
  const language = useLanguage()
  const [found, setFound] = useState<Awaited<ReturnType<typeof checkOne>>>()
  return (
    <HubForm
      className="flex flex-col gap-4"
      onSubmit={async ({ secret }) => setFound(await checkOne(backup.name, secret))}
    >
      <Secret backup={backup} />
      {found ? (
        <Notice
          tone={found.ok ? 'plain' : 'bad'}
          text={
            found.ok
              ? text.checked(number(language, found.files), number(language, found.rows))
              : found.reason
          }
        />
      ) : null}
      <FormError />
      <Actions className="mt-2">
        <Button onClick={onClose}>{words.ui.close}</Button>
        <Submit>{text.check}</Submit>
      </Actions>
    </HubForm>
  )
}

function Restore({ backup, onClose }: Props) {
  const { backup: text } = useText(machineText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState('')
  return (
    <HubForm
      className="flex flex-col gap-4"
      onSubmit={async ({ confirm = '', secret }) => {
        await ok(
          api.POST('/api/cockpit/backup/restore', {
            body: { name: backup.name, confirm, ...secretOf(secret) },
          }),
        )
        onClose()
        await queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey })
        void untilRestored()
      }}
    >
      <p className="rounded-control border border-line px-3 py-2 font-mono text-sm break-all select-all">
        {backup.name}
      </p>
      <FormField name="confirm" label={text.confirm}>
        <Input
          data-first
          className="font-mono"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </FormField>
      <Secret backup={backup} />
      <FormError />
      <Actions className="mt-2">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Submit variant="danger" disabled={typed.trim() !== backup.name}>
          {text.restore_submit}
        </Submit>
      </Actions>
    </HubForm>
  )
}

const LOOK_MS = 700

/** The hub restarts itself after a restore: the page then waits for it and asks for everything anew. */
async function untilRestored(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    try {
      const { job } = await ok(api.GET('/api/cockpit/backups'))
      if (job?.kind !== 'restore' || job.status === 'failed') return
      if (job.status === 'done') return connection.set('restarting')
    } catch {
      return // It is away already: the connection says so.
    }
  }
}

function Delete({ backup, onClose }: Props) {
  const { backup: text } = useText(machineText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const say = useToastError()
  const remove = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/backup/delete', { body: { name: backup.name } })),
    onSuccess: () => {
      toast(text.deleted)
      onClose()
    },
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey }),
  })
  return (
    <>
      <p className="font-mono text-sm break-all">{backup.name}</p>
      <Actions>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button variant="danger" isPending={remove.isPending} onClick={() => remove.mutate()}>
          {text.delete}
        </Button>
      </Actions>
    </>
  )
}
