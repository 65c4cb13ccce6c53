import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Archive, Download, Ellipsis, Lock, RotateCcw, ShieldCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, useToastError } from '../../../../../web/shared/errors.tsx'
import { Badge } from '../../../../../web/ui/badge.tsx'
import { Button, IconButton } from '../../../../../web/ui/button.tsx'
import { FormError, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { bytes, number, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../../web/ui/layer.tsx'
import { FactsLine } from '../../../../../web/ui/lists/facts-line.tsx'
import { Menu } from '../../../../../web/ui/menu.tsx'
import { Time } from '../../../../../web/ui/time.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { useIsReadOnly } from '../../../api/queries.ts'
import { common } from '../../../common.text.ts'
import { machineText } from '../machine.text.ts'
import { Card } from '../section.tsx'
import { backupsQuery } from './backup-query.ts'
import { type Checked, checkOne, type OneBackup, Restore, Secret } from './backup-restore.tsx'

type Backup = Schemas['Backup']
type Doing = { what: 'check' | 'restore' | 'delete'; backup: Backup }

/** The backups on this machine, with their actions. */
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
              <p className="font-mono text-sm break-all">{backup.name}</p>
              <FactsLine>
                {text.kinds[backup.kind]}
                <Time at={backup.created_at} />
                <span data-numbers>{bytes(language, backup.bytes)}</span>
                {backup.encrypted ? (
                  <Badge icon={<Lock size={10} aria-hidden />}>{text.encrypted}</Badge>
                ) : null}
              </FactsLine>
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

function Check({ backup, onClose }: OneBackup) {
  const { backup: text } = useText(machineText)
  const words = useWords()
  const language = useLanguage()
  const [found, setFound] = useState<Checked>()
  return (
    <ApiForm
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
        <Button onClick={onClose}>{words.close}</Button>
        <Submit>{text.check}</Submit>
      </Actions>
    </ApiForm>
  )
}

function Delete({ backup, onClose }: OneBackup) {
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
