import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { CopyText } from '../../../../web/ui/copy.tsx'
import { Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { Menu, type MenuItem } from '../../../../web/ui/menu.tsx'
import { Select } from '../../../../web/ui/select.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { membersText } from './members.text.ts'
import { Card, Section } from './section.tsx'

type Member = Schemas['HubMember']
type Link = { who: string; link: string }

const KEY = ['settings', 'members']
export const membersQuery = {
  queryKey: KEY,
  queryFn: async () => (await ok(api.GET('/api/cockpit/settings/members'))).members,
}

const whoIs = ({ name, email }: Member) => name ?? email

/** The people of the hub: inviting, roles, new links, removing. */
export function Members() {
  const text = useText(membersText)
  const query = useQuery(membersQuery)
  const [link, setLink] = useState<Link>()
  return (
    <Section title={text.title} text={text.text}>
      <Invite onLink={setLink} />
      {link ? (
        <Card title={text.link_of(link.who)} text={text.link_hint}>
          <CopyText label={text.link_of(link.who)} text={link.link} />
        </Card>
      ) : null}
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : hasFailed(query) ? (
        <FailedQuery error={query.error} onRetry={() => query.refetch()} />
      ) : (
        <List members={query.data} onLink={setLink} />
      )}
    </Section>
  )
}

function Invite({ onLink }: { onLink: (link: Link) => void }) {
  const text = useText(membersText)
  const queryClient = useQueryClient()
  const [role, setRole] = useState<Member['role']>('seller')
  return (
    <Card title={text.invite} text={text.invite_text}>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ email = '', name = '' }) => {
          const body = { email, name: name === '' ? null : name, role }
          const made = await ok(api.POST('/api/cockpit/settings/members', { body }))
          onLink({ who: whoIs(made.member), link: made.link })
          await queryClient.invalidateQueries({ queryKey: KEY })
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <FormField name="email" label={text.email}>
            <Input type="email" autoComplete="off" maxLength={320} />
          </FormField>
          <FormField name="name" label={text.name} hint={text.name_hint}>
            <Input autoComplete="off" maxLength={120} />
          </FormField>
        </div>
        <FormField name="role" label={text.role} hint={text.role_texts[role]}>
          <Select
            value={role}
            onChange={({ target }) => setRole(target.value as Member['role'])} // safe: our own options
            options={Object.entries(text.roles).map(([value, label]) => ({ value, label }))}
          />
        </FormField>
        <FormError />
        <Actions className="mt-0">
          <Submit>{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

function List({ members, onLink }: { members: Member[]; onLink: (link: Link) => void }) {
  const text = useText(membersText)
  const current = members.filter(({ status }) => status !== 'removed')
  const former = members.filter(({ status }) => status === 'removed')
  return (
    <>
      <Card>
        <ul className="-my-2 flex flex-col">
          <li className="border-b border-line py-3">
            <p className="font-medium">{text.first_admin}</p>
            <p className="text-sm text-muted text-pretty">{text.first_admin_text}</p>
          </li>
          {current.map((member) => (
            <Row key={member.id} member={member} onLink={onLink} />
          ))}
          {current.length === 0 ? <li className="py-3 text-muted">{text.empty}</li> : null}
        </ul>
      </Card>
      {former.length > 0 ? (
        <Card title={text.former(former.length)}>
          <ul className="flex flex-col gap-1 text-muted">
            {former.map((member) => (
              <li key={member.id} className="flex gap-2">
                <span className="min-w-0 flex-1 truncate" data-numbers>
                  {whoIs(member)}
                </span>
                {member.removed_at ? <Time at={member.removed_at} /> : null}
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
    </>
  )
}

function Row({ member, onLink }: { member: Member; onLink: (link: Link) => void }) {
  const text = useText(membersText)
  const say = useToastError()
  const queryClient = useQueryClient()
  const me = useQuery(meQuery).data
  const [asked, setAsked] = useState<'reset' | 'remove'>()
  const who = whoIs(member)
  const isMe = me?.id === member.id
  const settled = () => queryClient.invalidateQueries({ queryKey: KEY })
  const body = { id: member.id }
  const change = useMutation({
    mutationFn: (role: Member['role']) =>
      ok(api.POST('/api/cockpit/settings/members/change', { body: { ...body, role } })),
    onSuccess: () => toast(text.role_changed(who)),
    onError: say,
    onSettled: settled,
  })
  const renew = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/members/link', { body })),
    onSuccess: ({ link }) => {
      setAsked(undefined)
      onLink({ who, link })
    },
    onError: say,
    onSettled: settled,
  })
  const withdraw = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/members/withdraw', { body })),
    onSuccess: () => toast(text.withdrawn),
    onError: say,
    onSettled: settled,
  })
  const remove = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/settings/members/remove', { body })),
    onSuccess: () => toast(text.removed(who)),
    onError: say,
    onSettled: settled,
  })
  const items: MenuItem[] = [
    member.status === 'active'
      ? { label: text.reset, onSelect: () => setAsked('reset') }
      : { label: text.new_link, onSelect: () => renew.mutate() },
    ...(member.link_ends_at
      ? [{ label: text.withdraw, onSelect: () => withdraw.mutate() } satisfies MenuItem]
      : []),
    { kind: 'line' },
    { label: text.remove, onSelect: () => setAsked('remove') },
  ]
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line not-last:border-b py-3">
      <div className="min-w-40 flex-1">
        <p className="truncate font-medium" data-numbers>
          {who}
        </p>
        <p className="truncate text-sm text-muted" data-numbers>
          {member.email}
        </p>
      </div>
      {member.status === 'active' ? null : (
        <Badge tone={member.link_ends_at ? 'plain' : 'warn'}>
          {member.link_ends_at ? text.statuses[member.status] : text.link_expired}
        </Badge>
      )}
      {isMe ? (
        <Badge>{text.you}</Badge>
      ) : (
        <>
          <Select
            aria-label={text.role_of(who)}
            value={member.role}
            disabled={change.isPending}
            onChange={({ target }) => change.mutate(target.value as Member['role'])} // safe: our own options
            options={Object.entries(text.roles).map(([value, label]) => ({ value, label }))}
          />
          <Menu
            align="end"
            items={items}
            trigger={
              <IconButton label={text.actions(who)}>
                <Ellipsis size={16} aria-hidden />
              </IconButton>
            }
          />
        </>
      )}
      {asked ? (
        <Ask
          title={asked === 'reset' ? text.reset : text.remove_title(who)}
          text={asked === 'reset' ? text.reset_text(who) : text.remove_text}
          action={asked === 'reset' ? text.reset : text.remove}
          isPending={renew.isPending || remove.isPending}
          onConfirm={() => (asked === 'reset' ? renew : remove).mutate()}
          onClose={() => setAsked(undefined)}
        />
      ) : null}
    </li>
  )
}

/** The question before a session or a key ends at once. */
export function Ask(props: {
  title: string
  text: string
  action: string
  isPending: boolean
  onConfirm: () => void
  onClose: () => void
}) {
  const { cancel } = useText(common)
  return (
    <Dialog isOpen onClose={props.onClose} title={props.title} description={props.text}>
      <Actions className="mt-2">
        <Button onClick={props.onClose}>{cancel}</Button>
        <Button variant="danger" isPending={props.isPending} onClick={props.onConfirm}>
          {props.action}
        </Button>
      </Actions>
    </Dialog>
  )
}
