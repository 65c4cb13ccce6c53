import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, Users } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Link } from 'wouter'
import type {
  OperatorAccount,
  OperatorAccountDetail,
  OperatorKey,
  OperatorLink,
} from '../../../shared/schemas/operator.ts'
import { ApiForm, FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { Actions, Dialog } from '../../ui/layer.tsx'
import { FactsLine } from '../../ui/lists/facts-line.tsx'
import { More } from '../../ui/lists/more.tsx'
import { Table, Td, Th } from '../../ui/lists/table.tsx'
import { Select } from '../../ui/select.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { get, pagesQuery, post, REFRESH_MS } from '../api.ts'
import { operatorText } from '../operator.text.ts'
import { Fact, Facts, Found, Scroll, Section } from '../parts.tsx'

/** Who has an account, or one of them with its keys. */
export function AccountsPage({ id }: { id: string | undefined }) {
  return id ? <Account id={id} /> : <Accounts />
}

function Accounts() {
  const text = useText(operatorText)
  const language = useLanguage()
  const [typed, setTyped] = useState('')
  const search = useDeferredValue(typed.trim())
  const found = useInfiniteQuery({
    ...pagesQuery<'accounts', OperatorAccount>('accounts', { search }),
    placeholderData: (before) => before,
  })
  const accounts = found.data?.pages.flatMap((page) => page.accounts) ?? []
  return (
    <>
      <Field label={text.search} className="max-w-md">
        <Input
          type="search"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </Field>
      {found.isPending ? <SkeletonRows /> : null}
      {hasFailed(found) ? (
        <FailedQuery error={found.error} onRetry={() => found.refetch()} />
      ) : null}
      {found.data && accounts.length === 0 ? (
        <Empty
          picture={<Users size={24} strokeWidth={1.5} aria-hidden />}
          title={text.no_accounts}
          text={text.no_accounts_text}
        />
      ) : null}
      {accounts.length > 0 ? (
        <Scroll label={text.pages.accounts}>
          <Table>
            <thead>
              <tr>
                <Th>{text.email}</Th>
                <Th>{text.plan}</Th>
                <Th className="text-right">{text.keys}</Th>
                <Th className="text-right">{text.zones}</Th>
                <Th className="text-right">{text.channels}</Th>
                <Th>{text.last_used}</Th>
                <Th>{text.since}</Th>
              </tr>
            </thead>
            <tbody>
              {accounts.map((one) => (
                <tr key={one.user_id} className="group" data-numbers>
                  <Td>
                    <Link
                      href={`/accounts/${one.user_id}`}
                      className="font-medium text-accent-text hover:underline"
                    >
                      <code className="font-sans">{one.email}</code>
                    </Link>
                  </Td>
                  <Td>
                    <PlanBadge account={one} />
                  </Td>
                  <Td className="text-right">{number(language, one.keys)}</Td>
                  <Td className="text-right">{number(language, one.zones)}</Td>
                  <Td className="text-right">{number(language, one.channels)}</Td>
                  <Td>{one.last_used_at ? <Time at={one.last_used_at} /> : text.never}</Td>
                  <Td>
                    <Time at={one.signed_up_at} />
                  </Td>
                </tr>
              ))}
            </tbody>
          </Table>
        </Scroll>
      ) : null}
      <More query={found} className="p-0" />
    </>
  )
}

function PlanBadge({ account }: { account: OperatorAccount }) {
  const text = useText(operatorText)
  if (account.banned_until) return <Badge tone="bad">{text.banned}</Badge>
  return <Badge tone={account.plan === 'free' ? 'warn' : 'good'}>{text.plans[account.plan]}</Badge>
}

function Account({ id }: { id: string }) {
  const text = useText(operatorText)
  const query = useQuery({
    queryKey: ['accounts', id],
    queryFn: () => get<OperatorAccountDetail>(`accounts/${encodeURIComponent(id)}`),
    refetchInterval: REFRESH_MS,
  })
  return (
    <>
      <Link
        href="/accounts"
        className="flex w-fit items-center gap-1.5 text-sm text-accent-text hover:underline"
      >
        <ArrowLeft size={14} aria-hidden /> {text.all_accounts}
      </Link>
      <Found query={query}>
        {({ account, keys }) => (
          <>
            <AccountFacts account={account} />
            <PlanForm key={account.plan} account={account} />
            <SignInLink account={account} />
            <Section title={text.keys}>
              {keys.length === 0 ? <p className="text-muted">{text.no_keys}</p> : null}
              <ul>
                {keys.map((one) => (
                  <KeyLine key={one.id} one={one} />
                ))}
              </ul>
            </Section>
          </>
        )}
      </Found>
    </>
  )
}

function AccountFacts({ account }: { account: OperatorAccount }) {
  const text = useText(operatorText)
  const language = useLanguage()
  return (
    <>
      <h2 className="flex flex-wrap items-center gap-3 text-lg">
        <code className="min-w-0 font-sans break-all">{account.email}</code>
        <PlanBadge account={account} />
      </h2>
      <Facts>
        <Fact name={text.zones}>{number(language, account.zones)}</Fact>
        <Fact name={text.channels}>{number(language, account.channels)}</Fact>
        <Fact name={text.last_used}>
          {account.last_used_at ? <Time at={account.last_used_at} /> : text.never}
        </Fact>
        <Fact name={text.since}>
          <Time at={account.signed_up_at} />
        </Fact>
        <Fact name={text.organisations}>
          <code className="font-sans">{account.organisations ?? text.none}</code>
        </Fact>
        <Fact name="Id">
          <code className="text-xs break-all">{account.user_id}</code>
        </Fact>
      </Facts>
    </>
  )
}

function PlanForm({ account }: { account: OperatorAccount }) {
  const text = useText(operatorText)
  const client = useQueryClient()
  const plans = (['free', 'pro', 'enterprise'] as const).map((value) => ({
    value,
    label: text.plans[value] ?? value,
  }))
  return (
    <Section title={text.plan}>
      <p className="text-pretty text-muted">{text.plan_hint}</p>
      <ApiForm
        className="flex flex-wrap items-end gap-3"
        onSubmit={async ({ plan }) => {
          await post(`accounts/${account.user_id}/plan`, { plan })
          toast(text.plan_changed)
          void client.invalidateQueries()
        }}
      >
        <FormField name="plan" label={text.plan}>
          <Select defaultValue={account.plan} options={plans} />
        </FormField>
        <Submit>{text.change_plan}</Submit>
        <FormError />
      </ApiForm>
    </Section>
  )
}

function SignInLink({ account }: { account: OperatorAccount }) {
  const text = useText(operatorText)
  const [made, setMade] = useState<OperatorLink>()
  const [isPending, setPending] = useState(false)
  const fail = useToastError()
  const make = async () => {
    setPending(true)
    try {
      setMade(await post<OperatorLink>(`accounts/${account.user_id}/link`))
    } catch (error) {
      fail(error)
    }
    setPending(false)
  }
  return (
    <Section title={text.sign_in_link}>
      <p className="text-pretty text-muted">{text.sign_in_link_hint}</p>
      <div>
        <Button isPending={isPending} onClick={() => void make()}>
          {text.make_link}
        </Button>
      </div>
      {made ? (
        <Dialog
          isOpen
          onClose={() => setMade(undefined)}
          title={text.sign_in_link}
          description={text.link_once}
          size="md"
        >
          <CopyText label={text.sign_in_link} text={made.url} />
        </Dialog>
      ) : null}
    </Section>
  )
}

const KEY_TONES = {
  works: 'good',
  paused: 'warn',
  banned: 'bad',
  expired: 'plain',
  revoked: 'plain',
} as const

function KeyLine({ one }: { one: OperatorKey }) {
  const text = useText(operatorText)
  const client = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  const isLiving = one.state !== 'revoked' && one.state !== 'expired'
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2.5">
      <div className="min-w-0 flex-1 basis-60">
        <p className="truncate font-medium">
          <code className="font-sans">{one.name ?? text.unnamed}</code>
        </p>
        <FactsLine>
          <code className="text-xs">{one.prefix}…</code>
          <code className="font-sans">{one.scopes}</code>
          {one.last_used_at ? <Time at={one.last_used_at} /> : text.never_used}
        </FactsLine>
      </div>
      <Badge tone={KEY_TONES[one.state]}>{text.key_states[one.state]}</Badge>
      {isLiving ? (
        <Button size="sm" onClick={() => setAsked(true)}>
          {text.revoke}
        </Button>
      ) : null}
      {isAsked ? (
        <Dialog
          isOpen
          onClose={() => setAsked(false)}
          title={text.revoke_title}
          description={text.revoke_text}
        >
          <ApiForm
            onSubmit={async () => {
              await post(`keys/${one.id}/revoke`)
              setAsked(false)
              toast(text.revoked)
              void client.invalidateQueries()
            }}
          >
            <FormError />
            <Actions className="mt-0">
              <Submit variant="danger">{text.revoke}</Submit>
            </Actions>
          </ApiForm>
        </Dialog>
      ) : null}
    </li>
  )
}
