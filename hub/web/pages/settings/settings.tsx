import { Lock } from 'lucide-react'
import { type ComponentType, lazy, Suspense } from 'react'
import { Link, Redirect, useLocation } from 'wouter'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Select } from '../../../../web/ui/select.tsx'
import { Empty, SkeletonRows } from '../../../../web/ui/states.tsx'
import { useIsAdmin } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { Page } from '../../shell/page.tsx'
import { settingsText } from './settings.text.ts'

const SECTIONS = {
  models: lazy(() => import('./models/models.tsx').then(({ Models }) => ({ default: Models }))),
  agents: lazy(() => import('./prompts.tsx').then(({ Prompts }) => ({ default: Prompts }))),
  'service-key': lazy(() =>
    import('./service-key.tsx').then(({ ServiceKey }) => ({ default: ServiceKey })),
  ),
  mail: lazy(() => import('./mail/mail.tsx').then(({ Mail }) => ({ default: Mail }))),
  suppression: lazy(() =>
    import('./mail/suppression.tsx').then(({ Suppression }) => ({ default: Suppression })),
  ),
  people: lazy(() => import('./people/people.tsx').then(({ People }) => ({ default: People }))),
  archives: lazy(() =>
    import('./backup/archives.tsx').then(({ Archives }) => ({ default: Archives })),
  ),
  license: lazy(() => import('./license.tsx').then(({ License }) => ({ default: License }))),
  branding: lazy(() => import('./branding.tsx').then(({ Branding }) => ({ default: Branding }))),
  backup: lazy(() => import('./backup/backup.tsx').then(({ Backup }) => ({ default: Backup }))),
  system: lazy(() => import('./system.tsx').then(({ System }) => ({ default: System }))),
  webhooks: lazy(() => import('./webhooks.tsx').then(({ Webhooks }) => ({ default: Webhooks }))),
  keys: lazy(() => import('./keys.tsx').then(({ Keys }) => ({ default: Keys }))),
  members: lazy(() => import('./members.tsx').then(({ Members }) => ({ default: Members }))),
  audit: lazy(() => import('./audit.tsx').then(({ Audit }) => ({ default: Audit }))),
  account: lazy(() => import('./account.tsx').then(({ Account }) => ({ default: Account }))),
} satisfies Record<string, ComponentType>
type Name = keyof typeof SECTIONS
const NAMES = Object.keys(SECTIONS) as Name[] // safe: the keys of a constant

function OnlyAdmin() {
  const text = useText(common).only_admin
  return (
    <Empty
      picture={<Lock size={24} strokeWidth={1.5} aria-hidden />}
      title={text.title}
      text={text.text}
    />
  )
}

/** The settings; each section has its own address. */
export function Settings() {
  const text = useText(settingsText)
  const [path, navigate] = useLocation()
  const named = path.split('/')[2]
  const isAdmin = useIsAdmin()
  const current = NAMES.find((name) => name === named)
  if (isAdmin === undefined) return <SkeletonRows />
  if (!current) return <Redirect to={isAdmin ? '/settings/models' : '/settings/account'} replace />
  // What only an admin may do is not offered; who has its address is told why.
  const names = isAdmin ? NAMES : NAMES.filter((name) => name === 'account' || name === current)
  const Shown = isAdmin || current === 'account' ? SECTIONS[current] : OnlyAdmin
  return (
    <Page
      title={text.title}
      bar={
        <Select
          aria-label={text.sections}
          className="mb-3 w-full md:hidden"
          value={current}
          onChange={(event) => navigate(`/settings/${event.target.value}`)}
          options={names.map((name) => ({ value: name, label: text.names[name] }))}
        />
      }
    >
      <div className="flex h-full min-h-0">
        <nav
          aria-label={text.sections}
          className="hidden w-52 shrink-0 flex-col gap-0.5 overflow-y-auto border-r border-line p-3 md:flex"
        >
          {names.map((name) => (
            <Link
              key={name}
              href={`/settings/${name}`}
              aria-current={name === current ? 'page' : undefined}
              className={cn(
                'flex min-h-8 shrink-0 items-center rounded-control px-2 py-1 font-medium',
                name === current ? 'bg-hover text-fg' : 'text-muted hover:bg-hover hover:text-fg',
              )}
            >
              {text.names[name]}
            </Link>
          ))}
        </nav>
        <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
          <Suspense fallback={<SkeletonRows />}>
            <Shown />
          </Suspense>
        </div>
      </div>
    </Page>
  )
}
