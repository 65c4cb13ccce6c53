import { useQuery } from '@tanstack/react-query'
import { Compass, TriangleAlert } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { onRaised, useLive } from '../api/live.ts'
import { healthQuery } from '../api/queries.ts'
import { useSession } from '../api/session.ts'
import { SeverityMark } from '../event/severity.tsx'
import { isBlind } from '../shared/blind.ts'
import { loadPart, useConnection } from '../shared/connection.ts'
import { StaleNotice } from '../shared/stale.tsx'
import { buttonClass } from '../ui/button.tsx'
import { cn } from '../ui/class-names.ts'
import { useKeys } from '../ui/keys.ts'
import { useText } from '../ui/language.ts'
import { Empty, SkeletonRows } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { AccountMenu } from './account-menu.tsx'
import { KeysDialog } from './keys-dialog.tsx'
import { notice } from './notices.ts'
import { PAGES } from './pages.ts'
import { shellText } from './shell.text.ts'

const MapPage = lazy(() =>
  loadPart(() => import('../pages/map/map-page.tsx').then(({ MapPage }) => ({ default: MapPage }))),
)
const AlertsPage = lazy(() =>
  loadPart(() =>
    import('../pages/alerts/alerts.tsx').then(({ AlertsPage }) => ({ default: AlertsPage })),
  ),
)
const ZonesPage = lazy(() =>
  loadPart(() =>
    import('../pages/zones/zones.tsx').then(({ ZonesPage }) => ({ default: ZonesPage })),
  ),
)
const ChannelsPage = lazy(() =>
  loadPart(() =>
    import('../pages/channels/channels.tsx').then(({ ChannelsPage }) => ({
      default: ChannelsPage,
    })),
  ),
)
const AccountPage = lazy(() =>
  loadPart(() =>
    import('../pages/account/account.tsx').then(({ AccountPage }) => ({ default: AccountPage })),
  ),
)
const InvitePage = lazy(() =>
  loadPart(() =>
    import('../pages/account/invite.tsx').then(({ InvitePage }) => ({ default: InvitePage })),
  ),
)
const ReportsPage = lazy(() =>
  loadPart(() =>
    import('../pages/reports/reports.tsx').then(({ ReportsPage }) => ({ default: ReportsPage })),
  ),
)
const EvidencePage = lazy(() =>
  loadPart(() =>
    import('../pages/evidence/evidence.tsx').then(({ EvidencePage }) => ({
      default: EvidencePage,
    })),
  ),
)
const AWAY_MS = 3000

/** The navigation, the banners and the page. */
export function Shell() {
  const text = useText(shellText)
  const [, navigate] = useLocation()
  const [hasKeys, setHasKeys] = useState(false)
  useLive(useSession() !== null)
  useToasts()
  useKeys({
    '?': () => setHasKeys(true),
    'g u': () => navigate('/account'),
    ...Object.fromEntries(PAGES.map(({ key, path }) => [`g ${key}`, () => navigate(path)])),
  })
  return (
    <div className="flex h-dvh flex-col-reverse md:flex-row print:block print:h-auto">
      <button
        type="button"
        // Not a link: the address after # is the page's own.
        onClick={() => document.getElementById('page')?.focus()}
        className="sr-only z-50 focus:not-sr-only focus:absolute focus:m-2 focus:rounded-control focus:bg-raised focus:p-2"
      >
        {text.skip_to_page}
      </button>
      <Navigation onKeys={() => setHasKeys(true)} />
      <main id="page" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
        <Banners />
        <StaleNotice />
        <Suspense fallback={<SkeletonRows />}>
          <Switch>
            <Route path="/" component={MapPage} />
            <Route path="/alerts/:id/evidence">{({ id }) => <EvidencePage id={id} />}</Route>
            <Route path="/alerts/:id?">{({ id }) => <AlertsPage id={id} />}</Route>
            <Route path="/zones/:id?">{({ id }) => <ZonesPage id={id} />}</Route>
            <Route path="/channels/:id?/:kind?">
              {({ id, kind }) => <ChannelsPage id={id} kind={kind} />}
            </Route>
            <Route path="/account/:tab?/:id?">
              {({ tab, id }) => <AccountPage tab={tab} id={id} />}
            </Route>
            <Route path="/reports/:tab?">{({ tab }) => <ReportsPage tab={tab} />}</Route>
            <Route path="/invite/:token">{({ token }) => <InvitePage token={token} />}</Route>
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </main>
      <KeysDialog isOpen={hasKeys} onClose={() => setHasKeys(false)} />
    </div>
  )
}

/** At the left of a wide page, at the bottom of a phone. */
function Navigation({ onKeys }: { onKeys: () => void }) {
  const text = useText(shellText)
  const [path] = useLocation()
  return (
    <nav
      aria-label={text.navigation}
      className="z-10 flex shrink-0 items-center gap-1 border-line print:hidden bg-surface p-1.5 max-md:justify-around max-md:border-t max-md:pb-[max(6px,env(safe-area-inset-bottom))] md:w-[4.5rem] md:flex-col md:border-r"
    >
      {PAGES.map(({ name, path: to, icon: Icon }) => {
        const isHere = to === '/' ? path === '/' : path.startsWith(to)
        return (
          <Link
            key={name}
            href={to}
            aria-current={isHere ? 'page' : undefined}
            className={cn(
              'flex min-w-0 flex-col items-center gap-0.5 rounded-control px-1 py-1.5 text-xs font-medium max-md:flex-1 md:w-16',
              isHere ? 'bg-selected text-fg' : 'text-muted hover:bg-hover hover:text-fg',
            )}
          >
            <Icon size={20} strokeWidth={1.75} aria-hidden />
            {text.pages[name]}
          </Link>
        )
      })}
      <div className="max-md:flex-1 md:mt-auto">
        <AccountMenu onKeys={onKeys} />
      </div>
    </nav>
  )
}

/** What makes the page less than current: the service away, sources without data, a wrong clock. */
function Banners() {
  const text = useText(shellText)
  const isLost = useConnection() === 'lost'
  // Whatever waits for the service goes on as soon as one answer says that it is back.
  const health = useQuery(isLost ? { ...healthQuery, refetchInterval: AWAY_MS } : healthQuery)
  const blind = (health.data?.sources ?? []).filter(isBlind)
  const off_minutes = health.data
    ? Math.round((health.dataUpdatedAt - Date.parse(health.data.generated_at)) / 60_000)
    : 0
  const lines = [
    isLost ? text.lost : undefined,
    !isLost && blind.length > 0
      ? text.blind(blind.map(({ title }) => title).join(', '))
      : undefined,
    Math.abs(off_minutes) >= 2 ? text.clock(Math.abs(off_minutes)) : undefined,
  ].filter((line) => line !== undefined)
  return lines.map((line) => (
    <p
      key={line}
      role="status"
      className="flex items-center gap-2 border-b border-line bg-surface px-4 py-1.5 text-sm"
    >
      <TriangleAlert size={14} className="shrink-0 text-warn" aria-hidden />
      <span>{line}</span>
    </p>
  ))
}

/** Says each alert that is raised while the console is open. */
function useToasts(): void {
  const text = useText(shellText)
  const [, navigate] = useLocation()
  useEffect(
    () =>
      onRaised((alerts) => {
        const [worst] = alerts.toSorted((one, two) => two.severity - one.severity)
        if (!worst) return
        const { id, zone_name, event, severity } = worst
        const one = text.raised(zone_name, event.title)
        const isOne = alerts.length === 1
        const said = isOne ? one : text.raised_many(alerts.length, one)
        const show = () => navigate(isOne ? `/alerts/${id}` : '/alerts')
        toast(said, {
          topic: 'raised',
          mark: <SeverityMark severity={severity} />,
          action: { label: text.show, onClick: show },
        })
        notice(said, { tag: id, onOpen: show })
      }),
    [text, navigate],
  )
}

function NotFound() {
  const text = useText(shellText)
  return (
    <Empty
      picture={<Compass size={24} strokeWidth={1.5} aria-hidden />}
      title={text.not_found}
      text={text.not_found_text}
      action={
        <Link href="/" className={buttonClass()}>
          {text.to_map}
        </Link>
      }
    />
  )
}
