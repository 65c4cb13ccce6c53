import { useQueryClient } from '@tanstack/react-query'
import { Users } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { api, ok } from '../../api/client.ts'
import type { Account } from '../../api/queries.ts'
import { ApiForm } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Input } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { Empty } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { Organisation } from './organisation.tsx'
import { orgsText } from './orgs.text.ts'

/** The organisations of the caller, or one of them with its people. */
export function Organisations({ account, id }: { account: Account; id: string | undefined }) {
  const text = useText(orgsText)
  const org = account.orgs.find((one) => one.id === id)
  if (org) return <Organisation key={org.id} org={org} me={account.user_id} />
  return (
    <section className="flex flex-col gap-4">
      <p className="text-pretty text-muted">{text.hint}</p>
      {account.orgs.length === 0 ? (
        <Empty
          picture={<Users size={24} strokeWidth={1.5} aria-hidden />}
          title={text.none}
          text={text.none_text}
          className="py-8"
        />
      ) : null}
      <ul>
        {account.orgs.map((one) => (
          <li key={one.id} className="border-t border-line">
            <Link
              href={`/account/orgs/${one.id}`}
              className="flex items-center gap-3 py-2.5 hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate font-medium">{one.name}</span>
              <span className="text-sm text-muted">{text.members(one.members)}</span>
              <Badge>{text.roles[one.role]}</Badge>
            </Link>
          </li>
        ))}
      </ul>
      <MakeOrg />
    </section>
  )
}

function MakeOrg() {
  const text = useText(orgsText)
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  return (
    <ApiForm
      className="flex flex-col gap-3 rounded-panel border border-line p-4"
      onSubmit={async ({ name = '' }) => {
        const { org } = await ok(api.POST('/api/v1/account/orgs', { body: { name } }))
        await queryClient.invalidateQueries({ queryKey: ['account'] })
        toast(text.made(org.name))
        navigate(`/account/orgs/${org.id}`)
      }}
    >
      <h2>{text.make}</h2>
      <FormField name="name" label={text.name}>
        <Input maxLength={120} />
      </FormField>
      <FormError />
      <Submit className="self-start">{text.make}</Submit>
    </ApiForm>
  )
}
