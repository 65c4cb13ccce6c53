import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../api/client.ts'
import { type Key, keysQuery } from '../../api/queries.ts'
import { ApiForm, errorMessage, FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { timeNow } from '../../ui/clock.ts'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { DateInput } from '../../ui/dates/inputs.tsx'
import { Checkbox, Input } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Actions, Dialog } from '../../ui/layer.tsx'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { More } from '../../ui/lists/more.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { accountText } from './account.text.ts'

const SCOPES = ['read', 'write', 'ingest'] as const

/** The keys of the account: what each may do, until when, and when it was last used. */
export function Keys() {
  const text = useText(accountText)
  const [isMaking, setMaking] = useState(false)
  const found = useInfiniteQuery(keysQuery)
  const keys = found.data?.pages.flatMap((page) => page.keys) ?? []
  const make = (
    <Button variant="primary" onClick={() => setMaking(true)} icon={<Plus size={14} aria-hidden />}>
      {text.make_key}
    </Button>
  )
  return (
    <section className="flex flex-col gap-4">
      <header className="flex flex-wrap items-center justify-between gap-3">
        <p className="min-w-0 flex-1 basis-60 text-pretty text-muted">{text.keys_hint}</p>
        {keys.length > 0 ? make : null}
      </header>
      {found.isPending ? <SkeletonRows rows={4} /> : null}
      {hasFailed(found) ? (
        <FailedQuery error={found.error} onRetry={() => found.refetch()} />
      ) : null}
      {found.data && keys.length === 0 ? (
        <Empty
          picture={<KeyRound size={24} strokeWidth={1.5} aria-hidden />}
          title={text.no_keys}
          text={text.no_keys_text}
          action={make}
        />
      ) : null}
      <ul>
        {keys.map((key) => (
          <KeyLine key={key.id} one={key} />
        ))}
      </ul>
      <More query={found} className="p-0" />
      {isMaking ? <MakeKey onClose={() => setMaking(false)} /> : null}
    </section>
  )
}

function KeyLine({ one }: { one: Key }) {
  const text = useText(accountText)
  const words = useWords()
  const queryClient = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  const isEnded = one.expires_at !== null && Date.parse(one.expires_at) <= timeNow()
  const isLiving = one.revoked_at === null && !isEnded
  const revoke = useMutation({
    mutationFn: () =>
      ok(api.DELETE('/api/v1/account/keys/{id}', { params: { path: { id: one.id } } })),
    onSuccess: () => {
      setAsked(false)
      toast(text.is_revoked(one.name))
      void queryClient.invalidateQueries({ queryKey: ['account'] })
    },
  })
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2.5">
      <div className="min-w-0 flex-1 basis-60">
        <p className="truncate font-medium">{one.name}</p>
        <FactsLine>
          <code className="text-xs">{one.prefix}…</code>
          {scopesOf(one).map((scope) => text.scope_names[scope])}
          {one.last_used_at ? (
            <span>
              {text.used} <Time at={one.last_used_at} />
            </span>
          ) : (
            text.never_used
          )}
          {one.expires_at ? (
            <span>
              {isEnded ? text.ended : text.ends} <Time at={one.expires_at} />
            </span>
          ) : null}
        </FactsLine>
      </div>
      <Badge tone={isLiving ? 'good' : 'plain'}>
        {one.revoked_at ? text.revoked : isEnded ? text.ended : text.works}
      </Badge>
      {isLiving ? (
        <Button size="sm" onClick={() => setAsked(true)}>
          {text.revoke}
        </Button>
      ) : null}
      {isAsked ? (
        <ConfirmByName
          title={text.revoke_title}
          text={text.revoke_text}
          label={text.revoke_label(one.name)}
          name={one.name}
          action={text.revoke}
          failure={revoke.error ? errorMessage(revoke.error, words) : undefined}
          isPending={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onClose={() => setAsked(false)}
        />
      ) : null}
    </li>
  )
}

/** What may change may read as well, and need not say so. */
const scopesOf = ({ scopes }: Key) =>
  scopes.filter((scope) => scope !== 'read' || !scopes.includes('write'))

/** The form of a new key, and then the key, which is shown only here. */
function MakeKey({ onClose }: { onClose: () => void }) {
  const text = useText(accountText)
  const queryClient = useQueryClient()
  const [scopes, setScopes] = useState<Key['scopes']>(['read'])
  const [made, setMade] = useState<string>()
  if (made) {
    return (
      <Dialog isOpen onClose={onClose} title={text.key} description={text.key_once} size="md">
        <CopyText label={text.key} text={made} />
        <Actions>
          <Button variant="primary" onClick={onClose}>
            {text.kept}
          </Button>
        </Actions>
      </Dialog>
    )
  }
  return (
    <Dialog isOpen onClose={onClose} title={text.make_key}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ name = '', expires_at = '' }) => {
          // Until the end of that day, where the reader is.
          const end = expires_at ? new Date(`${expires_at}T23:59:59`).toISOString() : null
          const body = { name, scopes, expires_at: end }
          const answer = await ok(api.POST('/api/v1/account/keys', { body }))
          void queryClient.invalidateQueries({ queryKey: ['account'] })
          setMade(answer.key.api_key ?? undefined)
        }}
      >
        <FormField name="name" label={text.key_name}>
          <Input maxLength={120} />
        </FormField>
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-sm font-medium">{text.scopes}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} htmlFor={`scope-${scope}`} className="flex items-center gap-2">
              <Checkbox
                id={`scope-${scope}`}
                checked={scopes.includes(scope)}
                onChange={({ target }) =>
                  setScopes(
                    SCOPES.filter((one) => (one === scope ? target.checked : scopes.includes(one))),
                  )
                }
              />
              {text.scope_names[scope]}
            </label>
          ))}
        </fieldset>
        <FormField name="expires_at" label={text.expires} hint={text.expires_hint} isOptional>
          <DateInput />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit disabled={scopes.length === 0}>{text.make_key}</Submit>
        </Actions>
      </ApiForm>
    </Dialog>
  )
}
