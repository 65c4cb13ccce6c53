import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api, ok } from '../../api/client.ts'
import { type Account, invitesQuery } from '../../api/queries.ts'
import { signOut } from '../../api/session.ts'
import { errorMessage, useToastError } from '../../shared/errors.tsx'
import { allowNotices, setNotice, useNotices } from '../../shell/notices.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Switch } from '../../ui/field.tsx'
import { saveFile } from '../../ui/file.ts'
import { Notice } from '../../ui/form.tsx'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { Progress } from '../../ui/progress.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { accountText } from './account.text.ts'

const COUNTED = ['zones', 'channels', 'keys', 'organisations'] as const

/** The plan with what it allows and how much of it is used, invites, this browser, and the data. */
export function Plan({ account }: { account: Account }) {
  return (
    <div className="flex flex-col gap-8">
      <Invites />
      <Limits account={account} />
      <Browser />
      <Data account={account} />
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3">
      <h2 className="text-lg">{title}</h2>
      {children}
    </section>
  )
}

function Invites() {
  const text = useText(accountText)
  const queryClient = useQueryClient()
  const invites = useQuery(invitesQuery).data?.invites ?? []
  const accept = useMutation({
    mutationFn: (id: string) => ok(api.POST('/api/v1/account/invites/accept', { body: { id } })),
    onSuccess: ({ org }) => {
      toast(text.joined(org.name))
      void queryClient.invalidateQueries()
    },
    onError: useToastError(),
  })
  if (invites.length === 0) return null
  return (
    <Section title={text.invites}>
      {invites.map((invite) => (
        <Notice
          key={invite.id}
          text={
            <>
              {text.invited(invite.org.name)}{' '}
              {invite.invited_by ? (
                <span className="text-muted">{text.invited_by(invite.invited_by)}</span>
              ) : null}
            </>
          }
          action={
            <Button
              variant="primary"
              isPending={accept.isPending}
              onClick={() => accept.mutate(invite.id)}
            >
              {text.accept}
            </Button>
          }
        />
      ))}
    </Section>
  )
}

function Limits({ account }: { account: Account }) {
  const text = useText(accountText)
  const language = useLanguage()
  const say = (value: number) => number(language, value)
  const { counts, limits } = account
  return (
    <Section title={text.use}>
      <FactsLine>
        <Badge tone={account.plan === 'free' ? 'warn' : 'good'}>{text.plans[account.plan]}</Badge>
        {text.requests(say(limits.requests_per_minute))}
        {text.members(say(limits.members))}
      </FactsLine>
      {account.plan === 'free' ? <Notice tone="warn" text={text.plan_free} /> : null}
      <ul className="grid gap-4 sm:grid-cols-2">
        {COUNTED.map((name) => (
          <li key={name} className="flex flex-col gap-1.5">
            <div className="flex items-baseline justify-between gap-2" data-numbers>
              <span>{text.limits[name]}</span>
              <span className="text-muted">{text.of(say(counts[name]), say(limits[name]))}</span>
            </div>
            <Progress label={text.limits[name]} value={counts[name]} max={limits[name]} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Browser() {
  const text = useText(accountText)
  const notices = useNotices()
  const turn = async (isOn: boolean) => {
    if (isOn && !(await allowNotices())) toast(text.notify_denied, { kind: 'failed' })
    else setNotice('notify', isOn)
  }
  return (
    <Section title={text.browser}>
      <div className="flex items-center justify-between gap-4">
        {text.notify}
        <Switch label={text.notify} isOn={notices.notify} onChange={(isOn) => void turn(isOn)} />
      </div>
      <div className="flex items-center justify-between gap-4">
        {text.sound}
        <Switch
          label={text.sound}
          isOn={notices.sound}
          onChange={(isOn) => setNotice('sound', isOn)}
        />
      </div>
    </Section>
  )
}

function Data({ account }: { account: Account }) {
  const text = useText(accountText)
  const words = useWords()
  const [isAsked, setAsked] = useState(false)
  const exported = useMutation({
    mutationFn: () => ok(api.GET('/api/v1/account/export')),
    onSuccess: (data) =>
      saveFile(
        `watchpost-${account.email}.json`,
        JSON.stringify(data, null, 2),
        'application/json',
      ),
    onError: useToastError(),
  })
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/api/v1/account', { body: { confirm: account.email } })),
    onSuccess: async () => {
      toast(text.deleted)
      await signOut()
    },
  })
  return (
    <Section title={text.data}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">{text.export_hint}</p>
        <Button
          isPending={exported.isPending}
          onClick={() => exported.mutate()}
          icon={<Download size={14} aria-hidden />}
        >
          {text.export}
        </Button>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">{text.delete_hint}</p>
        <Button onClick={() => setAsked(true)}>{text.delete}</Button>
      </div>
      {isAsked ? (
        <ConfirmByName
          title={text.delete}
          text={text.delete_text}
          label={text.delete_label}
          name={account.email}
          action={text.delete}
          failure={remove.error ? errorMessage(remove.error, words) : undefined}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsked(false)}
        />
      ) : null}
    </Section>
  )
}
