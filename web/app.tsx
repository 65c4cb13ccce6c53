import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Router, useLocation } from 'wouter'

import { connectTo } from './api/client.ts'
import { refusalsText } from './api/refusals.text.ts'
import { openSession, useHasHolder, useSession } from './api/session.ts'
import { readSettings } from './api/settings.ts'
import { common } from './common.text.ts'
import { signInText } from './pages/sign-in/sign-in.text.ts'
import { SignInPage } from './pages/sign-in/sign-in.tsx'
import { loadPart } from './shared/connection.ts'
import { ErrorBoundary, FailedQuery, hasFailed } from './shared/errors.tsx'
import { usePlace } from './shell/hash-location.ts'
import { Shell } from './shell/shell.tsx'
import { useText } from './ui/language.ts'
import { Layer } from './ui/layer.tsx'
import { Toaster } from './ui/toast.tsx'
import { WordsProvider } from './ui/words.tsx'

const CheckPage = lazy(() =>
  loadPart(() =>
    import('./pages/evidence/check.tsx').then(({ CheckPage }) => ({ default: CheckPage })),
  ),
)

/** The whole console: the sign-in, or the pages in their shell. */
export function App() {
  const { failed } = useText(common)
  const refusal = useText(refusalsText)
  return (
    <WordsProvider failed={{ ...failed, refusal }}>
      <Router hook={usePlace}>
        <ErrorBoundary>
          <Suspense>
            <Opening />
          </Suspense>
        </ErrorBoundary>
      </Router>
      <Toaster />
    </WordsProvider>
  )
}

/** Asks the service where people sign in; then there is a session, or there is none. */
function Opening() {
  const opening = useQuery({
    queryKey: ['opening'],
    queryFn: async () => {
      const settings = await readSettings()
      if (settings.api_url) connectTo(settings.api_url)
      await openSession(settings)
      return settings
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (opening.isPending) return null
  if (hasFailed(opening)) {
    return <FailedQuery error={opening.error} onRetry={() => opening.refetch()} />
  }
  return <Signed />
}

function Signed() {
  const [path] = useLocation()
  const { title } = useText(signInText)
  const session = useSession()
  const hasHolder = useHasHolder()
  // Whoever is handed a record need not have an account.
  if (path === '/evidence') return <CheckPage />
  if (!hasHolder) return <SignInPage />
  return (
    <>
      <Shell />
      {/* What was typed is there after another sign-in. */}
      <Layer
        isOpen={session === null}
        onClose={() => {}}
        label={title}
        className="m-0 h-dvh max-h-none w-dvw max-w-none bg-ink text-fg outline-none"
      >
        <SignInPage isAbove />
      </Layer>
    </>
  )
}
