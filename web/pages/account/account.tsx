import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { accountQuery } from '../../api/queries.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { useText } from '../../ui/language.ts'
import { SkeletonRows } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { accountText } from './account.text.ts'
import { Keys } from './keys.tsx'
import { Organisations } from './organisations.tsx'
import { Plan } from './plan.tsx'

const TABS = ['plan', 'keys', 'orgs'] as const

/** The account: its plan with the use of it, its keys, and its organisations. The tab stands in the address. */
export function AccountPage({ tab, id }: { tab: string | undefined; id: string | undefined }) {
  const text = useText(accountText)
  const [, navigate] = useLocation()
  const found = useQuery(accountQuery)
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const { account } = found.data
  const content = {
    plan: <Plan account={account} />,
    keys: <Keys />,
    orgs: <Organisations account={account} id={id} />,
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <header className="flex flex-wrap items-baseline gap-x-3 px-5 py-3">
        <h1 className="text-lg">{text.title}</h1>
        <p className="min-w-0 truncate text-muted">{account.email}</p>
      </header>
      <Tabs
        label={text.title}
        value={TABS.find((one) => one === tab) ?? 'plan'}
        onChange={(next) => navigate(`/account/${next}`)}
        tabs={TABS.map((value) => ({
          value,
          label: text.tabs[value],
          content: <div className="mx-auto max-w-3xl p-4 md:p-6">{content[value]}</div>,
        }))}
      />
    </div>
  )
}
