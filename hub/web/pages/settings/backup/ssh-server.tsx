import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useToastError } from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { CopyText } from '../../../../../web/ui/copy.tsx'
import { Input } from '../../../../../web/ui/field.tsx'
import { FormField } from '../../../../../web/ui/form.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { sshHostOf } from '../../../../backup/destination.ts'
import { api, ok } from '../../../api/client.ts'
import { machineText } from '../machine.text.ts'

const read = (body: { destination: string; port: number }) =>
  ok(api.POST('/api/cockpit/settings/backup_server', { body }))

type Kept = {
  destination: string
  port: number
  host_key: string | null
  public_key: string | null
}

/** Where rsync copies to and, for an SSH server, the keys that each side knows the other by. */
export function SshServer({ kept }: { kept: Kept }) {
  const { backup: text } = useText(machineText)
  const say = useToastError()
  const [destination, setDestination] = useState(kept.destination)
  const [port, setPort] = useState(String(kept.port))
  const [hostKey, setHostKey] = useState(kept.host_key ?? '')
  const ask = useMutation({
    mutationFn: () => read({ destination: destination.trim(), port: Number(port) }),
    // Every server has an Ed25519 key; another kind is taken only where it is the one it shows.
    onSuccess: ({ host_keys }) => {
      const best = host_keys.find(({ host_key }) => host_key.startsWith('ssh-ed25519 '))
      setHostKey((best ?? host_keys[0])?.host_key ?? '')
    },
    onError: say,
  })
  const isSsh = sshHostOf(destination.trim()) !== undefined
  const shown = ask.data?.host_keys.find(({ host_key }) => host_key === hostKey)
  const publicKey = ask.data?.public_key ?? kept.public_key
  return (
    <>
      <FormField name="destination" label={text.destination}>
        <Input
          spellCheck={false}
          placeholder="backup@server:hub"
          value={destination}
          onChange={(event) => setDestination(event.target.value)}
        />
      </FormField>
      {isSsh ? (
        <>
          <FormField name="port" label={text.port}>
            <Input
              inputMode="numeric"
              value={port}
              onChange={(event) => setPort(event.target.value)}
            />
          </FormField>
          <FormField
            name="host_key"
            label={text.host_key}
            isOptional
            className="md:col-span-2"
            hint={
              <span className="wrap-anywhere">
                {shown ? text.compare(shown.fingerprint) : text.host_key_hint}
              </span>
            }
          >
            <Input
              className="font-mono"
              spellCheck={false}
              placeholder="ssh-ed25519 AAAA…"
              value={hostKey}
              onChange={(event) => setHostKey(event.target.value)}
            />
          </FormField>
          <div className="md:col-span-2">
            <Button isPending={ask.isPending} onClick={() => ask.mutate()}>
              {text.read_host_key}
            </Button>
          </div>
          {publicKey ? (
            <div className="flex flex-col gap-1 md:col-span-2">
              <p className="text-sm">{text.authorize}</p>
              <CopyText label={text.public_key} text={publicKey} />
            </div>
          ) : null}
        </>
      ) : null}
    </>
  )
}
