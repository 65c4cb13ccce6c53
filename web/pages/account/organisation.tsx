import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { type Member, membersQuery, type Org } from '../../api/queries.ts'
import {
  ApiForm,
  errorMessage,
  FailedQuery,
  hasFailed,
  useToastError,
} from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { timeNow } from '../../ui/clock.ts'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Input } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Select } from '../../ui/select.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { orgsText } from './orgs.text.ts'

type Asked =
  | { kind: 'remove'; member: Member }
  | { kind: 'transfer'; member: Member }
  | { kind: 'leave' | 'delete' }

/** One organisation: its people and invites, and what the caller's role allows. */
export function Organisation({ org, me }: { org: Org; me: string }) {
  const text = useText(orgsText)
  const found = useQuery(membersQuery(org.id))
  const [asked, setAsked] = useState<Asked>()
  const mayManage = org.role !== 'member'
  return (
    <section className="flex flex-col gap-6">
      <header className="flex flex-col gap-2">
        <Link
          href="/account/orgs"
          className="flex items-center gap-1.5 self-start text-sm text-accent-text hover:underline"
        >
          <ArrowLeft size={14} aria-hidden /> {text.back}
        </Link>
        <div className="flex flex-wrap items-center gap-3">
          <h2 className="min-w-0 text-xl break-words">{org.name}</h2>
          <Badge>{text.roles[org.role]}</Badge>
        </div>
      </header>
      <section className="flex flex-col gap-2">
        <h3>{text.people}</h3>
        {found.isPending ? <SkeletonRows rows={3} /> : null}
        {hasFailed(found) ? (
          <FailedQuery error={found.error} onRetry={() => found.refetch()} />
        ) : null}
        <ul>
          {(found.data?.members ?? []).map((member) => (
            <MemberLine
              key={member.id}
              org={org}
              member={member}
              isMe={member.user_id === me}
              onAsk={setAsked}
            />
          ))}
        </ul>
      </section>
      {mayManage ? <Invite org={org} /> : null}
      {mayManage ? <Rename org={org} /> : null}
      <div>
        <Button onClick={() => setAsked({ kind: org.role === 'owner' ? 'delete' : 'leave' })}>
          {org.role === 'owner' ? text.delete : text.leave}
        </Button>
      </div>
      {asked ? <Question org={org} asked={asked} onClose={() => setAsked(undefined)} /> : null}
    </section>
  )
}

function MemberLine({
  org,
  member,
  isMe,
  onAsk,
}: {
  org: Org
  member: Member
  isMe: boolean
  onAsk: (asked: Asked) => void
}) {
  const text = useText(orgsText)
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: (role: 'admin' | 'member') =>
      ok(
        api.PATCH('/api/v1/orgs/{id}/members/{userId}', {
          params: { path: { id: org.id, userId: member.id } },
          body: { role },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['account', 'members'] }),
    onError: useToastError(),
  })
  const mayChange = org.role !== 'member' && member.role !== 'owner' && !isMe
  const hasEnded =
    member.invite_expires_at !== null && Date.parse(member.invite_expires_at) < timeNow()
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line py-2">
      <span className="min-w-0 flex-1 basis-48">
        <span className="break-all">{member.email}</span>
        {isMe ? <span className="ml-2 text-sm text-muted">{text.you}</span> : null}
        {member.status === 'invited' ? (
          <span className="ml-2 text-sm text-muted">
            {hasEnded ? text.invite_expired : text.invited}
          </span>
        ) : null}
      </span>
      {mayChange ? (
        <Select
          aria-label={text.role_of(member.email)}
          value={member.role}
          disabled={change.isPending}
          onChange={({ target }) => change.mutate(target.value === 'admin' ? 'admin' : 'member')}
          options={(['admin', 'member'] as const).map((value) => ({
            value,
            label: text.roles[value],
          }))}
        />
      ) : (
        <Badge>{text.roles[member.role]}</Badge>
      )}
      {mayChange ? (
        <Button size="sm" onClick={() => onAsk({ kind: 'remove', member })}>
          {member.status === 'invited' ? text.withdraw : text.remove}
        </Button>
      ) : null}
      {org.role === 'owner' && mayChange && member.status === 'active' ? (
        <Button size="sm" variant="ghost" onClick={() => onAsk({ kind: 'transfer', member })}>
          {text.transfer}
        </Button>
      ) : null}
    </li>
  )
}

function Invite({ org }: { org: Org }) {
  const text = useText(orgsText)
  const queryClient = useQueryClient()
  const [made, setMade] = useState<{ email: string; url: string }>()
  return (
    <ApiForm
      className="flex flex-col gap-3 rounded-panel border border-line p-4"
      onSubmit={async ({ email = '', role }) => {
        const answer = await ok(
          api.POST('/api/v1/orgs/{id}/members', {
            params: { path: { id: org.id } },
            body: { email, role: role === 'admin' ? 'admin' : 'member' },
          }),
        )
        void queryClient.invalidateQueries({ queryKey: ['account', 'members'] })
        if (answer.invite_url) setMade({ email, url: answer.invite_url })
      }}
    >
      <div className="grid gap-3 sm:grid-cols-[1fr_auto]">
        <FormField name="email" label={text.email}>
          <Input type="email" />
        </FormField>
        <FormField name="role" label={text.role}>
          <Select
            defaultValue="member"
            options={(['member', 'admin'] as const).map((value) => ({
              value,
              label: text.roles[value],
            }))}
          />
        </FormField>
      </div>
      <p className="text-sm text-muted">{text.role_hint}</p>
      <FormError />
      <Submit className="self-start">{text.invite}</Submit>
      {made ? (
        <div className="flex flex-col gap-2" role="status">
          <p className="text-pretty">{text.link_hint(made.email)}</p>
          <CopyText label={text.link} text={made.url} />
        </div>
      ) : null}
    </ApiForm>
  )
}

function Rename({ org }: { org: Org }) {
  const text = useText(orgsText)
  const queryClient = useQueryClient()
  return (
    <ApiForm
      className="flex flex-col gap-3"
      onSubmit={async ({ name = '' }) => {
        const path = { id: org.id }
        await ok(api.PATCH('/api/v1/account/orgs/{id}', { params: { path }, body: { name } }))
        toast(text.renamed)
        void queryClient.invalidateQueries({ queryKey: ['account'] })
      }}
    >
      <FormField name="name" label={text.name}>
        <Input defaultValue={org.name} maxLength={120} />
      </FormField>
      <FormError />
      <Submit variant="secondary" className="self-start">
        {text.rename}
      </Submit>
    </ApiForm>
  )
}

/** What cannot be undone is asked for by name. */
function Question({ org, asked, onClose }: { org: Org; asked: Asked; onClose: () => void }) {
  const text = useText(orgsText)
  const words = useWords()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const path = { id: org.id }
  const email = 'member' in asked ? asked.member.email : ''
  const questions = {
    remove: { title: text.remove_title(email), text: text.remove_text, action: text.remove },
    transfer: {
      title: text.transfer_title(email),
      text: text.transfer_text,
      action: text.transfer,
    },
    leave: { title: text.leave, text: text.leave_text, action: text.leave },
    delete: { title: text.delete, text: text.delete_text, action: text.delete },
  }
  const done = {
    remove: text.removed(email),
    transfer: text.transferred(email),
    leave: text.left(org.name),
    delete: text.deleted(org.name),
  }
  const act = useMutation({
    mutationFn: async (): Promise<unknown> => {
      if (!('member' in asked)) {
        return asked.kind === 'delete'
          ? ok(api.DELETE('/api/v1/account/orgs/{id}', { params: { path } }))
          : ok(api.POST('/api/v1/account/orgs/{id}/leave', { params: { path } }))
      }
      if (asked.kind === 'transfer') {
        const user_id = asked.member.user_id ?? ''
        return ok(
          api.POST('/api/v1/account/orgs/{id}/transfer', { params: { path }, body: { user_id } }),
        )
      }
      return ok(
        api.DELETE('/api/v1/orgs/{id}/members/{userId}', {
          params: { path: { ...path, userId: asked.member.id } },
        }),
      )
    },
    onSuccess: () => {
      onClose()
      toast(done[asked.kind])
      if (asked.kind === 'leave' || asked.kind === 'delete') navigate('/account/orgs')
      // What others share is seen through the organisation.
      void queryClient.invalidateQueries()
    },
  })
  const { title, text: lost, action } = questions[asked.kind]
  const name = 'member' in asked ? email : org.name
  return (
    <ConfirmByName
      title={title}
      text={lost}
      label={text.type_name(name)}
      name={name}
      action={action}
      failure={act.error ? errorMessage(act.error, words) : undefined}
      isPending={act.isPending}
      onConfirm={() => act.mutate()}
      onClose={onClose}
    />
  )
}
