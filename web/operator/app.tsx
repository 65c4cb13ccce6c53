import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Activity, LogOut, Radio, Rows3, ScrollText, TriangleAlert, Users } from 'lucide-react'
import { type ComponentType, useEffect, useState } from 'react'
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter'
import type { OperatorSession } from '../../shared/schemas/operator.ts'
import type { Language } from '../../shared/words/texts.ts'
import { refusalsText } from '../api/refusals.text.ts'
import { onConnection, useConnection } from '../shared/connection.ts'
import { ErrorBoundary, errorMessage } from '../shared/errors.tsx'
import { ProblemError } from '../shared/problem.ts'
import { StaleNotice } from '../shared/stale.tsx'
import { usePlace } from '../shell/hash-location.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { cn } from '../ui/class-names.ts'
import { Field, Input } from '../ui/field.tsx'
import { Notice } from '../ui/form.tsx'
import { useKeys } from '../ui/keys.ts'
import { LANGUAGE_NAMES, setLanguage, useLanguage, useText } from '../ui/language.ts'
import { Menu } from '../ui/menu.tsx'
import { setTheme, type Theme, useTheme } from '../ui/theme.ts'
import { Toaster } from '../ui/toast.tsx'
import { useWords, WordsProvider } from '../ui/words.tsx'
import { get, signIn, signOut, useSignedIn } from './api.ts'
import { operatorText } from './operator.text.ts'
import { AccountsPage } from './pages/accounts.tsx'
import { ActsPage } from './pages/acts.tsx'
import { FeedsPage } from './pages/feeds.tsx'
import { HealthPage } from './pages/health.tsx'
import { JobsPage } from './pages/jobs.tsx'
import { QueuesPage } from './pages/queues.tsx'

/** The pages in the order of the navigation, each with the key after `g` that opens it. */
const PAGES = [
  { name: 'health', path: '/', icon: Activity, key: 'h', page: HealthPage },
  { name: 'feeds', path: '/feeds', icon: Radio, key: 'f', page: FeedsPage },
  { name: 'queues', path: '/queues', icon: Rows3, key: 'q', page: QueuesPage },
  { name: 'jobs', path: '/jobs', icon: TriangleAlert, key: 'd', page: JobsPage },
  { name: 'accounts', path: '/accounts/:id?', icon: Users, key: 'a', page: AccountsPage },
  { name: 'acts', path: '/acts', icon: ScrollText, key: 'u', page: ActsPage },
] as const

const TOKEN = /^#([\w-]{43})$/
const tokenOf = (text: string) => text.match(TOKEN)?.[1] ?? text.match(/#([\w-]{43})$/)?.[1]

/** Taken out of the address at once, so that the history does not keep it. */
const given = tokenOf(location.hash)
if (given) history.replaceState(null, '', '#/')

/** The operator page: the sign-in, or the pages with their navigation. */
export function App() {
  const { failed } = useText(operatorText)
  const refusal = useText(refusalsText)
  const isSignedIn = useSignedIn()
  const [token, setToken] = useState(given)
  const client = useQueryClient()
  // Nothing of one operator is left for the next.
  useEffect(() => {
    if (!isSignedIn) client.clear()
  }, [isSignedIn, client])
  return (
    <WordsProvider failed={{ ...failed, refusal }}>
      <Router hook={usePlace}>
        <ErrorBoundary>
          {isSignedIn && !token ? (
            <Pages />
          ) : (
            <SignIn token={token} onDone={() => setToken(undefined)} />
          )}
        </ErrorBoundary>
      </Router>
      <Toaster />
    </WordsProvider>
  )
}

/** Not by itself: a program that opens links must not use one up. */
function SignIn({ token, onDone }: { token: string | undefined; onDone: () => void }) {
  const text = useText(operatorText)
  const words = useWords()
  const client = useQueryClient()
  const [pasted, setPasted] = useState('')
  const [failure, setFailure] = useState<string>()
  const [isPending, setPending] = useState(false)
  const submit = async () => {
    const used = token ?? tokenOf(pasted.trim())
    if (!used) return setFailure(text.no_link)
    setPending(true)
    try {
      await signIn(used)
      client.clear()
      onDone()
    } catch (error) {
      const isUsed = error instanceof ProblemError && error.problem.code === 'unauthenticated'
      setFailure(isUsed ? text.link_used : errorMessage(error, words))
      setPending(false)
      onDone()
    }
  }
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-5 p-6">
      <h1 className="text-xl">{text.sign_in_title}</h1>
      <p className="text-pretty text-muted">{text.sign_in_text}</p>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending) void submit()
        }}
      >
        {token ? null : (
          <Field label={text.link} hint={<code>npm run admin -- operator link</code>}>
            <Input
              spellCheck={false}
              value={pasted}
              onChange={({ target }) => setPasted(target.value)}
            />
          </Field>
        )}
        {failure ? <Notice tone="bad" text={failure} /> : null}
        <Button type="submit" variant="primary" isPending={isPending}>
          {text.sign_in}
        </Button>
      </form>
    </main>
  )
}

function Pages() {
  const text = useText(operatorText)
  const [, navigate] = useLocation()
  useKeys(
    Object.fromEntries(PAGES.map(({ key, path }) => [`g ${key}`, () => navigate(linkOf(path))])),
  )
  return (
    <div className="flex h-dvh flex-col-reverse md:flex-row">
      <button
        type="button"
        onClick={() => document.getElementById('page')?.focus()}
        className="sr-only z-50 focus:not-sr-only focus:absolute focus:m-2 focus:rounded-control focus:bg-raised focus:p-2"
      >
        {text.skip}
      </button>
      <Navigation />
      <main
        id="page"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
        tabIndex={0}
        className="min-h-0 min-w-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        <Lost />
        <StaleNotice />
        <Switch>
          {PAGES.map(({ name, path, page }) => (
            <Route key={name} path={path}>
              {(params) => <Framed name={name} page={page} id={idIn(params)} />}
            </Route>
          ))}
          <Route>
            <Redirect to="/" />
          </Route>
        </Switch>
      </main>
    </div>
  )
}

const linkOf = (path: string) => path.replace('/:id?', '')
const idIn = (params: object) => ('id' in params ? (params.id as string | undefined) : undefined) // safe: wouter's are texts

function Framed({
  name,
  page: Page,
  id,
}: {
  name: (typeof PAGES)[number]['name']
  page: ComponentType<{ id: string | undefined }>
  id: string | undefined
}) {
  const text = useText(operatorText)
  useEffect(() => {
    document.title = `${text.pages[name]} · ${text.title}`
  }, [text, name])
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-5 p-4 md:p-6">
      <div className="flex items-center justify-between gap-3">
        <h1 className="text-xl">{text.pages[name]}</h1>
        <div className="min-w-0 max-w-1/2 md:hidden">
          <Who />
        </div>
      </div>
      <Page id={id} />
    </div>
  )
}

/** What is shown may be old while the service does not answer. */
function Lost() {
  const text = useText(operatorText)
  const client = useQueryClient()
  const state = useConnection()
  useEffect(() => onConnection(() => void client.invalidateQueries()), [client])
  if (state === 'ok') return null
  return (
    <p role="status" className="bg-warn/10 px-4 py-2 text-sm text-warn">
      {text.lost}
    </p>
  )
}

/** At the left of a wide page, at the bottom of a phone. */
function Navigation() {
  const text = useText(operatorText)
  const [path] = useLocation()
  return (
    <nav
      aria-label={text.navigation}
      className="z-10 flex shrink-0 items-center gap-1 border-line bg-surface p-1.5 max-md:border-t max-md:pb-[max(6px,env(safe-area-inset-bottom))] md:w-48 md:flex-col md:items-stretch md:border-r md:p-3"
    >
      <p className="px-2 pb-3 font-medium max-md:hidden">{text.title}</p>
      <div className="flex min-w-0 items-center md:gap-1 max-md:flex-1 max-md:overflow-x-auto md:flex-col md:items-stretch">
        {PAGES.map(({ name, path: pattern, icon: Icon }) => {
          const to = linkOf(pattern)
          const isHere = to === '/' ? path === '/' : path.startsWith(to)
          return (
            <Link
              key={name}
              href={to}
              aria-current={isHere ? 'page' : undefined}
              className={cn(
                'flex items-center rounded-control font-medium max-md:flex-1 max-md:shrink-0 max-md:flex-col max-md:gap-0.5 max-md:px-1 max-md:py-1.5 max-md:text-xs md:gap-2.5 md:px-2 md:py-1.5',
                isHere ? 'bg-selected text-fg' : 'text-muted hover:bg-hover hover:text-fg',
              )}
            >
              <Icon size={18} strokeWidth={1.75} aria-hidden />
              <span className="whitespace-nowrap">{text.short_pages[name]}</span>
            </Link>
          )
        })}
      </div>
      <div className="mt-auto max-md:hidden">
        <Who />
      </div>
    </nav>
  )
}

function Who() {
  const text = useText(operatorText)
  const language = useLanguage()
  const theme = useTheme()
  const { data } = useQuery({
    queryKey: ['session'],
    queryFn: () => get<OperatorSession>('session'),
  })
  const languages = Object.entries(LANGUAGE_NAMES) as [Language, string][] // safe: its keys
  const themes: Theme[] = ['system', 'dark', 'light']
  return (
    <div className="flex items-center gap-1">
      <Menu
        align="end"
        items={[
          ...languages.map(([value, label]) => ({
            label,
            isChecked: value === language,
            onSelect: () => setLanguage(value),
          })),
          { kind: 'line' as const },
          ...themes.map((value) => ({
            label: text.themes[value],
            isChecked: value === theme,
            onSelect: () => setTheme(value),
          })),
        ]}
        trigger={
          <button
            type="button"
            className="min-w-0 flex-1 truncate rounded-control px-2 py-1.5 text-left text-sm text-muted hover:bg-hover hover:text-fg"
          >
            <code className="font-sans">{data?.operator ?? '…'}</code>
          </button>
        }
      />
      <IconButton label={text.sign_out} onClick={() => void signOut()}>
        <LogOut size={16} aria-hidden />
      </IconButton>
    </div>
  )
}
