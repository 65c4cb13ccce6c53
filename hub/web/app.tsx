import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { loadPart } from '../../web/shared/connection.ts'
import { ErrorBoundary, FailedQuery, hasFailed } from '../../web/shared/errors.tsx'
import { useText } from '../../web/ui/language.ts'
import { SkeletonRows } from '../../web/ui/states.tsx'
import { Toaster } from '../../web/ui/toast.tsx'
import { WordsProvider } from '../../web/ui/words.tsx'
import { BASE, firstOf, healthQuery, projectsQuery } from './api/queries.ts'
import { common } from './common.text.ts'
import { useBranding } from './look.ts'
import { Join } from './pages/join.tsx'
import { Login, SignInAgain } from './pages/login.tsx'
import { firstPage } from './pages.tsx'
import { Reconnect } from './shell/reconnect.tsx'
import { Shell } from './shell/shell.tsx'

/** Whoever comes back needs no wizard. */
const Welcome = lazy(() =>
  loadPart(() =>
    import('./pages/welcome/welcome.tsx').then(({ Welcome }) => ({ default: Welcome })),
  ),
)

/** The whole interface: set-up and sign-in first, then the pages in their shell. */
export function App() {
  const { failed } = useText(common)
  return (
    <WordsProvider failed={failed}>
      <Router base={BASE}>
        <ErrorBoundary>
          <Reconnect />
          <SignInAgain />
          <Suspense fallback={<SkeletonRows />}>
            <Pages />
          </Suspense>
        </ErrorBoundary>
      </Router>
      <Toaster />
    </WordsProvider>
  )
}

function Pages() {
  const health = useQuery(healthQuery)
  const [path] = useLocation()
  useBranding()
  if (health.isPending) return null
  if (hasFailed(health))
    return <FailedQuery error={health.error} onRetry={() => health.refetch()} />
  if (!health.data.set_up && !/^\/(welcome|join)/.test(path))
    return <Redirect to="/welcome" replace />
  return (
    <Switch>
      <Route path="/login" component={Login} />
      <Route path="/join" component={Join} />
      <Route path="/welcome/:step?">{({ step }) => <Welcome step={step} />}</Route>
      <Route path="/">
        <Home />
      </Route>
      <Route path="/p/:slug/*?">{({ slug }) => <Shell slug={slug} />}</Route>
      <Route>
        <Shell />
      </Route>
    </Switch>
  )
}

/** The active project's first page, or the wizard if there is no project. */
function Home() {
  const projects = useQuery(projectsQuery)
  if (projects.isPending) return null
  if (hasFailed(projects)) {
    return <FailedQuery error={projects.error} onRetry={() => projects.refetch()} />
  }
  const project = firstOf(projects.data)
  return <Redirect to={project ? firstPage(project.slug) : '/welcome'} replace />
}
